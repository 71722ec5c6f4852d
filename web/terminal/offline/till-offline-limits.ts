import { atoms, basisPoints } from '#core/money.ts';
import type { Hex } from '../../data/bytes.ts';
import type { Device } from '../../data/device-api.ts';
import type { OfflineRequest } from '../../data/offline-request.ts';
import type { HeldSale } from './held-sales.ts';

export type OfflineLimits = NonNullable<Device['offline']>;
export type OfflineTerms = NonNullable<Device['offline_terms']>;

export interface Standing {
  readonly limits: OfflineLimits;
  /** `null` if the service has never sent them. */
  readonly terms: OfflineTerms | null;
  /** Time of the last contact. Like `now`, in milliseconds by the service's clock. */
  readonly contactAt: number;
  readonly now: number;
  readonly sales: readonly HeldSale[];
  /** True if the browser promises to keep stored data, and has room. */
  readonly isSafe: boolean;
}

/** The reason why the till cannot sell offline. `most` is the limit: atoms, a count, or hours. */
export type OfflineProblem =
  | {
      readonly is: 'per_payment' | 'per_card_per_day' | 'total' | 'count' | 'hours';
      readonly most: number;
    }
  | {
      readonly is:
        | 'no_terms'
        | 'rates_change'
        | 'unsafe'
        | 'blocked'
        | 'other_currency'
        | 'no_storage'
        | 'outdated';
    };

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Usual validity of a signature. It is longer if the till may go without contact for longer. */
const USUAL_HOURS = 24;
/**
 * Maximum validity. The service accepts up to 72 hours, and a clock may be a little ahead. Counted
 * from the last contact, because the device's clock may have been set ahead since.
 */
const LONGEST_HOURS = 71;
/** Minimum validity: in less time, the till could hardly forward the sale. */
const SHORTEST_HOURS = 1;

/**
 * Returns the end of a signature's validity in Unix seconds; `null` if the rates change too soon.
 */
export function validBeforeOf({ limits, terms, contactAt, now }: Standing): number | null {
  const until =
    terms?.rates_until == null ? Number.POSITIVE_INFINITY : Date.parse(terms.rates_until);
  const usual = now + Math.max(USUAL_HOURS, limits.hours) * HOUR_MS;
  const end = Math.min(usual, contactAt + LONGEST_HOURS * HOUR_MS, until);
  return end < now + SHORTEST_HOURS * HOUR_MS ? null : Math.floor(end / 1000);
}

/** Returns the amount that leaves the wallet. Rounds each share down, as the contract does. */
export function chargedFor(amount: bigint, { rates }: OfflineTerms): bigint {
  const share = (points: number) => basisPoints(atoms(amount), points);
  return amount + share(rates.acquirer) + share(rates.protocol) - share(rates.cashback);
}

/** Returns the reason why this amount cannot be requested from any payer; `null` if it can. */
export function saleProblem(amount: bigint, standing: Standing): OfflineProblem | null {
  const { limits, terms, contactAt, now, sales, isSafe } = standing;
  if (!isSafe) return { is: 'unsafe' };
  if (terms === null) return { is: 'no_terms' };
  const hours = Math.min(limits.hours, LONGEST_HOURS - SHORTEST_HOURS);
  if (now > contactAt + hours * HOUR_MS) return { is: 'hours', most: hours };
  if (validBeforeOf(standing) === null) return { is: 'rates_change' };
  if (amount > BigInt(limits.per_payment)) return { is: 'per_payment', most: limits.per_payment };
  // Counts as the service does: a record that the service never accepts must not use up the limits.
  const open = sales.filter(({ state }) => state.is === 'waits' || state.is === 'processing');
  if (open.length + 1 > limits.count) return { is: 'count', most: limits.count };
  const total = open.reduce((sum, sale) => sum + BigInt(sale.amount), amount);
  return total > BigInt(limits.total) ? { is: 'total', most: limits.total } : null;
}

/**
 * Returns the reason why a displayed request may no longer be signed: the till has received other
 * terms since, or too little of its validity is left.
 */
export function requestProblem(request: OfflineRequest, standing: Standing): OfflineProblem | null {
  const { terms, now } = standing;
  const { amount, value, validBefore, settlement, merchantNumber } = request;
  const problem = saleProblem(amount, standing);
  if (problem !== null || terms === null) return problem;
  const end = validBefore * 1000;
  const isPast = terms.rates_until !== null && end > Date.parse(terms.rates_until);
  const isOther =
    value !== chargedFor(amount, terms) ||
    merchantNumber !== terms.merchant_number ||
    !isSame(settlement, terms.settlement);
  return isOther || isPast || end < now + SHORTEST_HOURS * HOUR_MS ? { is: 'outdated' } : null;
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Returns the reason why this card or wallet may not pay this amount now; `null` if it may. */
export function cardProblem(
  { from, amount }: { readonly from: Hex; readonly amount: bigint },
  { limits, terms, now, sales }: Standing,
): OfflineProblem | null {
  const isBlocked =
    terms?.blocked.some((one) => isSame(one, from)) ||
    // The service has not listed this wallet as blocked for the till yet.
    sales.some((sale) => sale.state.is === 'bounced' && isSame(sale.from, from));
  if (isBlocked) return { is: 'blocked' };
  const day = Math.floor(now / DAY_MS);
  const today = sales
    .filter((sale) => isSame(sale.from, from))
    .filter(({ acceptedAt }) => Math.floor(Date.parse(acceptedAt) / DAY_MS) === day)
    .reduce((sum, sale) => sum + BigInt(sale.amount), amount);
  const most = limits.per_card_per_day;
  return today > BigInt(most) ? { is: 'per_card_per_day', most } : null;
}

/**
 * Estimates the service's time on a till whose own clock may be wrong, or may change while it is
 * offline.
 */
export interface TillClock {
  /** Milliseconds to add to the device's clock. */
  readonly offsetMs: number;
  /** The latest service time that the till knows for certain. */
  readonly least: number;
}

/** Returns the service's time. It never goes backward, even if the device's clock does. */
export function serviceTime({ offsetMs, least }: TillClock, deviceNow: number): number {
  return Math.max(deviceNow + offsetMs, least);
}
