import type { ReceiptLine } from '#apis/pay/receipt-slip.ts';
import { localDecimal } from '#core/sums.ts';
import type { Fiscal } from '#fiscal/fiscal-queries.ts';
import { named } from '#i18n/bidi-isolates.ts';
import type { TextKey, Writer } from '#i18n/text.ts';
import type { MerchantOnReceipt } from '#payments/receipt-queries.ts';
import { fullPrice, type LineItem, type RateTax } from '#prices/sale-lines.ts';

export interface ShownSale {
  /** `null` for a sale in USDC. */
  readonly presentment: { readonly currency: string } | null;
  readonly line_items: readonly LineItem[] | null;
  readonly discount: number;
  readonly discount_name: string | null;
  readonly taxes: readonly RateTax[];
}

/**
 * Returns a function that formats sums of a sale. They are in minor units of its currency,
 * otherwise in atoms.
 */
export function sumWriter(
  { presentment }: Pick<ShownSale, 'presentment'>,
  { money, usdc }: Writer,
): (sum: number) => string {
  return presentment === null
    ? (sum) => usdc(BigInt(sum))
    : (sum) => money(sum, presentment.currency);
}

/** The fields of a line that its detail shows. */
type Detailed = Pick<LineItem, 'quantity' | 'unit_amount' | 'tax_rate' | 'tax_inclusive'>;

function detailOf(item: Detailed, sum: (value: number) => string, writer: Writer): string {
  const { quantity, unit_amount, tax_rate, tax_inclusive } = item;
  return writer.isolated(tax_inclusive ? 'receipt.line.with_tax' : 'receipt.line.plus_tax', {
    quantity: localDecimal(String(quantity), writer.locale, {}),
    price: sum(unit_amount),
    rate: writer.percent(tax_rate),
  });
}

/** Returns the line of a discount, with its name if it has one. */
function discountLine(
  key: TextKey,
  { discount, discount_name }: Pick<LineItem, 'discount' | 'discount_name'>,
  { sum, writer }: { readonly sum: (value: number) => string; readonly writer: Writer },
): ReceiptLine {
  const name = discount_name ?? writer.text(key);
  return { name, value: sum(-discount), ...(discount_name != null && { isNamed: true }) };
}

/** Returns the lines that a refund gives back; empty for a refund of a sum. */
export function returnedItems(
  refund: Pick<ShownSale, 'presentment'> & {
    readonly line_items:
      | readonly (Detailed & { readonly name: string; readonly amount: number })[]
      | null;
  },
  writer: Writer,
): ReceiptLine[] {
  const sum = sumWriter(refund, writer);
  return (refund.line_items ?? []).map((line) => {
    const also = detailOf(line, sum, writer);
    return { name: line.name, value: sum(line.amount), also, isNamed: true };
  });
}

function itemLines(item: LineItem, sum: (value: number) => string, writer: Writer): ReceiptLine[] {
  const line = {
    name: item.name,
    value: sum(Number(fullPrice(item))),
    also: detailOf(item, sum, writer),
    isNamed: true,
  };
  if (item.discount === 0) return [line];
  return [line, discountLine('receipt.discount', item, { sum, writer })];
}

/**
 * Returns the lines of a sale with their prices and discounts; empty if the sale has only an
 * amount.
 */
export function itemsOf(sale: ShownSale, writer: Writer): ReceiptLine[] {
  const { line_items: items, discount } = sale;
  if (items === null) return [];
  const sum = sumWriter(sale, writer);
  const lines = items.flatMap((item) => itemLines(item, sum, writer));
  if (discount === 0) return lines;
  return [...lines, discountLine('receipt.sale_discount', sale, { sum, writer })];
}

/** Returns the lines of the tax table: one per rate. */
export function taxesOf(
  sale: Pick<ShownSale, 'presentment' | 'taxes'>,
  writer: Writer,
): ReceiptLine[] {
  const sum = sumWriter(sale, writer);
  return sale.taxes.map(({ rate, net, tax, gross }) => ({
    name: writer.text('receipt.tax', { rate: writer.percent(rate) }),
    value: sum(tax),
    also: writer.isolated('receipt.tax_of', { net: sum(net), gross: sum(gross) }),
  }));
}

/** Returns the fiscal signer's answer as lines; empty if the sale was not sent to a signer. */
export function fiscalLines(fiscal: Fiscal | null, { text }: Writer): ReceiptLine[] {
  if (fiscal === null) return [];
  const name = text('receipt.fiscal');
  const { signature, text: said } = fiscal;
  if (signature === null) return [{ name, value: text('receipt.not_signed'), isWords: true }];
  const paragraphs = (said ?? '').split('\n').filter((line) => line.trim() !== '');
  return [
    ...paragraphs.map((value, at) => ({ name: at === 0 ? name : '', value })),
    { name: text('receipt.signature'), value: signature, isCode: true },
  ];
}

/**
 * Returns the seller's legal name and address, the sale's location, and the tax number. Receipts
 * show them below the name that customers know.
 */
export function sellerOf(merchant: MerchantOnReceipt, { isolated }: Writer): string[] {
  const { legal_name, address, tax_number, location } = merchant;
  const number = tax_number ? isolated('receipt.tax_number', { number: tax_number }) : null;
  const lines = location && [location.name, location.address].filter((line) => line !== address);
  const given = [legal_name, address, ...(lines ?? [])].flatMap((line) =>
    line ? [named(line)] : [],
  );
  return number === null ? given : [...given, number];
}
