import { type Refusal, refuse } from '#core/answer.ts';
import {
  fullPrice,
  type LineItem,
  linePrice,
  type SaleLines,
  salePrice,
} from '#prices/sale-lines.ts';

export interface AskedLine extends Pick<LineItem, 'name' | 'quantity' | 'unit_amount'> {
  /** Basis points, or the name of a rate of the terminal's location or account. */
  readonly tax_rate: number | string;
  /** Default: the account's setting. */
  readonly tax_inclusive?: boolean;
  readonly discount?: number;
}

export interface AskedLines {
  readonly lineItems: readonly AskedLine[];
  readonly discount: number;
}

type NamedRates = readonly { readonly name: string; readonly rate: number }[];

export interface TaxSettings {
  readonly tax_rates: NamedRates;
  readonly prices_include_tax: boolean;
}

/** True if these lines depend on the account's tax settings. */
export function needTaxSettings({ lineItems }: AskedLines): boolean {
  return lineItems.some(({ tax_rate: rate, tax_inclusive: isWithin }) => {
    return typeof rate === 'string' || isWithin === undefined;
  });
}

/** Returns a rate's basis points; `null` if the account has no rate with that name. */
export function basisPointsOf(rate: number | string, settings: TaxSettings): number | null {
  if (typeof rate === 'number') return rate;
  return settings.tax_rates.find(({ name }) => name === rate)?.rate ?? null;
}

/**
 * Returns an account's rate as it applies at a location: the location's rate with the same name.
 * The rate stays the same if it has no name, or if its names have several different rates there.
 */
export function rateAt(
  rate: number,
  { account, local }: { readonly account: NamedRates; readonly local: NamedRates },
): number {
  const names = account.flatMap((one) => (one.rate === rate ? [one.name] : []));
  const rates = new Set(local.flatMap((one) => (names.includes(one.name) ? [one.rate] : [])));
  const [only = rate] = rates;
  return rates.size === 1 ? only : rate;
}

function invalid(param: string, message: string): Refusal {
  return refuse('parameter_invalid', `${param}: ${message}`, param);
}

export function unknownTaxRate(param: string, rate: number | string): Refusal {
  return invalid(
    param,
    `there is no tax rate named ${JSON.stringify(rate)}. Send the rate in basis points, or ` +
      "a name from the tax_rates of the account (or of the terminal's location, if it has " +
      'its own).',
  );
}

function readLine(
  { name, quantity, unit_amount, tax_rate, tax_inclusive, discount = 0 }: AskedLine,
  settings: TaxSettings,
  param: string,
): LineItem | Refusal {
  const points = basisPointsOf(tax_rate, settings);
  if (points === null) return unknownTaxRate(`${param}.tax_rate`, tax_rate);
  const full = fullPrice({ quantity, unit_amount });
  if (BigInt(discount) > full) {
    return invalid(
      `${param}.discount`,
      `the discount, ${discount}, is more than the line, which is ${full}.`,
    );
  }
  const isWithin = tax_inclusive ?? settings.prices_include_tax;
  return { name, quantity, unit_amount, tax_rate: points, tax_inclusive: isWithin, discount };
}

/**
 * Returns a sale's lines, completed from the account's settings. Their sum must equal the price, in
 * minor units of the shop's currency or in atoms.
 */
export function readLines(
  input: AskedLines,
  settings: TaxSettings,
  price: number,
): SaleLines | Refusal {
  const lineItems: LineItem[] = [];
  for (const [index, one] of input.lineItems.entries()) {
    const line = readLine(one, settings, `line_items.${index}`);
    if ('refused' in line) return line;
    lineItems.push(line);
  }
  const { discount } = input;
  const whole = lineItems.reduce((sum, line) => sum + linePrice(line), 0n);
  if (BigInt(discount) > whole) {
    return invalid(
      'discount',
      `the discount of ${discount} exceeds the sum of the lines, ${whole}.`,
    );
  }
  const lines = { lineItems, discount };
  const sum = salePrice(lines);
  if (sum === BigInt(price)) return lines;
  return invalid(
    'line_items',
    'the lines, less discounts and plus the tax that their prices do not include, add up ' +
      `to ${sum}, but the sale is ${price}. The two must be equal.`,
  );
}
