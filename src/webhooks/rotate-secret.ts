import { type Refusal, resourceMissing } from '#core/answer.ts';
import { only } from '#core/assert.ts';
import { encrypt } from '#core/bearer-secrets.ts';
import { addMs } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import type { Tenant } from '#core/mode.ts';
import { Abandon } from '#db/database.ts';
import type { RevealedEndpoint } from '#webhooks/create-endpoint.ts';
import { lockEndpoint, replaceSecret } from '#webhooks/endpoint-queries.ts';
import type { EndpointRow, NoteChange, WebhookDeps } from '#webhooks/endpoint-rules.ts';
import { newSigningSecret } from '#webhooks/sign-delivery.ts';

/** The time for which the previous secret also signs (behavior.md 11.3). */
const OVERLAP_MS = DAY_MS;

/** For a day, deliveries carry both signatures; a second rotation drops the oldest secret. */
export async function rotateSecret(
  ctx: WebhookDeps,
  tenant: Tenant,
  id: string,
  now: Date,
  note?: NoteChange<EndpointRow>,
): Promise<RevealedEndpoint | Refusal> {
  const secret = newSigningSecret();
  const rotated = await ctx.db.transaction(async (tx) => {
    if ((await lockEndpoint(tx, tenant, id)) === undefined) {
      return new Abandon<RevealedEndpoint | Refusal>(resourceMissing('webhook endpoint'));
    }
    const rows = await replaceSecret(tx, {
      id,
      secret: encrypt(ctx.keys.webhook, secret, id),
      previous_secret_until: addMs(now, OVERLAP_MS),
      updated: now,
    });
    const endpoint = only(rows, 'webhook endpoint');
    await note?.(tx, endpoint);
    return { endpoint, secret };
  });
  ctx.wakeups.send('webhook-endpoints');
  return rotated;
}
