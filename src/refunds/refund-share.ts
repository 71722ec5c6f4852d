import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { type Atoms, atoms } from '#core/money.ts';
import { type Payment, paymentTaxes } from '#payments/payment.ts';
import type { PaidQuote, PastQuote } from '#prices/quote-price.ts';
import {
  type AskedPart,
  type EarlierRefund,
  estimateParts,
  type ReturnedPart,
  returnLines,
} from '#prices/refund-lines.ts';
import { type LeftOver, leftAfter, taxesOfSum } from '#prices/refund-taxes.ts';
import type { RateTax } from '#prices/sale-lines.ts';
import { decideAmount, refundable } from '#refunds/refund-limits.ts';

/**
 * Decides refunds of a sale that was priced in the shop's currency. They return a share of the paid
 * atoms, never the price at today's rate. A part in minor units returns the floor of atoms × (sum
 * of such parts so far) / whole, minus the atoms of earlier parts. So rounding errors do not add
 * up, and the part that completes the whole returns the rest. A part in atoms counts as the atoms
 * that it returned.
 */

/**
 * A number of atoms, or of the shop's minor units, or parts of lines; `null` for everything that is
 * left.
 */
export type AskedAmount =
  | number
  | { readonly minorUnits: number }
  | { readonly lineItems: readonly AskedPart[] }
  | null;

/** The payment's refunds that have not failed. */
export interface Earlier {
  /** The sum of refunds requested in minor units, and the atoms that they returned. */
  readonly parts: bigint;
  readonly partsGave: bigint;
  /** All of them, in the order in which they take from the sale's tax rates. */
  readonly refunds: readonly EarlierRefund[];
}

export interface Share {
  readonly amount: Atoms;
  /** `null` for a sale in USDC. */
  readonly presentment: PastQuote | null;
  /** The refund's minor units, if it was requested in them. */
  readonly presentment_part: bigint | null;
  /** The lines that the refund returns; `null` if it returns a sum. */
  readonly line_items: readonly ReturnedPart[] | null;
  /** `null` for a sale without lines. */
  readonly taxes: readonly RateTax[] | null;
}

/** The amount of a refund, before its lines and taxes. */
type Amounts = Omit<Share, 'line_items' | 'taxes'>;

type Priced = Payment & { readonly presentment: PaidQuote };

/** The amount that the customer paid in the shop's currency, including the tip. */
function wholeOf({ amount, tipAmount }: PaidQuote): bigint {
  return BigInt(amount) + BigInt(tipAmount);
}

/** Returns the minor units that these atoms of the payment are worth, to the nearest. */
function countOf(value: bigint, { amount, presentment }: Priced): bigint {
  return (2n * value * wholeOf(presentment) + amount) / (2n * amount);
}

/**
 * Returns the minor units that earlier refunds have returned. Refunds in atoms count by their
 * value.
 */
function gone(payment: Priced, { parts }: Earlier, inAtoms: bigint): bigint {
  const sum = parts + countOf(inAtoms, payment);
  const whole = wholeOf(payment.presentment);
  return sum < whole ? sum : whole;
}

function wrong(code: 'amount_too_large' | 'parameter_invalid', message: string): Refusal {
  return refuse(code, message, 'presentment_amount');
}

/** Returns the atoms of a part in minor units. */
function atomsOf(payment: Priced, earlier: Earlier, part: number): Atoms | Refusal {
  const { parts, partsGave } = earlier;
  const { currency } = payment.presentment;
  const whole = wholeOf(payment.presentment);
  const left = whole - gone(payment, earlier, payment.amount_reserved - partsGave);
  const requested = BigInt(part);
  if (requested > left) {
    return wrong(
      'amount_too_large',
      `presentment_amount is ${part}, but only ${left} minor units of ${currency} are left ` +
        'to refund.',
    );
  }
  const most = refundable(payment);
  if (requested === left) return most;
  const share = (payment.amount * (parts + requested)) / whole - partsGave;
  if (share >= 1n) return share < most ? atoms(share) : most;
  return wrong('parameter_invalid', 'presentment_amount is worth less than one atom of USDC.');
}

