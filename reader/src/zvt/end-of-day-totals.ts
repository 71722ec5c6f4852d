import { type DeviceApi, type DevicePayment, usdc } from '../device-api.ts';
import { centsOf, type Money, moneyText, numberOf, USD } from './price-of-amount.ts';
import type { Totals } from './reply-frames.ts';
import type { Closed } from './stored-results.ts';

interface Reading {
  readonly api: DeviceApi;
  readonly signal: AbortSignal;
}

/** Number of payments on a page of the network's list. */
const PAGE = 100;
/** Maximum number of pages of a report: ten thousand sales since the last end of day. */
const MOST_PAGES = 100;
/** Receipt numbers of registers have four digits. */
const RECEIPT_DIGITS = 4;

/** Yields this terminal's payments, newest first. */
export async function* paymentsFrom({ api, signal }: Reading): AsyncGenerator<DevicePayment> {
  let cursor: string | null = null;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await api.payments(`limit=${PAGE}${query}`, signal);
    yield* page.data;
    if (page.next_cursor === null) return;
    cursor = page.next_cursor;
  }
  throw new TooManyPaymentsError(`more than ${PAGE * MOST_PAGES} payments`);
}

/** Thrown because a sum over only some of the payments would be wrong. */
export class TooManyPaymentsError extends Error {}

/** Returns the last four digits of a receipt's number. */
export function shortNumber(receiptNumber: string): number {
  const [, number = '0'] = receiptNumber.split('-');
  return Number(number.slice(-RECEIPT_DIGITS));
}

/** Returns what is left of a sale for the register: price and tip, minus refunds. */
function leftOf({ presentment, amount, amount_refunded: back }: DevicePayment): Money {
  const number = presentment === null ? null : numberOf(presentment.currency);
  if (presentment === null || number === null) {
    return { amount: centsOf(amount - back), currency: USD };
  }
  const price = presentment.amount + (presentment.tip_amount ?? 0);
  const whole = BigInt(amount);
  // Rounds half up, because the refunded part was rounded down to atoms.
  const gone = (2n * BigInt(price) * BigInt(back) + whole) / (2n * whole);
  return { amount: price - Number(gone), currency: number };
}

/** Returns how a sale was paid, as the network's kind of credential, for the report. */
function methodOf({ payment_method: { type, credential } }: DevicePayment): string {
  return credential === null ? type : `${type} ${credential}`;
}

interface Sum extends Money {
  readonly count: number;
}

const NO_SALES = { count: 0, amount: 0 };

/**
 * Reads the sales since the last end of day, minus their refunds. The sum covers only sales in the
 * register's currency; the report lists all currencies and payment methods.
 */
export async function readTotals(
  reading: Reading,
  { since, currency }: { readonly since: Closed | null; readonly currency: number },
): Promise<Totals> {
  const at = new Date().toISOString();
  const begun = since ?? startOfDay(new Date());
  const sums = new Map<string, Sum>();
  const receipts: number[] = [];
  let newest: DevicePayment | null = null;
  for await (const payment of paymentsFrom(reading)) {
    if (payment.id === begun.payment || payment.created < begun.created) break;
    newest ??= payment;
    const left = leftOf(payment);
    receipts.push(shortNumber(payment.receipt_number));
    if (left.amount === 0) continue;
    for (const name of [TOTAL, methodOf(payment)]) add(sums, name, left);
  }
  const { total } = await reading.api.totals(begun.at, reading.signal);
  const own = sums.get(keyOf(TOTAL, currency)) ?? NO_SALES;
  return {
    closes:
      newest === null ? { ...begun, at } : { created: newest.created, payment: newest.id, at },
    count: own.count,
    money: { amount: own.amount, currency },
    firstReceipt: receipts.at(-1) ?? 0,
    lastReceipt: receipts[0] ?? 0,
    lines: [
      'END OF DAY',
      `${begun.at.slice(0, 16)}`,
      `${at.slice(0, 16)} UTC`,
      ...[...sums].flatMap(([key, sum]) => [
        `${sum.count} x ${key.split(' in ')[0]}`,
        `    ${moneyText(sum)}`,
      ]),
      `Refunds: ${total.refunds}, ${usdc(total.refunded)} USDC`,
    ],
  };
}

const TOTAL = 'TOTAL';

/** Returns the start of the first end-of-day report: midnight by the reader's clock. */
function startOfDay(now: Date): Closed {
  const at = new Date(now.getFullYear(), now.getMonth(), now.getDate()).toISOString();
  return { created: at, payment: null, at };
}

function keyOf(name: string, currency: number): string {
  return `${name} in ${currency}`;
}

function add(sums: Map<string, Sum>, name: string, { amount, currency }: Money): void {
  const key = keyOf(name, currency);
  const sum = sums.get(key) ?? NO_SALES;
  sums.set(key, { currency, count: sum.count + 1, amount: sum.amount + amount });
}
