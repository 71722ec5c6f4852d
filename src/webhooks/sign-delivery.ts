import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

/** The prefix of signing secrets, as Standard Webhooks defines it. */
const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Creates a signing secret: the prefix and base64 of 32 random bytes. It is shown once. */
export function newSigningSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** A secret with its two keys, created once instead of per delivery. */
export interface SigningKey {
  /** The key for `Service-Signature`: the whole text in UTF-8. */
  readonly text: KeyObject;
  /** The key for Standard Webhooks: the bytes after the prefix. */
  readonly bytes: KeyObject;
}

export function signingKey(secret: string): SigningKey {
  return {
    text: createSecretKey(secret, 'utf8'),
    bytes: createSecretKey(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')),
  };
}

export interface Signatures {
  /** The `Service-Signature` header, `t=<seconds>,v1=<hex>` (behavior.md 11.3). */
  readonly service: string;
  /** `v1,<base64>`: Standard Webhooks. */
  readonly standard: string;
}

/**
 * For a day after a rotation there are two keys, and so two `v1` signatures in each form: a
 * receiver with either secret accepts the event.
 */
export function sign(
  message: { readonly eventId: string; readonly seconds: number; readonly body: Buffer },
  keys: readonly SigningKey[],
): Signatures {
  const { eventId, seconds, body } = message;
  const service = keys.map(
    ({ text }) =>
      `v1=${createHmac('sha256', text).update(`${seconds}.`).update(body).digest('hex')}`,
  );
  const standard = keys.map(({ bytes }) => {
    const hmac = createHmac('sha256', bytes).update(`${eventId}.${seconds}.`).update(body);
    return `v1,${hmac.digest('base64')}`;
  });
  return { service: `t=${seconds},${service.join(',')}`, standard: standard.join(' ') };
}
