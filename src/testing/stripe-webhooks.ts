import { createHmac, timingSafeEqual } from 'node:crypto';

/** The default maximum age of a signature in seconds. */
const TOLERANCE_S = 300;

/**
 * Verifies a `t=…,v1=…` signature as Stripe documents it for receivers without a library. Shares no
 * code with the signer. (`bench/clients` runs Stripe's own 23 MB library on the same messages.)
 * @throws Error if no signature matches the body, or if the timestamp is too old
 */
export function constructEvent(
  body: string | Buffer,
  header: string | readonly string[] | undefined,
  secret: string,
  toleranceS = TOLERANCE_S,
): { readonly id: string; readonly type: string } {
  const parts = String(header)
    .split(',')
    .map((part) => part.split('='));
  const valuesOf = (name: string) =>
    parts.flatMap(([key, value = '']) => (key === name ? [value] : []));
  const [time = ''] = valuesOf('t');
  const expected = createHmac('sha256', secret).update(`${time}.${body}`).digest();
  const isSigned = valuesOf('v1').some((hex) => {
    const given = Buffer.from(hex, 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isSigned) throw new Error('no signature is of this body');
  if (Date.now() / 1000 - Number(time) > toleranceS) throw new Error('the signature is too old');
  return JSON.parse(body.toString());
}
