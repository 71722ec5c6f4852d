import { CENT } from '#core/sums.ts';
import { formatMoney, sumRules } from '../ui/format-price.ts';
import { type PaidQuoted, paidPrice, sharePrice } from '../ui/quoted-price.ts';
import { t } from '../ui/text/t.ts';
import { readSum, type TypedSum } from '../ui/typed-sum.ts';
import type { RefundPart } from './refund-request-fields.ts';

/** Minimum remainder in atoms. A smaller one is shown as `< 0.01`, which cannot be typed. */
const LEAST_REST = 10_000n;

/** The refundable rest of a payment, in the unit in which it is typed. */
export interface RefundLeft {
  /** The amount in minor units of the currency, or in atoms of USDC if that is `null`. */
  readonly left: bigint;
  readonly currency: string | null;
  /** True if nothing was refunded before. */
  readonly isWhole: boolean;
}

interface Refundable {
  readonly amount: number;
  readonly amount_refunded: number;
  readonly presentment: PaidQuoted | null;
}

/** Returns the refundable amount, in the sale's currency if it was priced in one. */
export function refundLeft(payment: Refundable): RefundLeft {
  const { amount, amount_refunded: refunded, presentment } = payment;
  const isWhole = refunded === 0;
  const whole = paidPrice(presentment);
  const gone = sharePrice(payment, BigInt(refunded));
  if (whole === null || gone === null) {
    return { left: BigInt(amount - refunded), currency: null, isWhole };
  }
  return {
    left: refunded === amount ? 0n : whole.units - gone.units,
    currency: whole.currency,
    isWhole,
  };
}

/** Returns the refundable amount in USDC, regardless of the sale's currency. */
export function usdcLeft({ amount, amount_refunded: refunded }: Refundable): RefundLeft {
  return { left: BigInt(amount - refunded), currency: null, isWhole: refunded === 0 };
}

export interface RefundSum {
  readonly sum: TypedSum;
  /** The amount to refund, or `null` if it is invalid. */
  readonly part: RefundPart | null;
  /** The problem with an amount that could be parsed. */
  readonly problem: string | null;
  /** The remainder of the payment, if it would be too small to refund later; otherwise `null`. */
  readonly crumb: bigint | null;
}

/**
 * Users see the refundable amount rounded to cents, so typing that amount refunds all of it. Every
 * other amount is exact. A sale priced in a currency is refunded in that currency.
 * @param wrote The amount that the form wrote into the field.
 */
export function readRefund(
  text: string,
  { left, currency, isWhole, wrote }: RefundLeft & { readonly wrote: bigint },
): RefundSum {
  const sum = readSum(text, { ...sumRules(currency), wrote });
  const none = { sum, part: null, crumb: null };
  if (sum.is !== 'sum') return { ...none, problem: null };
  const shownRest = currency === null ? ((left + CENT / 2n) / CENT) * CENT : left;
  const isShownRest = !sum.isWritten && sum.units === shownRest;
  const units = isShownRest ? left : sum.units;
  if (units > left) {
    return { ...none, problem: t('ui.refund_sum.at_most', { sum: formatMoney(left, currency) }) };
  }
  const rest = left - units;
  const isRest = currency !== null && rest === 0n && !isWhole;
  const isCrumb = currency === null && rest > 0n && rest < LEAST_REST;
  return {
    sum,
    part: { units, currency, isRest },
    problem: null,
    crumb: isCrumb ? rest : null,
  };
}
