import { assert } from '#core/assert.ts';
import { methodOf, type Payment, paymentTaxes } from '#payments/payment.ts';
import {
  type LineItem,
  lineValues,
  quantityText,
  type RateTax,
  thousandths,
} from '#prices/sale-lines.ts';
import type { Refund } from '#refunds/refund.ts';

/**
 * Adds up the booked rows of a shift's report. Sums are in minor units of the sale's currency, or
 * in atoms for a sale in USDC, and only add stored figures.
 */

export type SaleFigures = Pick<
  Payment,
  | 'id'
  | 'amount'
  | 'tip'
  | 'presentment'
  | 'lines'
  | 'taxes'
  | 'cashier_id'
  | 'credential_type'
  | 'receipt_number'
>;

export type RefundFigures = Pick<
  Refund,
  'id' | 'amount' | 'presentment' | 'taxes' | 'cashier_id' | 'receipt_number'
>;

/** `-1n` subtracts a row that the chain no longer contains. */
export type Sign = 1n | -1n;

interface Tax {
  net: bigint;
  tax: bigint;
  gross: bigint;
}

interface Figures {
  count: bigint;
  sales: bigint;
  tips: bigint;
  discounts: bigint;
  refunds: bigint;
  refunded: bigint;
  /** What the sales brought, with tips and before refunds. */
  atoms: bigint;
  readonly taxes: Map<number, Tax>;
  readonly refundedTaxes: Map<number, Tax>;
}

/** Figures by currency; `usdc` for sales in USDC. */
export type FiguresByCurrency = Map<string, Figures>;

interface Method {
  readonly type: string;
  readonly credential: string;
  readonly currency: string;
  count: bigint;
  gross: bigint;
}

interface Item {
  readonly item: string | null;
  readonly name: string;
  readonly category: string | null;
  readonly currency: string;
  /** In thousandths. */
  quantity: bigint;
  gross: bigint;
}

const USDC = 'usdc';

/** The sums of a report while rows are added. */
export interface Tally {
  readonly figures: FiguresByCurrency;
  readonly cashiers: Map<string | null, FiguresByCurrency>;
  readonly methods: Map<string, Method>;
  readonly items: Map<string, Item>;
  offline: number;
  declines: number;
  firstReceipt: string | null;
  lastReceipt: string | null;
  firstRefundReceipt: string | null;
  lastRefundReceipt: string | null;
}

export function emptyTally(): Tally {
  return {
    figures: new Map(),
    cashiers: new Map(),
    methods: new Map(),
    items: new Map(),
    ...{ offline: 0, declines: 0, firstReceipt: null, lastReceipt: null },
    ...{ firstRefundReceipt: null, lastRefundReceipt: null },
  };
}

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function figuresIn(figures: FiguresByCurrency, currency: string): Figures {
  return entryOf(figures, currency, () => ({
    ...{ count: 0n, sales: 0n, tips: 0n, discounts: 0n, refunds: 0n, refunded: 0n, atoms: 0n },
    ...{ taxes: new Map(), refundedTaxes: new Map() },
  }));
}

function addTaxes(sums: Map<number, Tax>, taxes: readonly RateTax[], sign: Sign): void {
  for (const { rate, net, tax, gross } of taxes) {
    const sum = entryOf(sums, rate, () => ({ net: 0n, tax: 0n, gross: 0n }));
    sum.net += sign * BigInt(net);
    sum.tax += sign * BigInt(tax);
    sum.gross += sign * BigInt(gross);
  }
}

/** Returns the sale without its tip, and the tip, in the unit of the sale. */
function sumsOf({ presentment, amount, tip }: SaleFigures) {
  if (presentment === null) return { currency: USDC, sale: amount - tip, tip };
  const { currency, amount: sale, tipAmount } = presentment;
  return { currency, sale: BigInt(sale), tip: BigInt(tipAmount) };
}

function discountsOf({ lines }: SaleFigures): bigint {
  if (lines === null) return 0n;
  const ofLines = lines.lineItems.reduce((sum, { discount }) => sum + discount, 0);
  return BigInt(ofLines + lines.discount);
}

export function addSale(figures: FiguresByCurrency, sale: SaleFigures, sign: Sign): void {
  const sums = sumsOf(sale);
  const own = figuresIn(figures, sums.currency);
  own.count += sign;
  own.sales += sign * sums.sale;
  own.tips += sign * sums.tip;
  own.discounts += sign * discountsOf(sale);
  own.atoms += sign * sale.amount;
  addTaxes(own.taxes, paymentTaxes(sale) ?? [], sign);
}

