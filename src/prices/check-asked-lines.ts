import { type Refusal, refuse } from '#core/answer.ts';
import {
  discountable,
  fullPrice,
  type LineItem,
  percentOf,
  type SaleLines,
  salePrice,
} from '#prices/sale-lines.ts';

/** A discount, as requested: a sum in the units of the lines, or basis points. */
export type AskedDiscount = number | { readonly rate: number };

/** A line of a sale, as requested. */
export interface AskedLine extends Pick<LineItem, 'name' | 'quantity' | 'unit_amount'> {
  /** Basis points, or the name of a rate of the terminal's location or account. */
  readonly tax_rate: number | string;
  /** Default: the account's setting. */
  readonly tax_inclusive?: boolean;
  readonly discount?: AskedDiscount;
  readonly discount_name?: string | null;
  /** The id of a catalog item. */
  readonly item?: string | null;
}

export interface AskedLines {
  readonly lineItems: readonly AskedLine[];
  readonly discount: AskedDiscount;
  readonly discountName?: string | null;
}

/** Returns a catalog item that the account has or had in this mode. */
export type FindItem = (id: string) => { readonly category: string | null } | undefined;

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

/** Returns the catalog items that these lines name. */
export function itemsIn(lines: AskedLines | null): string[] {
  return lines === null ? [] : lines.lineItems.flatMap(({ item }) => item ?? []);
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

/** Returns a discount's sum, and its rate if it has one. `price` is what it is taken from. */
function discountFrom(input: AskedDiscount, price: bigint) {
  if (typeof input === 'number') return { sum: BigInt(input), rate: undefined };
  return { sum: percentOf(price, input.rate), rate: input.rate };
}

/** The optional fields of a line or sale, without those that are not set. */
function setOnly<T extends object>(fields: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  const set = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(set) as { [Name in keyof T]?: NonNullable<T[Name]> };
}

function readLine(
  line: AskedLine,
  { settings, findItem }: LineContext,
  param: string,
): LineItem | Refusal {
  const { name, quantity, unit_amount, tax_rate, tax_inclusive, discount: input = 0 } = line;
  const points = basisPointsOf(tax_rate, settings);
  if (points === null) return unknownTaxRate(`${param}.tax_rate`, tax_rate);
  const full = fullPrice({ quantity, unit_amount });
  const discount = discountFrom(input, full);
  if (full < 0n && input !== 0) {
    return invalid(`${param}.discount`, 'a line below 0 cannot have a discount.');
  }
  if (full >= 0n && discount.sum > full) {
    return invalid(
      `${param}.discount`,
      `the discount, ${discount.sum}, is more than the line, which is ${full}.`,
    );
  }
  const item = line.item == null ? null : findItem(line.item);
  if (item === undefined) {
    const message = `the account has no catalog item ${JSON.stringify(line.item)} in this mode.`;
    return invalid(`${param}.item`, message);
  }
  const isWithin = tax_inclusive ?? settings.prices_include_tax;
  return {
    ...{ name, quantity, unit_amount, tax_rate: points, tax_inclusive: isWithin },
    discount: Number(discount.sum),
    ...setOnly({
      discount_rate: discount.rate,
      discount_name: line.discount_name,
      item: line.item,
      category: item?.category,
    }),
  };
}

/**
 * Upper bound of the sum of a sale's lines before discounts, each without its sign. Lines below 0
 * and discounts by rate cancel out any sum, and with more than this, the sale's taxes and discounts
 * would not be exact JSON numbers.
 */
const MAX_SUM = 1_000_000_000_000_000n;

function sizeOf(lineItems: readonly LineItem[]): bigint {
  return lineItems.map(fullPrice).reduce((sum, full) => sum + (full < 0n ? -full : full), 0n);
}

/** The facts on which lines depend, besides the request. */
export interface LineContext {
  readonly settings: TaxSettings;
  readonly findItem: FindItem;
}

/**
 * Returns a sale's lines, completed from the account's settings. Their sum must equal the price, in
 * minor units of the shop's currency or in atoms.
 */
export function readLines(
  input: AskedLines,
  context: LineContext,
  price: number,
): SaleLines | Refusal {
  const lineItems: LineItem[] = [];
  for (const [index, one] of input.lineItems.entries()) {
    const line = readLine(one, context, `line_items.${index}`);
    if ('refused' in line) return line;
    lineItems.push(line);
  }
  if (sizeOf(lineItems) > MAX_SUM) {
    return invalid('line_items', `the lines, without signs, add up to more than ${MAX_SUM}.`);
  }
  const whole = discountable(lineItems);
  const { sum: discount, rate } = discountFrom(input.discount, whole);
  if (discount > whole) {
    return invalid(
      'discount',
      `the discount of ${discount} exceeds the sum of the lines above 0, ${whole}.`,
    );
  }
  const named = setOnly({ discountRate: rate, discountName: input.discountName });
  const lines = { lineItems, discount: Number(discount), ...named };
  const sum = salePrice(lines);
  if (sum === BigInt(price)) return lines;
  return invalid(
    'line_items',
    'the lines, less discounts and plus the tax that their prices do not include, add up ' +
      `to ${sum}, but the sale is ${price}. The two must be equal.`,
  );
}
