import type { Payment } from 'tapline';
import { type ListProperty, ToolRefusal } from './tool-definition.ts';

/** A part of a line that a refund returns. */
interface ReturnedLine {
  /** The index of the line in the sale. */
  readonly line: number;
  /** An integer, or decimal text. */
  readonly quantity: unknown;
}

type SoldLine = NonNullable<Payment['line_items']>[number];

const QUANTITY = /^(?![0.]+$)\d{1,12}(\.\d{1,3})?$/;
const THOUSAND = 1_000n;
/** 100 % in basis points. */
const RATE_WHOLE = 10_000n;

/** The argument that names lines of a sale. */
export const LINES: ListProperty = {
  type: 'array',
  description:
    'Parts of lines of the sale, in place of amount: [{"line": 0, "quantity": 1}]. `line` is the ' +
    'index in line_items of the payment, from 0 on; `quantity` an integer or text such as "0.350".',
  minItems: 1,
  items: {
    type: 'object',
    properties: { line: { type: 'integer' }, quantity: { type: ['integer', 'string'] } },
    required: ['line', 'quantity'],
    additionalProperties: false,
  },
};

/** Returns a quantity in thousandths. */
function thousandths(quantity: unknown): bigint {
  const [whole = '', decimals = ''] = String(quantity).split('.');
  return BigInt(whole + decimals.padEnd(3, '0'));
}

/** Returns the price of a line after its own discount, in thousandths of its unit. */
function priceOf({ quantity, unit_amount, discount }: SoldLine): bigint {
  return thousandths(quantity) * BigInt(unit_amount) - BigInt(discount) * THOUSAND;
}

function upFrom(value: bigint, by: bigint): bigint {
  return value <= 0n ? 0n : (value + by - 1n) / by;
}

/** Returns the parts in an argument. @throws ToolRefusal if they are not parts of the sale */
export function readLines({ id, line_items: sold }: Payment, text: string): ReturnedLine[] {
  if (sold === null) throw new ToolRefusal(`${id} has no line_items. Refund an amount.`);
  const seen = new Set<number>();
  return (JSON.parse(text) as unknown[]).map((part) => {
    const { line, quantity, ...others } = Object(part) as Partial<ReturnedLine>;
    const fits = ['string', 'number'].includes(typeof quantity) && QUANTITY.test(String(quantity));
    if (line === undefined || !fits || Object.keys(others).length > 0) {
      throw new ToolRefusal(`line_items is invalid: ${LINES.description}`);
    }
    const of = sold[line];
    if (of === undefined || seen.has(line)) {
      const which = `${id} has the lines 0 to ${sold.length - 1}`;
      throw new ToolRefusal(`line_items is invalid: ${which}. Name each at most once.`);
    }
    seen.add(line);
    if (thousandths(quantity) <= thousandths(of.quantity)) return { line, quantity };
    throw new ToolRefusal(`Only ${of.quantity} of line ${line} of ${id} was sold.`);
  });
}

/** Estimates the atoms of these parts, rounded up. The service decides the exact amount. */
export function estimateLines(payment: Payment, parts: readonly ReturnedLine[]): number {
  const { amount, presentment, line_items: sold, discount } = payment;
  const prices = (sold ?? []).map(priceOf);
  const above = prices.reduce((sum, price) => (price > 0n ? sum + price : sum), 0n);
  let value = 0n;
  for (const { line, quantity } of parts) {
    const [of, price = 0n] = [sold?.[line], prices[line]];
    if (of === undefined) continue;
    // The sale's discount is divided among the lines above 0.
    const off = price > 0n ? (price * BigInt(discount) * THOUSAND) / above : 0n;
    const rate = of.tax_inclusive ? 0n : BigInt(of.tax_rate);
    const taxed = ((price - off) * (RATE_WHOLE + rate)) / RATE_WHOLE;
    value += (taxed * thousandths(quantity)) / thousandths(of.quantity);
  }
  const units = upFrom(value, THOUSAND);
  if (presentment === null) return Number(units);
  const whole = BigInt(presentment.amount + presentment.tip_amount);
  return Number(upFrom(units * BigInt(amount), whole));
}
