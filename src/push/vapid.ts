import { createPrivateKey, sign } from 'node:crypto';
import { addSeconds } from '#core/clock.ts';

export interface VapidKeys {
  readonly privateKey: Buffer;
  readonly publicKey: Buffer;
  readonly subject: string;
}

/** Validity of the token, in seconds. Push services accept at most a day. */
const HOLDS_SECONDS = 3_600;
const COORDINATE_BYTES = 32;

function jsonPart(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/**
 * Returns the header that identifies the sender to a push service (RFC 8292): a signed token, and
 * the sender's key.
 */
export function vapidAuthorization(endpoint: URL, keys: VapidKeys, now: Date): string {
  const { privateKey, publicKey, subject } = keys;
  const key = createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      d: privateKey.toString('base64url'),
      x: publicKey.subarray(1, 1 + COORDINATE_BYTES).toString('base64url'),
      y: publicKey.subarray(1 + COORDINATE_BYTES).toString('base64url'),
    },
  });
  const exp = Math.floor(addSeconds(now, HOLDS_SECONDS).getTime() / 1000);
  const head = jsonPart({ typ: 'JWT', alg: 'ES256' });
  const signed = `${head}.${jsonPart({ aud: endpoint.origin, exp, sub: subject })}`;
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  const token = `${signed}.${signature.toString('base64url')}`;
  return `vapid t=${token}, k=${publicKey.toString('base64url')}`;
}
