import { usdcDetail } from '#apis/pay/receipt-contents.ts';
import { renderPast, shortened } from '#apis/pay/receipt-data-route.ts';
import {
  fiscalLines,
  returnedItems,
  sellerOf,
  sumWriter,
  taxesOf,
} from '#apis/pay/receipt-items.ts';
import type { Slip } from '#apis/pay/receipt-slip.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import type { TextKey, Writer } from '#i18n/text.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { type RefundReceipt, selectRefundReceipt } from '#payments/receipt-queries.ts';
import { findRefundReceipt, type ReceiptPages, receiptUrl } from '#payments/receipt-url.ts';
import { renderReturned } from '#prices/refund-lines.ts';

function renderRefundReceipt(
  refund: RefundReceipt,
  receipts: ReceiptPages,
  explorerUrl: string | null,
) {
  const { livemode, payment_settlement_number: settlement_number } = refund;
  const { merchant, payer_address, receipt_number, order_id, reason, time_zone } = refund;
  return {
    object: 'refund_receipt',
    livemode,
    network: networkOf(livemode),
    merchant,
    receipt_number,
    fiscal: refund.fiscal,
    amount: toJsonAtoms(refund.amount),
    presentment: renderPast(refund.presentment),
    line_items:
      refund.lines !== null && refund.line_items !== null
        ? renderReturned(refund.lines, refund.line_items)
        : null,
    taxes: refund.taxes,
    currency: 'usdc',
    order_id,
    reason,
    payment: {
      receipt_number: refund.payment_receipt_number,
      receipt_url: receiptUrl({ livemode, settlement_number }, receipts),
    },
    payer: shortened(payer_address),
    refunded_at: refund.updated.toISOString(),
    time_zone,
    chain_id: Number(refund.chain_id),
    tx_hash: refund.tx_hash,
    explorer_url: explorerUrl === null ? null : `${explorerUrl}/tx/${refund.tx_hash}`,
  };
}

function slipOf(shown: ReturnType<typeof renderRefundReceipt>, writer: Writer): Slip {
  const { text, time } = writer;
  const { amount, presentment } = shown;
  const total = sumWriter(shown, writer)(presentment?.amount ?? amount);
  const detail = usdcDetail(amount, presentment, writer);
  const { receipt_number, payment, order_id, reason, payer, refunded_at, time_zone } = shown;
  const line = (key: TextKey, value: string | null) =>
    value === null ? [] : [{ name: text(key), value }];
  const at = time(refunded_at, time_zone);
  return {
    writer,
    kind: text('receipt.kind.refund'),
    merchantName: shown.merchant.name,
    seller: sellerOf(shown.merchant, writer),
    livemode: shown.livemode,
    state: null,
    headline: total,
    fiscal: fiscalLines(shown.fiscal, writer),
    items: returnedItems(shown, writer),
    taxes: taxesOf(shown, writer),
    amounts: [{ name: text('receipt.refunded'), value: total, ...detail, isTotal: true }],
    facts: [
      ...line('receipt.number', receipt_number),
      { name: text('receipt.refunded_at'), value: at, isWords: true },
      ...line('receipt.of_receipt', payment.receipt_number),
      ...line('receipt.order', order_id),
      ...line('receipt.reason', reason),
      ...line('receipt.to', payer),
    ],
    chain: [
      {
        name: text('receipt.chain.transaction'),
        value: shown.tx_hash,
        isCode: true,
        isPrinted: true,
        href: shown.explorer_url,
      },
      {
        name: text('receipt.chain.chain'),
        value: String(shown.chain_id),
        isPrinted: true,
      },
    ],
    document: shown,
    isCheckable: false,
  };
}

export async function readRefundSlip(
  { db, pages: receipts, chains }: ApiContext,
  token: string,
  writer: Writer,
): Promise<Slip | null> {
  const filter = findRefundReceipt(receipts.idKey, token);
  const refund = filter && (await selectRefundReceipt(db, filter));
  if (filter === null || refund === null) return null;
  const chain = chains.find(({ config }) => config.livemode === filter.livemode);
  return slipOf(renderRefundReceipt(refund, receipts, chain?.config.explorerUrl ?? null), writer);
}
