import { keccak_256 } from '@noble/hashes/sha3.js';
import { fromHex, type Hex, toHex } from './bytes.ts';

/**
 * This module encodes calls of the settlement contract, and splits responses into 32-byte words,
 * without an ABI library.
 */

const WORD = 64;

function hash(text: string): Hex {
  return toHex(keccak_256(new TextEncoder().encode(text)));
}

function word(value: Hex | bigint | number): string {
  const digits = typeof value === 'string' ? value.slice(2) : value.toString(16);
  return digits.toLowerCase().padStart(WORD, '0');
}

/** @param signature For example `lowerCeiling(uint24)`. Every parameter must be one word. */
export function call(signature: string, ...args: readonly (Hex | bigint | number)[]): Hex {
  return `${hash(signature).slice(0, 10)}${args.map(word).join('')}` as Hex;
}

/** Encodes a call whose only parameter is a list of words. */
export function callWithList(signature: string, items: readonly Hex[]): Hex {
  return call(signature, 32, items.length, ...items);
}

/** Returns topic 0 of the event with this signature. */
export const topic = hash;

export const ROLES = [
  'operator',
  'registrar',
  'guardian',
  'watch',
  'steward',
  'treasurer',
] as const;
const TIMELOCK_ROLES = ['proposer', 'executor', 'canceller'] as const;

export function roleOf(name: (typeof ROLES | typeof TIMELOCK_ROLES)[number]): Hex {
  return hash(`${name.toUpperCase()}_ROLE`);
}

export function roleName(role: string): string {
  if (BigInt(role) === 0n) return 'admin';
  return [...ROLES, ...TIMELOCK_ROLES].find((name) => roleOf(name) === role.toLowerCase()) ?? role;
}

/**
 * Returns the address of a contract that the settlement contract created in its constructor,
 * derived from its address and nonce.
 */
function creationOf(settlement: string, nonce: '01' | '02'): Hex {
  return toHex(keccak_256(fromHex(`0xd694${settlement.slice(2)}${nonce}`)).slice(12));
}

export function lensOf(settlement: string): Hex {
  return creationOf(settlement, '01');
}

export function timelockOf(settlement: string): Hex {
  return creationOf(settlement, '02');
}

export function operationWords(settlement: string, target: Hex, data: Hex): string {
  const own = [settlement, timelockOf(settlement)].map((one) => one.toLowerCase());
  const words = (data.slice(10).match(/.{64}/g) ?? []).map((one) => BigInt(`0x${one}`));
  const [first = 0n, second = 0n, third = 0n] = words;
  const role = () => roleName(`0x${first.toString(16).padStart(WORD, '0')}`);
  const says: Readonly<Record<string, () => string>> = {
    'setRates((uint16,uint16,uint16))': () =>
      `Rates become ${first}, ${second} and ${third} basis points.`,
    'raiseCeiling(uint24)': () => `Up to ${first} USDC may settle per hour.`,
    'grantRole(bytes32,address)': () => `${addressOf(second)} becomes ${role()}.`,
    'revokeRole(bytes32,address)': () => `${addressOf(second)} is no longer ${role()}.`,
    'updateDelay(uint256)': () => `The delay of operations becomes ${first} s.`,
  };
  const known = Object.entries(says).find(
    ([name]) => hash(name).slice(0, 10) === data.slice(0, 10),
  );
  if (own.includes(target.toLowerCase()) && known !== undefined) return known[1]();
  return `Calls ${target} with ${data.slice(0, 10)}, which is unknown.`;
}

export function wordsOf(answer: string): bigint[] {
  return (answer.slice(2).match(/.{64}/g) ?? []).map((one) => BigInt(`0x${one}`));
}

export function addressOf(value: bigint): Hex {
  return `0x${value.toString(16).padStart(40, '0')}`;
}
