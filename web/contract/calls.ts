import { keccak_256 } from '@noble/hashes/sha3.js';
import { fromHex, type Hex, toHex } from '../wallet/bytes.ts';

/** Calls of the settlement contract as bytes, and answers as words. No library is loaded for it. */

const WORD = 64;

function hash(text: string): Hex {
  return toHex(keccak_256(new TextEncoder().encode(text)));
}

function word(value: Hex | bigint | number): string {
  const digits = typeof value === 'string' ? value.slice(2) : value.toString(16);
  return digits.toLowerCase().padStart(WORD, '0');
}

/** @param signature `lowerCeiling(uint24)`; all of its parameters are words. */
export function call(signature: string, ...args: readonly (Hex | bigint | number)[]): Hex {
  return `${hash(signature).slice(0, 10)}${args.map(word).join('')}` as Hex;
}

/** The first topic of an event. */
export const topic = hash;

export const ROLES = ['operator', 'registrar', 'guardian', 'watch', 'treasurer'] as const;

export function roleOf(name: (typeof ROLES)[number]): Hex {
  return hash(`${name.toUpperCase()}_ROLE`);
}

export function roleName(role: string): string {
  if (BigInt(role) === 0n) return 'admin';
  return ROLES.find((name) => roleOf(name) === role.toLowerCase()) ?? role;
}

/** Its first creation: the address is made of the contract's own, so nobody can name another. */
export function lensOf(settlement: string): Hex {
  const creation = fromHex(`0xd694${settlement.slice(2)}01`);
  return toHex(keccak_256(creation).slice(12));
}

export function wordsOf(answer: string): bigint[] {
  return (answer.slice(2).match(/.{64}/g) ?? []).map((one) => BigInt(`0x${one}`));
}

export function addressOf(value: bigint): Hex {
  return `0x${value.toString(16).padStart(40, '0')}`;
}
