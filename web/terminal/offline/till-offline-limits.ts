import { toAtomsUp, toMinorUnitsDown } from '#core/currency-conversion.ts';
import { atoms, basisPoints } from '#core/money.ts';
import { addSums, countedSum, isAboveLimit, type OfflineSum } from '#core/offline-sums.ts';
import type { Hex } from '../../data/bytes.ts';
import type { Device } from '../../data/device-api.ts';
import type { OfflineRequest } from '../../data/offline-request.ts';
import type { WrongAnswer } from '../../data/offline-signature.ts';
import type { SalePrice } from '../till-phases.ts';
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

type PresentmentTerms = NonNullable<OfflineTerms['presentment']>;

/** A sale at the till: the atoms to charge and, in the shop's currency, its price and terms. */
export interface TillSale {
  readonly amount: bigint;
  readonly presentment: SalePrice | null;
}

/** A limit of sums, in atoms or in minor units of a currency. */
export interface MostSum {
  readonly units: number;
  /** `null` for atoms of USDC. */
  readonly currency: string | null;
}

type SumLimit = 'per_payment' | 'per_card_per_day' | 'total';

/** The reason why the till cannot sell offline. `most` is the limit: a sum, a count, or hours. */
export type OfflineProblem =
  | { readonly is: SumLimit; readonly most: MostSum }
  | { readonly is: 'count' | 'hours'; readonly most: number }
  | {
      readonly is:
        | 'no_terms'
        | 'rates_change'
        | 'unsafe'
        | 'blocked'
        | 'discount'
        | 'no_rate'
        | 'no_storage'
        | 'outdated';
    };

/**
 * The reason why an answer was not accepted. `full`: it could not be stored, so nothing was
 * accepted.
 */
export type NotAccepted = WrongAnswer | OfflineProblem | 'full';

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

/** The part of a request on the screen that limits and terms decide about. */
export interface AskedSale {
  readonly request: OfflineRequest;
  /** Absent in requests stored by an earlier version. */
  readonly presentment?: SalePrice | null;
}

/** Returns the amount that leaves the wallet. Rounds each share down, as the contract does. */
export function chargedFor(amount: bigint, { rates }: OfflineTerms): bigint {
  const share = (points: number) => basisPoints(atoms(amount), points);
  return amount + share(rates.acquirer) + share(rates.protocol) - share(rates.cashback);
}

/** Returns the terms for sales in this currency; `null` if the till has none that still hold. */
export function termsIn(
  currency: string,
  { terms, now }: Pick<Standing, 'terms' | 'now'>,
): PresentmentTerms | null {
  const presentment = terms?.presentment ?? null;
  if (presentment?.currency !== currency) return null;
  return Date.parse(presentment.valid_until) > now ? presentment : null;
}

/** Returns a limit in the unit in which the admin has set it. */
function limitOf(limits: OfflineLimits, name: SumLimit): MostSum {
  const { presentment = null } = limits;
  if (presentment === null) return { units: limits[name], currency: null };
  return { units: presentment[name], currency: presentment.currency };
}

/** True if a sum is above a limit, counted as the service does. */
function isAbove(sum: OfflineSum, limits: OfflineLimits, name: SumLimit): boolean {
  const units = limits.presentment?.[name] ?? null;
  return isAboveLimit(sum, { atoms: limits[name], units });
}

function countIn(limits: OfflineLimits): (sale: TillSale) => OfflineSum {
  return (sale) => countedSum(sale, limits.presentment?.currency ?? null);
}

/** Returns a stored sale with the sums that count. */
export function saleOf({ amount, presentment = null }: HeldSale): TillSale {
  return { amount: BigInt(amount), presentment };
}

/**
 * Returns the atoms of a sale, at the till's terms if it is in the shop's currency; `null` if the
 * till has no terms for that.
 */
export function saleIn(
  { amount, currency }: { readonly amount: bigint; readonly currency: string | null },
  standing: Standing,
): TillSale | null {
  if (currency === null) return { amount, presentment: null };
  const terms = termsIn(currency, standing);
  if (terms === null) return null;
  const { id, rate, margin } = terms;
  const presentment = { terms: id, currency, amount: Number(amount), rate, margin };
  return { amount: toAtomsUp(amount, terms), presentment };
}

/**
 * Returns the highest sum of one sale in this currency, or in USDC (`null`): the admin's limit, or
 * the operator's cap if that is lower at the rate of the terms.
 */
