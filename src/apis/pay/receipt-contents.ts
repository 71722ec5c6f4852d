import type { ShownReceipt } from '#apis/pay/receipt-data-route.ts';
import { fiscalLines, itemsOf, sellerOf, sumWriter, taxesOf } from '#apis/pay/receipt-items.ts';
import type { ReceiptLine, Slip } from '#apis/pay/receipt-slip.ts';
import { headlineUsdc } from '#core/money.ts';
import { named } from '#i18n/bidi-isolates.ts';
import { type TextKey, type Writer, writerFor } from '#i18n/text.ts';

const METHODS: Readonly<Record<string, TextKey>> = {
  wallet_pass: 'receipt.method.wallet_pass',
  agent_token: 'receipt.method.agent_token',
  wallet: 'receipt.method.wallet',
};

/** Formats atoms as `6.78 USDC`. Rounds to cents, because people remember amounts that way. */
export function headlineOf(atoms: number, { locale }: Writer): string {
  return `${headlineUsdc(BigInt(atoms), locale)} USDC`;
}

function bothSums(name: string, { shown, usdc }: { shown: string | null; usdc: string }) {
  return shown === null ? { name, value: usdc } : { name, value: shown, also: named(usdc) };
}

function refundLine(
  refund: ShownReceipt['refunds'][number],
  receipt: ShownReceipt,
  writer: Writer,
) {
  const { status, amount, presentment, created, receipt_number } = refund;
  const key = status === 'pending' ? 'receipt.refund_pending' : 'receipt.refunded';
  const sum = presentment && writer.money(presentment.amount, presentment.currency);
  const parts = [sum, receipt_number].flatMap((part) => (part === null ? [] : [named(part)]));
  const also = [...parts, writer.time(created, receipt.time_zone)].join(', ');
  return { name: writer.text(key), value: writer.usdc(BigInt(amount)), also };
}

/** Returns the lines that explain the amount that left the wallet, and the refunds. */
function amountLines(receipt: ShownReceipt, writer: Writer): ReceiptLine[] {
  const { sale, tip, fees, paid, refunds, amount_refunded, presentment } = receipt;
  const { text, usdc } = writer;
  const network = fees.acquirer + fees.protocol;
  const sum = presentment === null ? () => null : sumWriter(receipt, writer);
  const line = (key: TextKey, atoms: number) => ({
    name: text(key),
    value: usdc(BigInt(atoms)),
  });
  const both = (key: TextKey, atoms: number, minor: number) =>
    bothSums(text(key), { shown: sum(minor), usdc: usdc(BigInt(atoms)) });
  const lines: ReceiptLine[] = [both('receipt.sale', sale, presentment?.amount ?? 0)];
  if (tip > 0) lines.push(both('receipt.tip', tip, presentment?.tip_amount ?? 0));
  if (network > 0) lines.push(line('receipt.network_fees', network));
  if (fees.cashback > 0) lines.push(line('receipt.cashback', -fees.cashback));
  lines.push({ ...line('receipt.paid', paid), isTotal: true });
  for (const refund of refunds) lines.push(refundLine(refund, receipt, writer));
  if (refunds.length > 1) lines.push(line('receipt.refunded_total', amount_refunded));
  return lines;
}

/** Returns the exchange rate that was fixed for the sale, as in `1 EUR = 1.0854 USDC`. */
function rateLines(
  { presentment, time_zone }: ShownReceipt,
  { text, time }: Writer,
): ReceiptLine[] {
  if (presentment === null) return [];
  const { currency, rate, quoted_at, source } = presentment;
  const value = `1 ${currency.toUpperCase()} = ${rate} USDC`;
  const also = `${time(quoted_at, time_zone)}, ${named(source)}`;
  return [{ name: text('receipt.rate'), value, also }];
}

function factLines(receipt: ShownReceipt, writer: Writer): ReceiptLine[] {
  const { text, time } = writer;
  const { settled_at, time_zone, order_id, description, payment_method, payer } = receipt;
  const { receipt_number, accepted_offline_at } = receipt;
  const lines: ReceiptLine[] = [];
  if (receipt_number !== null) {
    lines.push({ name: text('receipt.number'), value: receipt_number });
  }
  if (accepted_offline_at !== null) {
    lines.push({
      name: text('receipt.accepted_offline'),
      value: time(accepted_offline_at, time_zone),
      isWords: true,
    });
  }
  lines.push({
    name: text('receipt.paid_at'),
    value: time(settled_at, time_zone),
    isWords: true,
  });
  lines.push({ name: text('receipt.order'), value: order_id });
  if (description) lines.push({ name: text('receipt.for'), value: description });
  const method = METHODS[payment_method.type];
  if (method !== undefined) {
    lines.push({
      name: text('receipt.paid_with'),
      value: text(method),
      isWords: true,
    });
  }
  lines.push({ name: text('receipt.payer'), value: payer });
  return [...lines, ...rateLines(receipt, writer)];
}

function chainLines({ proof }: ShownReceipt, { text, isolated }: Writer): ReceiptLine[] {
  const { tx_hash: value, explorer_url: href, block_number, event, log_index } = proof;
  const entry = isolated('receipt.chain.event_value', {
    event,
    entry: String(log_index),
  });
  return [
    {
      name: text('receipt.chain.transaction'),
      value,
      isCode: true,
      isPrinted: true,
      href,
    },
    { name: text('receipt.chain.block'), value: String(block_number) },
    { name: text('receipt.chain.event'), value: entry, isWords: true },
    { name: text('receipt.chain.number'), value: String(proof.number) },
    {
      name: text('receipt.chain.contract'),
      value: proof.settlement,
      isCode: true,
    },
    {
      name: text('receipt.chain.chain'),
      value: String(proof.chain_id),
      isPrinted: true,
    },
  ];
}

/**
 * Returns the refunded state as text; `null` if nothing was refunded. Pending refunds do not count,
 * because they may still fail.
 */
function stateOf({ sale, tip, refunds }: ShownReceipt, { text }: Writer): Slip['state'] {
  const back = refunds.reduce((sum, one) => sum + (one.status === 'succeeded' ? one.amount : 0), 0);
  if (back === 0) return null;
  return text(back >= sale + tip ? 'receipt.state.refunded' : 'receipt.state.partly_refunded');
}

/** Returns sale and tip together in the shop's currency; `null` for a sale in USDC. */
function shopSum({ presentment }: ShownReceipt, { money }: Writer): string | null {
  if (presentment === null) return null;
  return money(presentment.amount + presentment.tip_amount, presentment.currency);
}

export function slipOf(receipt: ShownReceipt, writer = writerFor('en')): Slip {
  const inShop = shopSum(receipt, writer);
  const inUsdc = headlineOf(receipt.paid, writer);
  return {
    writer,
    kind: writer.text('receipt.kind.receipt'),
    merchantName: receipt.merchant.name,
    seller: sellerOf(receipt.merchant, writer),
    livemode: receipt.livemode,
    state: stateOf(receipt, writer),
    headline: inShop ?? inUsdc,
    headlineAlso: inShop === null ? null : inUsdc,
    fiscal: fiscalLines(receipt.fiscal, writer),
    items: itemsOf(receipt, writer),
    taxes: taxesOf(receipt, writer),
    amounts: amountLines(receipt, writer),
    facts: factLines(receipt, writer),
    chain: chainLines(receipt, writer),
    document: receipt,
    isCheckable: true,
  };
}
