import { type Refusal, refuse } from '#core/answer.ts';
import { canonicalJson, type Json } from '#core/canonical-json.ts';
import type { Tenant } from '#core/mode.ts';
import { sha256 } from '#core/sha256.ts';
import { tenantKey } from '#db/commit-order.ts';

export interface IdempotentRequest {
  readonly tenant: Tenant;
  /** The empty string for the merchant API; otherwise the terminal or payer that owns the key. */
  readonly caller: string;
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly fingerprint: Buffer;
  /** Root URL of the links in errors: stored responses contain the links that were sent. */
  readonly docsUrl: string;
}

/** Returns a map key: the owner and the Idempotency-Key. */
export function keyOf(request: IdempotentRequest): string {
  return `${tenantKey(request.tenant)} ${request.caller} ${request.key}`;
}

/**
 * Computes a hash of method, path and the meaning of the body: key order and white space do not
 * matter.
 */
export function fingerprint(method: string, path: string, body: Json): Buffer {
  return sha256(`${method} ${path} ${canonicalJson(body)}`);
}

const KEY = /^[\x20-\x7e]{1,255}$/;

/** 1 to 255 printable ASCII characters. */
export function checkKey(key: string): Refusal | null {
  if (KEY.test(key)) return null;
  return refuse(
    'idempotency_key_invalid',
    'Idempotency-Key must be 1 to 255 printable ASCII characters; a UUID is a good choice.',
  );
}