/** Returns this refund's value in minor units of the shop's currency. */
function countedAs(payment: Priced, earlier: Earlier, amount: Atoms): bigint {
  const { amount_reserved: amountReserved } = payment;
  const inAtoms = amountReserved - earlier.partsGave;
  const before = gone(payment, earlier, inAtoms);
  const isLast = amountReserved + amount === payment.amount;
  const after = isLast ? wholeOf(payment.presentment) : gone(payment, earlier, inAtoms + amount);
  return after - before;
}

function decideAmounts(
  payment: Payment,
  input: number | { readonly minorUnits: number } | null,
  earlier: Earlier,
): Amounts | Refusal {
  const { presentment } = payment;
  const part = typeof input === 'object' && input !== null ? input.minorUnits : null;
  if (presentment === null && part !== null) {
    const why = payment.recovered
      ? 'If this sale had a price in another currency, that price was lost with the database'
      : 'This sale was made in USDC';
    return wrong('parameter_invalid', `${why}. Send amount, in atoms.`);
  }
  const amount = decideAmount(payment, typeof input === 'number' ? input : null);
  if (isRefusal(amount)) return amount;
  const presentment_part = part === null ? null : BigInt(part);
  if (presentment === null) return { amount, presentment, presentment_part };
  const priced = { ...payment, presentment };
  const gives = part === null ? amount : atomsOf(priced, earlier, part);
  if (isRefusal(gives)) return gives;
  const { tipAmount: _, ...quote } = presentment;
  const counted = part ?? Number(countedAs(priced, earlier, gives));
  return { amount: gives, presentment: { ...quote, amount: counted }, presentment_part };
}

/** Returns what earlier refunds left of each tax rate; `null` for a sale without lines. */
function leftOf(payment: Payment, { refunds }: Earlier): LeftOver | null {
  const { presentment, amount } = payment;
  const taxes = paymentTaxes(payment);
  if (taxes === null) return null;
  return leftAfter(taxes, presentment === null ? amount : wholeOf(presentment), refunds);
}

/** Decides a refund of parts of lines. */
function decideLines(
  payment: Payment,
  asked: readonly AskedPart[],
  earlier: Earlier,
): Share | Refusal {
  const left = leftOf(payment, earlier);
  const nothing = decideAmount(payment, null);
  if (isRefusal(nothing)) return nothing;
  if (payment.lines === null || left === null) {
    const message = payment.recovered
      ? 'line_items: the lines of this sale were lost with the database. Refund a sum.'
      : 'line_items: this sale has no lines. Refund a sum.';
    return refuse('parameter_invalid', message, 'line_items');
  }
  const returned = returnLines(payment.lines, asked, { earlier: earlier.refunds, left });
  if (isRefusal(returned)) return returned;
  const { lineItems: line_items, taxes } = returned;
  const sum = Number(returned.amount);
  const input = payment.presentment === null ? sum : { minorUnits: sum };
  const amounts = decideAmounts(payment, input, earlier);
  if (isRefusal(amounts)) return { ...amounts, param: 'line_items' };
  return { ...amounts, line_items, taxes };
}

/** Decides a refund. `earlier` is needed only for a payment with a presentment or lines. */
export function decideShare(
  payment: Payment,
  input: AskedAmount,
  earlier: Earlier,
): Share | Refusal {
  if (typeof input === 'object' && input !== null && 'lineItems' in input) {
    return decideLines(payment, input.lineItems, earlier);
  }
  const amounts = decideAmounts(payment, input, earlier);
  if (isRefusal(amounts)) return amounts;
  const left = leftOf(payment, earlier);
  if (left === null) return { ...amounts, line_items: null, taxes: null };
  const isLast = payment.amount_reserved + amounts.amount === payment.amount;
  const part = isLast ? left.all : BigInt(amounts.presentment?.amount ?? amounts.amount);
  return { ...amounts, line_items: null, taxes: taxesOfSum(left, part) };
}

/**
 * Estimates a refund's atoms, for limits that are checked before the decision. A request in minor
 * units or lines may ask for more than any column holds; it counts as the whole payment.
 */
export function estimate({ amount, presentment, lines }: Payment, input: AskedAmount): bigint {
  if (typeof input === 'number') return BigInt(input);
  if (input === null) return amount;
  const isLines = 'lineItems' in input;
  if (presentment === null && !isLines) return amount;
  const units = isLines ? estimateParts(lines, input.lineItems) : BigInt(input.minorUnits);
  const value = presentment === null ? units : (amount * units) / wholeOf(presentment) + 1n;
  return value < amount ? value : amount;
}
