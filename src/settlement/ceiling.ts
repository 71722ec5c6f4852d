import { type Refusal, refuse } from '#core/answer.ts';
import { HOUR_MS } from '#core/durations.ts';
import { networkOf, type Tenant } from '#core/mode.ts';
import { atoms, basisPoints } from '#core/money.ts';

/** The contract's hourly ceiling, as far as it is known. */
export interface Ceiling {
  /** Atoms. */
  readonly perHour: bigint;
  /** Atoms that have settled in this hour. */
  readonly settled: bigint;
  /** Accounts that have sold within a day. */
  readonly sellers: number;
}

/** Atoms. If less is left, hardly any sale fits: 1 USDC, the contract's unit for the ceiling. */
const LEAST_ROOM = 1_000_000n;
/** If this few accounts sell, one of them may need the whole ceiling. */
const FEW_SELLERS = 5;
/** Percent: all that the contract allows. */
export const WHOLE_HOUR = 100;
/** Percent. Four accounts would have to collude to keep all others from selling. */
const SHARE_OF_MANY = 25;

const POINTS_PER_PERCENT = 100;

export function isFull({ perHour, settled }: Ceiling): boolean {
  return perHour - settled < LEAST_ROOM;
}

/** Percent of the hour for accounts without their own share. `set`: MAX_ACCOUNT_SHARE_PERCENT. */
export function commonShare({ sellers }: Ceiling, set: number | null): number {
  return set ?? (sellers < FEW_SELLERS ? WHOLE_HOUR : SHARE_OF_MANY);
}

/** Atoms per hour; `null` if the share is the whole ceiling, which the contract itself enforces. */
export function atomsOf({ perHour }: Ceiling, share: number): bigint | null {
  return share >= WHOLE_HOUR ? null : basisPoints(atoms(perHour), share * POINTS_PER_PERCENT);
}

/** The refusal if this hour has less left than the payment needs. */
export function hourIsFull(livemode: boolean): Refusal {
  return untilNextHour(`The ${networkOf(livemode)} has settled all that it may within this hour.`);
}

/** The refusal if this payment would exceed the account's share of this hour. */
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