export function addRefund(figures: FiguresByCurrency, refund: RefundFigures, sign: Sign): void {
  const { presentment, amount, taxes } = refund;
  const own = figuresIn(figures, presentment?.currency ?? USDC);
  own.refunds += sign;
  own.refunded += sign * BigInt(presentment?.amount ?? amount);
  addTaxes(own.refundedTaxes, taxes ?? [], sign);
}

function addItem(items: Tally['items'], line: LineItem, sold: { currency: string; value: bigint }) {
  const { name, item = null, category = null } = line;
  const { currency, value } = sold;
  const key = JSON.stringify([item, name, category, currency]);
  const own = entryOf(items, key, () => {
    return { item, name, category, currency, quantity: 0n, gross: 0n };
  });
  own.quantity += thousandths(line.quantity);
  own.gross += value;
}

/** Adds a sale to the report. Call it in the order in which the sales were booked. */
export function tallySale(tally: Tally, sale: SaleFigures & { readonly is_offline: boolean }) {
  addSale(tally.figures, sale, 1n);
  addSale(
    entryOf(tally.cashiers, sale.cashier_id, () => new Map()),
    sale,
    1n,
  );
  const { currency, sale: price, tip } = sumsOf(sale);
  const { type, credential } = methodOf(sale.credential_type);
  const method = entryOf(tally.methods, `${type} ${credential} ${currency}`, () => {
    return { type, credential, currency, count: 0n, gross: 0n };
  });
  method.count += 1n;
  method.gross += price + tip;
  if (sale.lines !== null) {
    const values = lineValues(sale.lines);
    sale.lines.lineItems.forEach((line, index) => {
      addItem(tally.items, line, { currency, value: values[index] ?? 0n });
    });
  }
  if (sale.is_offline) tally.offline++;
  tally.firstReceipt ??= sale.receipt_number;
  tally.lastReceipt = sale.receipt_number ?? tally.lastReceipt;
}

export function tallyRefund(tally: Tally, refund: RefundFigures): void {
  addRefund(tally.figures, refund, 1n);
  addRefund(
    entryOf(tally.cashiers, refund.cashier_id, () => new Map()),
    refund,
    1n,
  );
  tally.firstRefundReceipt ??= refund.receipt_number;
  tally.lastRefundReceipt = refund.receipt_number ?? tally.lastRefundReceipt;
}

function toNumber(sum: bigint): number {
  const value = Number(sum);
  assert(Number.isSafeInteger(value), 'a sum of a shift does not fit a JSON integer');
  return value;
}

function taxesView(taxes: ReadonlyMap<number, Tax>) {
  return [...taxes]
    .sort(([one], [other]) => one - other)
    .map(([rate, { net, tax, gross }]) => {
      return { rate, net: toNumber(net), tax: toNumber(tax), gross: toNumber(gross) };
    });
}

export function figuresView(figures: FiguresByCurrency) {
  return [...figures]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([currency, own]) => ({
      currency,
      count: toNumber(own.count),
      sales: toNumber(own.sales),
      tips: toNumber(own.tips),
      discounts: toNumber(own.discounts),
      refunds: toNumber(own.refunds),
      refunded: toNumber(own.refunded),
      taxes: taxesView(own.taxes),
      refunded_taxes: taxesView(own.refundedTaxes).filter(({ gross }) => gross !== 0),
      atoms: toNumber(own.atoms),
    }));
}

function byText<Row>(textOf: (row: Row) => string) {
  return (one: Row, other: Row) => (textOf(one) < textOf(other) ? -1 : 1);
}

export function tallyView(tally: Tally, nameOf: (id: string) => string | null) {
  const cashiers = [...tally.cashiers].map(([cashier, figures]) => {
    const name = cashier === null ? null : nameOf(cashier);
    return { cashier, name, figures: figuresView(figures) };
  });
  const methods = [...tally.methods.values()].map(({ count, gross, ...method }) => {
    return { ...method, count: toNumber(count), gross: toNumber(gross) };
  });
  const items = [...tally.items.values()].map(({ quantity, gross, ...item }) => {
    return { ...item, quantity: quantityText(quantity), gross: toNumber(gross) };
  });
  return {
    cashiers: cashiers.sort(byText(({ cashier, name }) => `${name ?? '\uffff'} ${cashier}`)),
    figures: figuresView(tally.figures),
    methods: methods.sort(byText(({ type, credential, currency }) => type + credential + currency)),
    items: items.sort(byText(({ name, category, currency }) => name + category + currency)),
    offline: tally.offline,
    declines: tally.declines,
    first_receipt: tally.firstReceipt,
    last_receipt: tally.lastReceipt,
    first_refund_receipt: tally.firstRefundReceipt,
    last_refund_receipt: tally.lastRefundReceipt,
  };
}
