import assert from 'node:assert/strict';
import type { CartSale } from '#testkit/fixtures/payments/cart-sales.ts';

/** An object of a response. */
type Fields = { readonly [name: string]: unknown };

/** How far a sale has come: the tip is not known, known, paid, refunded in part. */
export type Progress = 'untipped' | 'tipped' | 'paid' | 'refunded';

/** An object with sums of a sale, or of its refund. */
interface FoundSums {
  readonly kind: 'sale' | 'refund';
  readonly progress: Progress;
  readonly sale: CartSale;
  readonly object: Fields;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Events show their object as it was. */
const EVENTS: Readonly<Record<string, Progress>> = {
  'payment_intent.created': 'untipped',
  'payment_intent.requires_action': 'tipped',
  'payment_intent.processing': 'tipped',
  'payment_intent.succeeded': 'paid',
  'payment.succeeded': 'paid',
  'payment.cashback_paid': 'paid',
};

function progressOf({ object, type }: Fields, before: Progress): Progress {
  return object === 'event' ? (EVENTS[String(type)] ?? before) : before;
}

/** A sale has a tip or fees, which no refund has. */
function kindOf(object: Fields): FoundSums['kind'] {
  return ['tip', 'tip_amount', 'paid', 'total_charged'].some((name) => name in object)
    ? 'sale'
    : 'refund';
}

/**
 * Finds the objects with the price of a sale, at any depth of a response: each has a field
 * `presentment`, which is `null` for a sale in USDC.
 */
export function sumsIn(
  value: unknown,
  sales: readonly CartSale[],
  before: Progress = 'refunded',
): FoundSums[] {
  if (Array.isArray(value)) return value.flatMap((one) => sumsIn(one, sales, before));
  if (!isFields(value)) return [];
  const progress = progressOf(value, before);
  const inside = Object.values(value).flatMap((one) => sumsIn(one, sales, progress));
  const { presentment: price, amount } = value;
  if (price === undefined || Array.isArray(price) || amount === null) return inside;
  const currency = isFields(price) ? price.currency : null;
  const sale = sales.find((one) => one.currency === currency);
  assert.ok(sale, `a sale in ${currency}`);
  return [{ kind: kindOf(value), progress, sale, object: value }, ...inside];
}

/** Asserts that the object has these fields, with these values. */
function assertFields(object: Fields, expected: Fields, where: string): void {
  const names = Object.keys(expected);
  const shown = Object.fromEntries(names.map((name) => [name, object[name]]));
  assert.deepEqual(shown, expected, where);
}

/** Asserts the values of those fields that the object has. */
function assertKnown(object: Fields, expected: Fields, where: string): void {
  const known = Object.entries(expected).filter(([name]) => name in object);
  assertFields(object, Object.fromEntries(known), where);
}

/** Objects whose `amount` includes the tip. */
const WITH_TIP = new Set(['payment', 'receipt', 'confirmation']);

function atomsOf({ sale: { atoms }, object, progress }: FoundSums): Fields {
  const { price, tip, acquirer, protocol, cashback, paid, refund } = atoms;
  const isIntent = object.object === 'payment_intent';
  const isOpen = progress === 'untipped' || progress === 'tipped';
  const amount = WITH_TIP.has(String(object.object)) ? price + tip : price;
  // Until it is paid, an intent has no tip, and the others have what a pass would pay.
  if (progress === 'untipped') return { amount, ...(isIntent ? { tip: null } : { tip_amount: 0 }) };
  // Lists and details for people show the customer's total of an intent.
  const forPeople = 'service_fee' in object ? { total: paid, service_fee: paid - price - tip } : {};
  return {
    ...forPeople,
    ...{ sale: price, amount, tip: isIntent && isOpen ? null : tip, tip_amount: tip },
    ...{ fees: { acquirer, protocol, cashback }, total_charged: paid + cashback, paid },
    ...{ net: price + tip, amount_refunded: progress === 'refunded' ? refund : 0 },
  };
}

/** Returns the expected object `presentment` of a sale; `null` for one in USDC. */
function priceOf({ sale, object, progress }: FoundSums): Fields | null {
  const { currency, price: amount, tip: tip_amount, total, fees, untipped } = sale;
  if (currency === null) return null;
  if (progress === 'untipped') return { currency, amount, ...untipped };
  const isOpenIntent = object.object === 'payment_intent' && progress === 'tipped';
  return { currency, amount, total, fees, ...(isOpenIntent ? {} : { tip_amount }) };
}

function assertRefund({ sale, object }: FoundSums, where: string): void {
  const { currency, refund: amount, refundTaxes: taxes, atoms } = sale;
  if (currency !== null) assertFields(object.presentment as Fields, { currency, amount }, where);
  assertFields(object, { amount: atoms.refund }, where);
  assertKnown(object, { taxes }, where);
}

/** Asserts that each sum which the object has is the one of the sale. */
export function assertSums(found: FoundSums, where: string): void {
  const { kind, sale, object } = found;
  if (kind === 'refund') {
    assertRefund(found, where);
    return;
  }
  const price = priceOf(found);
  if (price !== null) assertFields(object.presentment as Fields, price, where);
  assertKnown(object, atomsOf(found), where);
  const { discount, taxes, taxesLeft } = sale;
  const ofLines = { discount, discount_rate: 1_000, discount_name: null };
  assertKnown(object, { ...ofLines, taxes, taxes_left: taxesLeft }, where);
}
