import { type Refusal, refuse } from '#core/answer.ts';
import { HOUR_MS } from '#core/durations.ts';
import { networkOf, type Tenant } from '#core/mode.ts';
import { atoms, basisPoints } from '#core/money.ts';

/** The known state of the contract's hourly ceiling. */
export interface Ceiling {
  /** Atoms. */
  readonly perHour: bigint;
  /** Atoms settled in this hour. */
  readonly settled: bigint;
  /** The number of accounts that have sold within a day. */
  readonly sellers: number;
}

/** 1 USDC, the contract's unit for the ceiling. If less is left, hardly any sale fits. */
const LEAST_ROOM = 1_000_000n;
/** With fewer selling accounts than this, one of them may need the whole ceiling. */
const FEW_SELLERS = 5;
/**
 * In percent: an account with this share may use the contract's whole ceiling, so it has no limit
 * of its own.
 */
export const WHOLE_HOUR = 100;
/**
 * In percent. With this share, at least four accounts must collude to keep all others from selling.
 */
const SHARE_OF_MANY = 25;

const POINTS_PER_PERCENT = 100;

export function isFull({ perHour, settled }: Ceiling): boolean {
  return perHour - settled < LEAST_ROOM;
}

/**
 * Returns the share, in percent of the hourly ceiling, of accounts without an individual share.
 * `set` is MAX_ACCOUNT_SHARE_PERCENT.
 */
export function commonShare({ sellers }: Ceiling, set: number | null): number {
  return set ?? (sellers < FEW_SELLERS ? WHOLE_HOUR : SHARE_OF_MANY);
}

/**
 * Converts a share in percent to atoms per hour; `null` if the share is the whole ceiling, which
 * the contract itself enforces.
 */
export function atomsOf({ perHour }: Ceiling, share: number): bigint | null {
  return share >= WHOLE_HOUR ? null : basisPoints(atoms(perHour), share * POINTS_PER_PERCENT);
}

/** Returns the refusal for a payment that needs more than is left of this hour's ceiling. */
export function hourIsFull(livemode: boolean): Refusal {
  return untilNextHour(`The ${networkOf(livemode)} has reached its hourly settlement limit.`);
}

/** Returns the refusal for a payment that would exceed the account's share of this hour. */
export function shareIsUsed({ livemode }: Tenant): Refusal {
  return untilNextHour(
    "This payment would exceed the account's hourly settlement limit on the " +
      `${networkOf(livemode)}.`,
  );
}

function untilNextHour(why: string): Refusal {
  const now = Date.now();
  const next = new Date(now - (now % HOUR_MS) + HOUR_MS).toISOString();
  return refuse(
    'service_unavailable',
    `${why} The next hour begins at ${next}. Nothing was done and nothing was charged.`,
  );
}
