import { createHash, createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Event, WebhookEvent } from 'tapline';
import { nodeFetch } from 'tapline/node-fetch';
import { sign } from 'tapline/webhooks';
import { WrongUse } from './wrong-use.ts';

/** Time limit of a delivery, the same as in the network. */
const TIMEOUT_MS = 10_000;
/** Number of attempts. Enough to outlast a restart of the receiver. */
const TRIES = 5;
const TRY_AGAIN_MS = 1_000;

/**
 * Returns the signing secret of `listen`. It is derived from the API key without revealing it, so
 * that it is the same on every machine and can be stored in a receiver's settings.
 */
export function listenSecret(apiKey: string): string {
  return `whsec_${createHmac('sha256', apiKey).update('tapline listen').digest('base64')}`;
}

export interface Forwarded {
  /** The receiver's status, or `null` if there was no response. */
  readonly status: number | null;
  readonly error: string | null;
  readonly duration_ms: number;
}

export function isDelivered({ status }: Forwarded): boolean {
  return status !== null && status >= 200 && status < 300;
}

export function checkReceiver(url: string): string {
  const port = /^\d+$/.test(url) ? `127.0.0.1:${url}` : url;
  const address = /^https?:\/\//.test(port) ? port : `http://${port}`;
  if (!URL.canParse(address) || url.includes(' ')) {
    throw new WrongUse(`${url} is not a URL: try http://127.0.0.1:3000/webhooks`);
  }
  return address;
}

/** Returns the same headers that the network sends with a delivery. */
export async function deliveryHeaders(
  event: Event | WebhookEvent,
  {
    body,
    secret,
    attempt,
    now = Math.floor(Date.now() / 1000),
  }: {
    readonly body: string;
    readonly secret: string;
    readonly attempt: number;
    /** The Unix time in seconds that is signed. */
    readonly now?: number;
  },
): Promise<Record<string, string>> {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const standard = createHmac('sha256', key).update(`${event.id}.${now}.${body}`).digest('base64');
  const digest = createHash('sha256').update(event.id).digest('hex');
  return {
    'Content-Type': 'application/json; charset=utf-8',
    'Service-Signature': await sign(body, secret, now),
    'Service-Event-Id': event.id,
    'Service-Event-Type': event.type,
    'Service-Delivery-Id': `wdl_local${digest.slice(0, 20)}`,
    'Service-Delivery-Attempt': String(attempt),
    'webhook-id': event.id,
    'webhook-timestamp': String(now),
    'webhook-signature': `v1,${standard}`,
  };
}

/** Sends one event to a receiver on this machine and retries while the connection is refused. */
export async function forward(
  event: Event | WebhookEvent,
  to: {
    readonly url: string;
    readonly secret: string;
    readonly tries?: number;
    readonly headers?: Readonly<Record<string, string>>;
  },
): Promise<Forwarded> {
  const { url, secret, tries = TRIES } = to;
  const body = JSON.stringify(event);
  const started = performance.now();
  for (let attempt = 1; ; attempt++) {
    try {
      const own = await deliveryHeaders(event, { body, secret, attempt });
      const headers = { ...to.headers, ...own };
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const redirect = 'manual';
      const response = await nodeFetch(url, { method: 'POST', headers, body, redirect, signal });
      await response.body?.cancel();
      const { status } = response;
      return { status, error: null, duration_ms: Math.round(performance.now() - started) };
    } catch (error) {
      if (attempt < tries) {
        await sleep(TRY_AGAIN_MS);
        continue;
      }
      const { message, cause } = error as Error & { cause?: { message?: string } };
      const duration_ms = Math.round(performance.now() - started);
      return { status: null, error: cause?.message ?? message, duration_ms };
    }
  }
}

export function wordsOf({ status, error, duration_ms }: Forwarded): string {
  return status === null ? `not delivered: ${error}` : `${status} (${duration_ms} ms)`;
}