export function mostPerPayment(currency: string | null, standing: Standing): MostSum {
  const { limits } = standing;
  const own = limitOf(limits, 'per_payment');
  const { cap = null } = limits;
  const terms = currency === null ? null : termsIn(currency, standing);
  const inAtoms = cap === null ? limits.per_payment : Math.min(cap, limits.per_payment);
  if (terms === null) return { units: inAtoms, currency: null };
  const { rate, margin } = terms;
  const priced = { currency: terms.currency, rate };
  const atMost = (units: bigint) => toMinorUnitsDown(units, priced);
  // A sale counts without the margin, rounded down, against a limit in atoms or another currency.
  const above = (BigInt(limits.per_payment) + 1n) * BigInt(10_000 + margin);
  const raised = (above + 9_999n) / 10_000n - 1n;
  const most = own.currency === currency ? own.units : atMost(raised);
  const units = cap === null ? most : Math.min(most, atMost(BigInt(cap)));
  return { units, currency };
}

/** Returns the reason why the till can sell nothing offline in this currency; `null` if it can. */
export function tillProblem(currency: string | null, standing: Standing): OfflineProblem | null {
  const { limits, terms, contactAt, now, isSafe } = standing;
  if (!isSafe) return { is: 'unsafe' };
  if (terms === null) return { is: 'no_terms' };
  const hours = Math.min(limits.hours, LONGEST_HOURS - SHORTEST_HOURS);
  if (now > contactAt + hours * HOUR_MS) return { is: 'hours', most: hours };
  if (validBeforeOf(standing) === null) return { is: 'rates_change' };
  return currency === null || termsIn(currency, standing) !== null ? null : { is: 'no_rate' };
}

/** Returns the reason why this sale cannot be requested from any payer; `null` if it can. */
export function saleProblem(sale: TillSale, standing: Standing): OfflineProblem | null {
  const { limits, sales } = standing;
  const currency = sale.presentment?.currency ?? null;
  const problem = tillProblem(currency, standing);
  if (problem !== null) return problem;
  const countOf = countIn(limits);
  const isOverCap = limits.cap != null && sale.amount > BigInt(limits.cap);
  if (isOverCap || isAbove(countOf(sale), limits, 'per_payment')) {
    return { is: 'per_payment', most: mostPerPayment(currency, standing) };
  }
  // Counts as the service does: a record that the service never accepts must not use up the limits.
  const open = sales.filter(({ state }) => state.is === 'waits' || state.is === 'processing');
  if (open.length + 1 > limits.count) return { is: 'count', most: limits.count };
  const total = open.map((one) => countOf(saleOf(one))).reduce(addSums, countOf(sale));
  return isAbove(total, limits, 'total') ? { is: 'total', most: limitOf(limits, 'total') } : null;
}

/**
 * Returns the highest sum of the next sale in this currency, or the reason why there can be none.
 * It is below {@link mostPerPayment} if the waiting sales leave less of the limit of their total.
 */
export function mostNext(currency: string | null, standing: Standing): MostSum | OfflineProblem {
  const problemAt = (units: number): OfflineProblem | null => {
    const sale = saleIn({ amount: BigInt(units), currency }, standing);
    return sale === null ? tillProblem(currency, standing) : saleProblem(sale, standing);
  };
  const problem = problemAt(1);
  if (problem !== null) return problem;
  let [most, above] = [1, mostPerPayment(currency, standing).units + 1];
  while (above - most > 1) {
    const middle = Math.floor((most + above) / 2);
    if (problemAt(middle) === null) most = middle;
    else above = middle;
  }
  return { units: most, currency };
}

/**
 * Returns the reason why a displayed request may no longer be signed: the till has received other
 * terms since, or too little of its validity is left.
 */
export function requestProblem(
  { request, presentment = null }: AskedSale,
  standing: Standing,
): OfflineProblem | null {
  const { terms, now } = standing;
  const { amount, value, validBefore, settlement, merchantNumber } = request;
  const problem = saleProblem({ amount, presentment }, standing);
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
  { from, ...sale }: TillSale & { readonly from: Hex },
  { limits, terms, now, sales }: Standing,
): OfflineProblem | null {
  const isBlocked =
    terms?.blocked.some((one) => isSame(one, from)) ||
    // The service has not listed this wallet as blocked for the till yet.
    sales.some((sale) => sale.state.is === 'bounced' && isSame(sale.from, from));
  if (isBlocked) return { is: 'blocked' };
  const countOf = countIn(limits);
  const day = Math.floor(now / DAY_MS);
  const today = sales
    .filter((sale) => isSame(sale.from, from))
    .filter(({ acceptedAt }) => Math.floor(Date.parse(acceptedAt) / DAY_MS) === day)
    .map((one) => countOf(saleOf(one)))
    .reduce(addSums, countOf(sale));
  if (!isAbove(today, limits, 'per_card_per_day')) return null;
  return { is: 'per_card_per_day', most: limitOf(limits, 'per_card_per_day') };
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
