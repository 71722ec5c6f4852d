import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

/** What receivers see of a signing secret, and how Standard Webhooks spells it. */
const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** A new signing secret: the prefix and base64 of 32 random bytes. Shown once. */
export function newSigningSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** A secret ready for use: its two keys, made once and not per delivery. */
export interface SigningKey {
  /** The whole text as UTF-8: for `Service-Signature`. */
  readonly text: KeyObject;
  /** The bytes behind the prefix: for Standard Webhooks. */
  readonly bytes: KeyObject;
}

export function signingKey(secret: string): SigningKey {
  return {
    text: createSecretKey(secret, 'utf8'),
    bytes: createSecretKey(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')),
  };
}

export interface Signatures {
  /** `t=<seconds>,v1=<hex>`: behavior.md 11.3. */
  readonly service: string;
  /** `v1,<base64>`: Standard Webhooks. */
  readonly standard: string;
}

/**
 * Signs one attempt. After a rotation there are two keys for a day, and so two `v1` of each form:
 * a receiver that knows either secret accepts.
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
