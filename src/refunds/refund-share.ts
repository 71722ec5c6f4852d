import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { type Atoms, atoms } from '#core/money.ts';
import type { Payment } from '#payments/payment.ts';
import type { PaidQuote, PastQuote } from '#prices/quote-price.ts';
import { decideAmount, refundable } from '#refunds/refund-limits.ts';

/**
 * Decides refunds of a sale that was priced in the shop's currency. They return a share of the paid
 * atoms, never the price at today's rate. A part in minor units returns the floor of atoms × (sum
 * of such parts so far) / whole, minus the atoms of earlier parts. So rounding errors do not add
 * up, and the part that completes the whole returns the rest. A part in atoms counts as the atoms
 * that it returned.
 */

/** A number of atoms, or of the shop's minor units; `null` for everything that is left. */
export type AskedAmount = number | { readonly minorUnits: number } | null;

/** The payment's refunds that have not failed. */
export interface Earlier {
  /** The sum of refunds requested in minor units, and the atoms that they returned. */
  readonly parts: bigint;
  readonly partsGave: bigint;
}

export interface Share {
  readonly amount: Atoms;
  /** `null` for a sale in USDC. */
  readonly presentment: PastQuote | null;
  /** The refund's minor units, if it was requested in them. */
  readonly presentment_part: bigint | null;
}

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

/** `earlier` is needed only for a payment with a presentment. */
export function decideShare(
  payment: Payment,
  input: AskedAmount,
  earlier: Earlier,
): Share | Refusal {
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

/** Estimates a refund's atoms, for limits that are checked before the decision. */
export function estimate({ amount, presentment }: Payment, input: AskedAmount): bigint {
  if (typeof input === 'number') return BigInt(input);
  if (input === null || presentment === null) return amount;
  return (amount * BigInt(input.minorUnits)) / wholeOf(presentment) + 1n;
}
