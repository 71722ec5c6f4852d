import type { ShownReceipt } from '#apis/pay/receipt-data-route.ts';
import { fiscalLines, itemsOf, sellerOf, sumWriter, taxesOf } from '#apis/pay/receipt-items.ts';
import type { ReceiptLine, Slip } from '#apis/pay/receipt-slip.ts';

import { named } from '#i18n/bidi-isolates.ts';
import { type TextKey, type Writer, writerFor } from '#i18n/text.ts';

const METHODS: Readonly<Record<string, TextKey>> = {
  wallet_pass: 'receipt.method.wallet_pass',
  agent_token: 'receipt.method.agent_token',
  wallet: 'receipt.method.wallet',
};

/**
 * Returns the line below a total in the shop's currency: its value in USDC, and the rate. Undefined
 * for a sale in USDC.
 */
export function usdcDetail(
  atoms: number,
  presentment: { readonly currency: string; readonly rate: string } | null,
  { usdc, rate }: Writer,
): { readonly also?: string } {
  if (presentment === null) return {};
  return { also: `${named(usdc(BigInt(atoms)))} · ${named(rate(presentment))}` };
}

/** Returns a refund in the currency of its sale, and below it what it returned in USDC. */
function refundLine(
  refund: ShownReceipt['refunds'][number],
  receipt: ShownReceipt,
  writer: Writer,
) {
  const { status, amount, presentment, created, receipt_number } = refund;
  const key = status === 'pending' ? 'receipt.refund_pending' : 'receipt.refunded';
  const usdc = writer.usdc(BigInt(amount));
  const inShop = presentment && writer.money(presentment.amount, presentment.currency);
  const parts = [inShop && usdc, receipt_number].flatMap((part) => (part ? [named(part)] : []));
  const also = [...parts, writer.time(created, receipt.time_zone)].join(', ');
  return { name: writer.text(key), value: inShop ?? usdc, also };
}

/** Returns the sums of a sale, in minor units of its currency or in atoms. */
function sumsOf({ sale, tip, paid, presentment }: ShownReceipt) {
  if (presentment === null) {
    const total = Math.max(sale + tip, paid);
    return { price: sale, tip, fees: total - sale - tip, total };
  }
  const { amount, tip_amount, fees, total } = presentment;
  return { price: amount, tip: tip_amount, fees, total };
}

/** Returns the sum of the refunds in the unit of the sale; `null` if not all have a price. */
function refundedSum({ presentment, refunds, amount_refunded }: ShownReceipt): number | null {
  if (presentment === null) return amount_refunded;
  if (refunds.some((refund) => refund.presentment === null)) return null;
  return refunds.reduce((sum, refund) => sum + (refund.presentment?.amount ?? 0), 0);
}

/** Returns the lines that explain what the payer paid, and the refunds. */
function amountLines(receipt: ShownReceipt, writer: Writer): ReceiptLine[] {
  const { paid, refunds, amount_refunded, presentment } = receipt;
  const { price, tip, fees, total } = sumsOf(receipt);
  const sum = sumWriter(receipt, writer);
  const line = (key: TextKey, value: string) => ({ name: writer.text(key), value });
  const lines: ReceiptLine[] = [line('receipt.sale', sum(price))];
  if (tip > 0) lines.push(line('receipt.tip', sum(tip)));
  if (fees > 0) lines.push(line('receipt.service_fee', sum(fees)));
  const detail = usdcDetail(paid, presentment, writer);
  lines.push({ ...line('receipt.total', sum(total)), ...detail, isTotal: true });
  for (const refund of refunds) lines.push(refundLine(refund, receipt, writer));
  if (refunds.length > 1) {
    const back = refundedSum(receipt);
    const value = back === null ? writer.usdc(BigInt(amount_refunded)) : sum(back);
    lines.push(line('receipt.refunded_total', value));
  }
  return lines;
}

/** Returns the exchange rate that was fixed for the sale, as in `€1 = 1.0854 USDC`. */
function rateLines(
  { presentment, time_zone }: ShownReceipt,
  { text, time, rate, percent }: Writer,
): ReceiptLine[] {
  if (presentment === null) return [];
  const { quoted_at, source, margin } = presentment;
  const from =
    margin === undefined ? named(source) : text('receipt.rate_margin', { margin: percent(margin) });
  const also = `${time(quoted_at, time_zone)}, ${from}`;
  return [{ name: text('receipt.rate'), value: rate(presentment), also }];
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

export function slipOf(receipt: ShownReceipt, writer = writerFor('en')): Slip {
  return {
    writer,
    kind: writer.text('receipt.kind.receipt'),
    merchantName: receipt.merchant.name,
    seller: sellerOf(receipt.merchant, writer),
    livemode: receipt.livemode,
    state: stateOf(receipt, writer),
    headline: sumWriter(receipt, writer)(sumsOf(receipt).total),
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
