import { plainText } from './typed-sum.ts';

const ROUNDS = 210_000;
export const SHORTEST_PIN = 4;

export interface SealedPin {
  readonly salt: string;
  readonly hash: string;
}

function hex(bytes: ArrayBuffer | Uint8Array): string {
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function hashPin(pin: string, salt: string): Promise<string> {
  const text = new TextEncoder();
  const key = await crypto.subtle.importKey('raw', text.encode(plainText(pin)), 'PBKDF2', false, [
    'deriveBits',
  ]);
  const how = { name: 'PBKDF2', hash: 'SHA-256', salt: text.encode(salt), iterations: ROUNDS };
  return hex(await crypto.subtle.deriveBits(how, key, 256));
}

/** Hashes a PIN. It locks an unattended screen and protects no secret. */
export async function sealPin(pin: string): Promise<SealedPin> {
  const salt = hex(crypto.getRandomValues(new Uint8Array(16)));
  return { salt, hash: await hashPin(pin, salt) };
}

export async function isPin(pin: string, sealed: SealedPin): Promise<boolean> {
  return (await hashPin(pin, sealed.salt)) === sealed.hash;
}
