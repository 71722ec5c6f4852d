import { type Refusal, refuse } from '#core/answer.ts';
import { type EarlierPart, type LeftOver, taxesOfParts } from '#prices/refund-taxes.ts';
import {
  floorOf,
  type LineItem,
  lineValues,
  type RateTax,
  type SaleLines,
  thousandths,
} from '#prices/sale-lines.ts';

/** A part of a line, as requested. */
export interface AskedPart {
  /** The index of the line in the sale. */
  readonly line: number;
  readonly quantity: LineItem['quantity'];
}

/** A returned part of a line, as stored. */
export interface ReturnedPart extends AskedPart {
  /** In minor units of the sale's currency, or in atoms. */
  readonly amount: number;
}

/** A refund that has not failed, with the lines that it returned; `null` if it returned a sum. */
export interface EarlierRefund extends EarlierPart {
  readonly lineItems: readonly ReturnedPart[] | null;
}

/** A refund by line. */
export interface Returned {
  readonly lineItems: readonly ReturnedPart[];
  readonly taxes: readonly RateTax[];
  readonly amount: bigint;
}

/** Returns the lines of the sale that a refund by line gives back, as receipts show them. */
export function renderReturned({ lineItems }: SaleLines, parts: readonly ReturnedPart[]) {
  return parts.flatMap(({ line, quantity, amount }) => {
    const sold = lineItems[line];
    if (sold === undefined) return [];
    const { name, unit_amount, tax_rate, tax_inclusive } = sold;
    return [{ line, name, quantity, unit_amount, tax_rate, tax_inclusive, amount }];
  });
}

const PARAM = 'line_items';

function tooLarge(message: string, param = PARAM): Refusal {
  return refuse('amount_too_large', message, param);
}

function invalid(message: string, param = PARAM): Refusal {
  return refuse('parameter_invalid', `${param}: ${message}`, param);
}

/** What earlier refunds returned of a line. */
function givenOf(line: number, earlier: readonly EarlierRefund[]) {
  let [quantity, amount] = [0n, 0n];
  for (const part of earlier.flatMap(({ lineItems }) => lineItems ?? [])) {
    if (part.line !== line) continue;
    quantity += thousandths(part.quantity);
    amount += BigInt(part.amount);
  }
  return { quantity, amount };
}

interface Part {
  readonly asked: AskedPart;
  readonly rate: number;
  readonly amount: bigint;
}

/**
 * Returns the values of these parts: of a line, the floor of its value × quantity so far ÷ its
 * quantity, less what earlier refunds returned of it. The part that completes the line is what is
 * left.
 */
function valuesOf(
  sale: SaleLines,
  asked: readonly AskedPart[],
  earlier: readonly EarlierRefund[],
): Part[] | Refusal {
  const values = lineValues(sale);
  const parts: Part[] = [];
  for (const [index, one] of asked.entries()) {
    const param = `${PARAM}.${index}.line`;
    const line = sale.lineItems[one.line];
    const value = values[one.line];
    if (line === undefined || value === undefined) {
      return invalid(`the sale has ${values.length} lines, from line 0 on.`, param);
    }
    if (parts.some(({ asked: { line: other } }) => other === one.line)) {
      return invalid(`line ${one.line} is named twice. Send it once, with the sum.`, param);
    }
    const whole = thousandths(line.quantity);
    const given = givenOf(one.line, earlier);
    const upTo = given.quantity + thousandths(one.quantity);
    if (upTo > whole) {
      const message = `More of line ${one.line} was requested than is left of it.`;
      return tooLarge(message, `${PARAM}.${index}.quantity`);
    }
    const amount = (upTo === whole ? value : floorOf(value * upTo, whole)) - given.amount;
    parts.push({ asked: one, rate: line.tax_rate, amount });
  }
  return parts;
}

function sumAt(parts: readonly Part[], rate: number): bigint {
  return parts.reduce((sum, part) => (part.rate === rate ? sum + part.amount : sum), 0n);
}

/** Limits the parts of each rate to what a refund of a sum has left of it. */
function within(parts: readonly Part[], { rates }: LeftOver): Part[] | Refusal {
  let limited = [...parts];
  for (const { rate, gross } of rates) {
    const left = gross > 0n ? gross : 0n;
    let excess = sumAt(parts, rate) - left;
    if (excess <= 0n) continue;
    if (left === 0n) {
      return tooLarge('Refunds of sums have left nothing of the lines with this tax rate.');
    }
    limited = limited.map((part) => {
      if (part.rate !== rate || part.amount <= 0n) return part;
      const less = excess < part.amount ? excess : part.amount;
      excess -= less;
      return { ...part, amount: part.amount - less };
    });
  }
  return limited;
}

/** Estimates the sum of these parts, whatever earlier refunds have returned. */
export function estimateParts(sale: SaleLines | null, asked: readonly AskedPart[]): bigint {
  const values = sale === null ? [] : lineValues(sale);
  const sum = asked.reduce((total, { line, quantity }) => {
    const [value = 0n, sold] = [values[line], sale?.lineItems[line]];
    if (sold === undefined) return total;
    return total + (value * thousandths(quantity)) / thousandths(sold.quantity);
  }, 0n);
  return sum > 0n ? sum : 0n;
}

/** Decides a refund of parts of lines. `left` is what the earlier refunds left of the payment. */
export function returnLines(
  sale: SaleLines,
  asked: readonly AskedPart[],
  { earlier, left }: { readonly earlier: readonly EarlierRefund[]; readonly left: LeftOver },
): Returned | Refusal {
  const values = valuesOf(sale, asked, earlier);
  if ('refused' in values) return values;
  const isAfterSum = earlier.some(({ lineItems }) => lineItems === null);
  const parts = isAfterSum ? within(values, left) : values;
  if ('refused' in parts) return parts;
  const amount = parts.reduce((sum, part) => sum + part.amount, 0n);
  if (amount <= 0n) return invalid(`the sum of these lines is ${amount}. It must be above 0.`);
  if (amount > left.all) {
    return tooLarge(`These lines are ${amount}, but only ${left.all} is left to refund.`);
  }
  const rates = new Map(parts.map(({ rate }) => [rate, sumAt(parts, rate)]));
  return {
    amount,
    taxes: taxesOfParts(left, rates),
    lineItems: parts.map(({ asked: { line, quantity }, amount: own }) => {
      return { line, quantity, amount: Number(own) };
    }),
  };
}
