import { TaplineError } from './base-error.ts';
import type { WebhookEvent } from './types.ts';

export type { EventType, WebhookEvent } from './types.ts';
export { TaplineError };

/** The message is not from the service, or is too old. Respond with 400 and do nothing. */
export class WebhookVerificationError extends TaplineError {}

/** `Headers`, or the `headers` of a Node request. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

export interface VerifyOptions {
  /** The maximum age of a message in seconds. @default 300 */
  readonly tolerance?: number;
  /** The current Unix time in seconds, for tests. */
  readonly now?: number;
}

const encoder = /* @__PURE__ */ new TextEncoder();

function refused(why: string): WebhookVerificationError {
  return new WebhookVerificationError(`The ${why}.`);
}

/**
 * Verifies a webhook's signature and age and returns its event. Uses `Service-Signature` or,
 * without it, the Standard Webhooks headers.
 * @param rawBody The bytes as received, before any JSON parsing.
 * @param secret The endpoint's `whsec_…`, or several while you change endpoints. `undefined`, from
 * a missing setting, throws an error that names the cause.
 */
export async function verify(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | readonly string[] | undefined,
  { tolerance = 300, now = Date.now() / 1000 }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const body = bytesOf(rawBody);
  const { time, head, signatures, isStandard } = proofOf(headers);
  if (!(Math.abs(now - Number(time)) <= tolerance)) {
    throw refused('signature is too old, or the local clock is wrong');
  }
  const signed = signedBytes(head, body);
  for (const one of [secret ?? ''].flat() as string[]) {
    const key = await keptKey(one, isStandard);
    for (const signature of signatures) {
      // `verify` compares in constant time.
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) {
        return JSON.parse(new TextDecoder().decode(body));
      }
    }
  }
  throw refused('signature does not match: wrong secret or altered body');
}

/** Creates a `Service-Signature` as the service does, for tests of your receiver. */
export async function sign(
  rawBody: string | Uint8Array | ArrayBuffer,
  secret: string,
  timestamp: number = Math.floor(Date.now() / 1000),
): Promise<string> {
  const bytes = signedBytes(`${timestamp}.`, bytesOf(rawBody));
  const digest = await crypto.subtle.sign('HMAC', await keyOf(secret, false), bytes);
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0'));
  return `t=${timestamp},v1=${hex.join('')}`;
}

function bytesOf(body: unknown): Bytes {
  if (typeof body === 'string') return encoder.encode(body);
  if (body instanceof ArrayBuffer || body instanceof Uint8Array) return new Uint8Array(body);
  throw refused('body was already parsed: use express.raw()');
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const { get } = headers;
  const header =
    typeof get === 'function'
      ? get.call(headers, name)
      : Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1];
  return typeof header === 'string' ? header : '';
}

type Bytes = Uint8Array<ArrayBuffer>;

interface Proof {
  readonly time: string;
  /** The part of the signed text that precedes the body. */
  readonly head: string;
  readonly signatures: readonly Bytes[];
  /** True for Standard Webhooks, where the key is the decoded secret. */
  readonly isStandard: boolean;
}

function proofOf(headers: WebhookHeaders): Proof {
  const own = headerOf(headers, 'service-signature');
  const isStandard = own === '';
  const id = headerOf(headers, 'webhook-id');
  const standard = headerOf(headers, 'webhook-signature');
  if (isStandard && !(id && standard)) {
    throw refused('request has neither a Service-Signature nor webhook-… headers');
  }
  const parts = own.split(',').map((part) => part.trim().split('='));
  const valuesOf = (name: string) =>
    parts.flatMap(([one, text = '']) => (one === name ? text : []));
  // Two timestamps would make the header ambiguous.
  const [time = '', second] = isStandard ? [headerOf(headers, 'webhook-timestamp')] : valuesOf('t');
  const signatures = isStandard
    ? standard
        .split(' ')
        .flatMap((one) => (/^v1,[0-9A-Za-z+/]{43}=$/.test(one) ? fromBase64(one.slice(3)) : []))
    : valuesOf('v1').flatMap((hex) => (/^[0-9a-f]{64}$/.test(hex) ? fromHex(hex) : []));
  if (!/^\d+$/.test(time) || second !== undefined || signatures.length === 0) {
    throw refused(
      isStandard
        ? 'webhook-signature is not v1,… with a timestamp'
        : 'Service-Signature is not t=…,v1=…',
    );
  }
  return { time, head: isStandard ? `${id}.${time}.` : `${time}.`, signatures, isStandard };
}

function fromHex(hex: string): Bytes {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number(`0x${byte}`));
}

function fromBase64(text: string): Bytes {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** Bounds the cache, in case a program passes a new secret each time. */
const MOST_KEPT = 16;
const kept = /* @__PURE__ */ new Map<string, ReturnType<typeof keyOf>>();

/** Importing a key takes longer than using it, so each secret is imported once per form. */
function keptKey(secret: string, isStandard: boolean) {
  const name = `${isStandard} ${secret}`;
  const key = kept.get(name) ?? keyOf(secret, isStandard);
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(name, key);
  return key;
}

async function keyOf(secret: string, isStandard: boolean) {
  const bytes = isStandard ? decoded(secret) : encoder.encode(secret);
  // Anyone could sign with an empty key.
  if (bytes.length === 0) throw refused('secret is empty: it begins with whsec_');
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', bytes, hmac, false, ['sign', 'verify']);
}

function decoded(secret: string): Bytes {
  try {
    return fromBase64(secret.replace(/^whsec_/, ''));
  } catch {
    throw refused('secret is not whsec_ followed by base64');
  }
}

function signedBytes(before: string, body: Bytes): Bytes {
  return new Uint8Array([...encoder.encode(before), ...body]);
}
