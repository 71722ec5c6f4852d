import { type Refusal, refuse } from '#core/answer.ts';
import { HOUR_MS } from '#core/durations.ts';
import { networkOf, type Tenant } from '#core/mode.ts';
import { atoms, basisPoints } from '#core/money.ts';

/** What the contract lets settle in an hour, as far as it is known. */
export interface Ceiling {
  /** Atoms. */
  readonly perHour: bigint;
  /** Atoms that have settled in this hour. */
  readonly settled: bigint;
  /** Accounts that have sold within a day. */
  readonly sellers: number;
}

/** Atoms. With less, hardly a sale would fit: 1 USDC, the unit in which the contract counts it. */
const LEAST_ROOM = 1_000_000n;
/** Where so few accounts sell, one may need the whole ceiling. */
const FEW_SELLERS = 5;
/** Percent: as much as the contract lets through. */
export const WHOLE_HOUR = 100;
/** Percent. Four of them have to work together to keep the others from selling. */
const SHARE_OF_MANY = 25;

const POINTS_PER_PERCENT = 100;

export function isFull({ perHour, settled }: Ceiling): boolean {
  return perHour - settled < LEAST_ROOM;
}

/**
 * Percent of the hour for accounts without a share of their own. `set`: MAX_ACCOUNT_SHARE_PERCENT.
 */
export function commonShare({ sellers }: Ceiling, set: number | null): number {
  return set ?? (sellers < FEW_SELLERS ? WHOLE_HOUR : SHARE_OF_MANY);
}

/** Atoms per hour; null: all that there is, so the contract alone decides. */
export function atomsOf({ perHour }: Ceiling, share: number): bigint | null {
  return share >= WHOLE_HOUR ? null : basisPoints(atoms(perHour), share * POINTS_PER_PERCENT);
}

/** Less is left of this hour than the payment needs. */
export function hourIsFull(livemode: boolean): Refusal {
  return untilNextHour(`The ${networkOf(livemode)} has settled all that it may within this hour.`);
}

/** The account has used its share of this hour, or this payment would exceed it. */
export function shareIsUsed({ livemode }: Tenant): Refusal {
  return untilNextHour(
    `This payment exceeds what one account may settle on the ${networkOf(livemode)} in an hour.`,
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
