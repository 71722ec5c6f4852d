// What each path of docs/gas-rules.md needs, and the limit that the code gives it.

import { withReserve } from '#settlement/chain/fees/deploy-in-steps.ts';
import { CALL_RESERVE_GAS, DEPLOYMENT_GAS } from '#settlement/gas-ceilings.ts';
import type { ContractGas } from '#settlement/network-config.ts';
import {
  authorizedGasLimit,
  batchGasLimit,
  cancellationGasLimit,
  gasCapOf,
  singleGasLimit,
} from '#settlement/relayer/send/gas-limits.ts';
import { WATCH_GAS } from '#watch/pause-contract.ts';
import type { Counts } from './count-trace.ts';

/** The result of write-page.ts for one path. */
export interface Need {
  readonly path: string;
  readonly counts: Counts;
  /** The gas limit that the transaction needs at each price. */
  readonly today: number;
  readonly glamsterdam: {
    readonly regular: number;
    readonly state: number;
    readonly needed: number;
  };
  /** The gas that the transfer from the payer needs; 0 if there is none. */
  readonly pull: { readonly today: number; readonly glamsterdam: number };
}

/** What the newest settlement contract gives to its calls (Settlement.sol). */
export const NEWEST: ContractGas = { pull: 350_000n, signature: 500_000n };

/** The bytes of a key's signature. */
const SIGNATURE_BYTES = 65;

const least = (a: bigint, b: bigint) => (a < b ? a : b);
const estimated = (need: bigint) => singleGasLimit(need);
const signed = (kind: 'enrolment' | 'transfer') => (need: bigint) =>
  least(singleGasLimit(need), gasCapOf(kind, { to: '0x', data: '0x' }) ?? need);
const batch = (payments: number, words: number, merchants: number) => () =>
  batchGasLimit({ payments, words, merchants, contract: NEWEST });

/** By path: the limit of a transaction that needs `need`. Paths of the same kind share one. */
const LIMITS: readonly (readonly [path: RegExp, limit: (need: bigint) => bigint])[] = [
  [/^deployment: /, withReserve],
  [/^(first sale on the contract|later sale)$/, batch(1, 1, 1)],
  [/^batch of 1, numbers far apart$/, batch(1, 1, 1)],
  [/^batch of 10, numbers far apart$/, batch(10, 10, 2)],
  [/^batch of 36, numbers far apart$/, batch(36, 36, 2)],
  [/^batch of 100, numbers side by side$/, batch(100, 1, 1)],
  [/^authorization /, () => authorizedGasLimit(SIGNATURE_BYTES, NEWEST)],
  [/^approval /, signed('enrolment')],
  [/^transfer /, signed('transfer')],
  [/^(refund|withdrawal|registration|wallet change)/, estimated],
  [/^deployment of a (Coinbase wallet|Safe)$/, () => DEPLOYMENT_GAS],
  [/^watchtower: /, () => WATCH_GAS],
  [/^cancellation$/, cancellationGasLimit],
];

/** Its price today is fixed, so that it needs no headroom. */
export const FIXED_TODAY = 'cancellation';

/** Batches of which the code makes several transactions. */
export const SPLIT = 'batch of 100, numbers far apart';

/** Returns the limit of a path; `null` if the code sends no such transaction. */
export function limitOf(path: string, need: number): bigint | null {
  if (path === SPLIT) return null;
  const result = LIMITS.find(([pattern]) => pattern.test(path));
  if (result === undefined) throw new Error(`${path} has no limit in the table`);
  return result[1](BigInt(need));
}

/** What the contract requires to be left before a call that it gives exactly this much gas. */
export function reserveFor(given: number): number {
  const exact = [NEWEST.pull, NEWEST.pull + NEWEST.signature].map(Number);
  if (!exact.includes(given)) return 0;
  return given + Math.floor(given / 63) + Number(CALL_RESERVE_GAS);
}
