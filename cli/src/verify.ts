import { readFileSync } from 'node:fs';
import { verify, WebhookVerificationError } from 'tapline/webhooks';
import { listenSecret } from './forward-events.ts';
import { createOutput } from './output.ts';
import { findPlace, type GlobalOptions } from './settings.ts';

export interface VerifyOptions {
  readonly signature: string;
  readonly secret?: string;
  readonly body: string;
  readonly tolerance: string;
}

export async function verifyMessage(
  options: VerifyOptions,
  globals: GlobalOptions,
): Promise<number> {
  const out = createOutput(globals.json === true);
  const secret =
    options.secret ?? process.env.TAPLINE_WEBHOOK_SECRET ?? listenSecret(findPlace(globals).apiKey);
  const body = readFileSync(options.body === '-' ? 0 : options.body);
  const headers = { 'service-signature': options.signature };
  try {
    const tolerance = Number(options.tolerance);
    const event = await verify(body, headers, secret, { tolerance });
    out.show({ valid: true, event: event.id, type: event.type }, `Good: ${event.type} ${event.id}`);
    return 0;
  } catch (error) {
    if (!(error instanceof WebhookVerificationError || error instanceof SyntaxError)) throw error;
    out.show({ valid: false, reason: error.message }, `Invalid signature. ${error.message}`);
    return 1;
  }
}
