import { fromBase32 } from '../data/base32.ts';

/** Codes that change every 30 seconds (RFC 6238), computed in the browser. */

export const STEP_MS = 30_000;
const DIGITS = 8;

/** Returns the code for the 30-second step that contains `ms`. */
export async function codeAt(key: string, ms: number): Promise<string> {
  const counter = new DataView(new ArrayBuffer(8));
  counter.setBigUint64(0, BigInt(Math.floor(ms / STEP_MS)));
  const hmac = { name: 'HMAC', hash: 'SHA-1' };
  const secret = await crypto.subtle.importKey('raw', fromBase32(key), hmac, false, ['sign']);
  const mac = new DataView(await crypto.subtle.sign('HMAC', secret, counter));
  const number = mac.getUint32(mac.getUint8(mac.byteLength - 1) & 0x0f) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}
