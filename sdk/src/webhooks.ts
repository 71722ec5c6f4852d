import { TaplineError } from './error.ts';
import type { WebhookEvent } from './types.ts';

export type { EventType, WebhookEvent } from './types.ts';
export { TaplineError };

/** The message is not from the service, or too old. Answer 400 and do nothing. */
export class WebhookVerificationError extends TaplineError {}

/** `Headers`, or the `headers` of a Node request. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

export interface VerifyOptions {
  /** How many seconds a message may be old. @default 300 */
  readonly tolerance?: number;
  /** The time, in seconds since 1970: for tests. */
  readonly now?: number;
}

const TOLERANCE = 300;
const encoder = /* @__PURE__ */ new TextEncoder();

/**
 * The event of a webhook, once its signature and age are proved: by `Service-Signature`, or where
 * that is missing by the headers of Standard Webhooks.
 * @param rawBody the bytes as they came, before any JSON parsing
 * @param secret the endpoint's `whsec_…`; several while you change endpoints. `undefined` is what
 *   a forgotten setting gives: the message is refused, and the error says so
 */
export async function verify(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | readonly string[] | undefined,
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  const body = bytesOf(rawBody);
  const { timestamp, head, signatures, bytesOfSecret } = proofOf(headers);
  const now = options.now ?? Date.now() / 1000;
  if (!(Math.abs(now - Number(timestamp)) <= (options.tolerance ?? TOLERANCE))) {
    throw new WebhookVerificationError('The signature is too old, or this clock is wrong.');
  }
  const signed = signedBytes(head, body);
  for (const one of [secret ?? ''].flat() as string[]) {
    const key = await keptKey(one, bytesOfSecret);
    for (const signature of signatures) {
      // `verify` compares in constant time.
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) {
        return JSON.parse(new TextDecoder().decode(body));
      }
    }
  }
  throw new WebhookVerificationError(
    'The signature does not fit: another secret, or a changed body.',
  );
}

/** The `Service-Signature` of a message, as the service makes it: for tests of your receiver. */
export async function sign(
  rawBody: string | Uint8Array | ArrayBuffer,
  secret: string,
  timestamp: number = Math.floor(Date.now() / 1000),
): Promise<string> {
  const bytes = signedBytes(`${timestamp}.`, bytesOf(rawBody));
  const key = await keyOf(encoder.encode(secret));
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `t=${timestamp},v1=${hex}`;
}

function bytesOf(body: unknown): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return encoder.encode(body);
  if (body instanceof ArrayBuffer || body instanceof Uint8Array) return new Uint8Array(body);
  throw new WebhookVerificationError(
    'The body was parsed already. Give verify() the raw bytes: it parses them. In Express, use ' +
      "express.raw({type: 'application/json'}) for this path.",
  );
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const { get } = headers;
  const found =
    typeof get === 'function'
      ? get.call(headers, name)
      : Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : '';
}

type Bytes = Uint8Array<ArrayBuffer>;

interface Proof {
  readonly timestamp: string;
  /** What is signed before the body. */
  readonly head: string;
  readonly signatures: readonly Bytes[];
  readonly bytesOfSecret: (secret: string) => Bytes;
}

function proofOf(headers: WebhookHeaders): Proof {
  const header = headerOf(headers, 'service-signature');
  if (header !== '') return serviceProof(header);
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signature = headerOf(headers, 'webhook-signature');
  if (id && timestamp && signature) return standardProof(id, timestamp, signature);
  throw new WebhookVerificationError(
    'There is no Service-Signature header, nor the webhook-… headers (id, timestamp, signature).',
  );
}

function serviceProof(header: string): Proof {
  const parts = header.split(',').map((part) => part.trim().split('='));
  const timestamp = parts.find(([name]) => name === 't')?.[1] ?? '';
  const signatures = parts.flatMap(([name, hex = '']) =>
    name === 'v1' && /^[0-9a-f]{64}$/.test(hex)
      ? [Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))]
      : [],
  );
  if (!/^\d+$/.test(timestamp) || signatures.length === 0) {
    throw new WebhookVerificationError('The Service-Signature header is not t=…,v1=….');
  }
  const bytesOfSecret = (secret: string) => encoder.encode(secret);
  return { timestamp, head: `${timestamp}.`, signatures, bytesOfSecret };
}

function standardProof(id: string, timestamp: string, header: string): Proof {
  const signatures = header
    .split(' ')
    .filter((one) => /^v1,[0-9A-Za-z+/]{43}=$/.test(one))
    .map((one) => fromBase64(one.slice('v1,'.length)));
  if (!/^\d+$/.test(timestamp) || signatures.length === 0) {
    throw new WebhookVerificationError('The webhook-signature header is not v1,… with a time.');
  }
  return { timestamp, head: `${id}.${timestamp}.`, signatures, bytesOfSecret: decodedSecret };
}

function fromBase64(text: string): Bytes {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function decodedSecret(secret: string): Bytes {
  try {
    return fromBase64(secret.replace(/^whsec_/, ''));
  } catch {
    throw new WebhookVerificationError('The secret is not whsec_… in base64.');
  }
}

/** A program has few secrets; what is more, a new one each time, is not kept for ever. */
const MOST_KEPT = 16;
const kept = /* @__PURE__ */ new Map<string, ReturnType<typeof keyOf>>();

/** Making a key takes longer than using it, so that of a secret is made once for each form. */
function keptKey(secret: string, bytesOf: (secret: string) => Bytes) {
  const name = `${bytesOf === decodedSecret} ${secret}`;
  const known = kept.get(name) ?? keyOf(bytesOf(secret));
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(name, known);
  return known;
}

function keyOf(secret: Bytes) {
  if (secret.length === 0) {
    throw new WebhookVerificationError('The secret is empty: it begins with whsec_.');
  }
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', secret, hmac, false, ['sign', 'verify']);
}

function signedBytes(before: string, body: Bytes): Bytes {
  const head = encoder.encode(before);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}
