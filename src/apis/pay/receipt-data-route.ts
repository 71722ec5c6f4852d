import { RECEIPT_EXAMPLE, ReceiptSchema } from '#apis/pay/receipt-schema.ts';
import { answerWith, resourceMissing } from '#core/answer.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import { defineRoute } from '#http/route.ts';
import type { Visitor } from '#http/visitor.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { renderPaidPrice } from '#payments/paid-quote.ts';
import { methodOf, type Payment, paidFor, paymentTaxes, totalCharged } from '#payments/payment.ts';
import { type Receipt, type RefundOnReceipt, selectReceipt } from '#payments/receipt-queries.ts';
import { findReceipt, type ReceiptPages, refundReceiptUrl } from '#payments/receipt-url.ts';
import { type PastQuote, renderQuote } from '#prices/quote-price.ts';
import { leftAfter, taxesLeft } from '#prices/refund-taxes.ts';
import { type LineItem, type RateTax, renderDiscount, renderLines } from '#prices/sale-lines.ts';
import { contractOf, numberOnContract } from '#settlement/contract-versions.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

/** Shortens an address, so that the payer can recognize it, but others cannot look it up. */
export function shortened(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** The contract's address on a receipt if this process serves no network in its mode. */
const NO_CONTRACT = `0x${'0'.repeat(40)}`;

export type ShownReceipt = ReturnType<typeof renderReceipt>;

/** Renders a sum in the shop's currency; null for a sale in USDC. */
export function renderPast(presentment: PastQuote | null) {
  return presentment === null ? null : renderQuote(presentment, presentment.expiresAt);
}

/** Renders the data with which anyone can verify the payment on the chain. */
function renderProof(
  { payment, merchantNumber: number }: Receipt,
  chain: NetworkConfig | undefined,
  rpcUrl: string | null,
) {
  return {
    chain_id: Number(payment.chain_id),
    settlement: chain === undefined ? NO_CONTRACT : contractOf(chain, number ?? 0n),
    tx_hash: payment.tx_hash,
    block_number: Number(payment.block_number),
    log_index: payment.log_index,
    event: 'PaymentSettled',
    number: Number(payment.settlement_number),
    batch: Number(payment.batch_number),
    merchant: number === null ? null : numberOnContract(number),
    rpc_url: rpcUrl,
    explorer_url: chain?.explorerUrl ? `${chain.explorerUrl}/tx/${payment.tx_hash}` : null,
  };
}

function renderRefundOn({ payment }: Receipt, receipts: ReceiptPages) {
  return (refund: RefundOnReceipt) => ({
    amount: toJsonAtoms(refund.amount),
    presentment: renderPast(refund.presentment),
    status: refund.status,
    tx_hash: refund.tx_hash,
    receipt_number: refund.receipt_number,
    receipt_url: refundReceiptUrl({ ...refund, livemode: payment.livemode }, receipts),
    created: refund.created.toISOString(),
  });
}

/** Returns what the refunds have left of each tax rate. */
function taxesAfter(payment: Payment, refunds: readonly RefundOnReceipt[]): RateTax[] {
  const { presentment, amount } = payment;
  const whole = presentment === null ? amount : BigInt(presentment.amount + presentment.tipAmount);
  const parts = refunds.map(({ taxes, ...part }) => {
    return { taxes, amount: BigInt(part.presentment?.amount ?? part.amount) };
  });
  return taxesLeft(leftAfter(paymentTaxes(payment) ?? [], whole, parts));
}

/** Lines and taxes are in minor units of its currency, otherwise in atoms. */
function renderSale({ payment, refunds }: Receipt) {
  const { amount, tip, lines } = payment;
  const line_items: readonly LineItem[] | null = renderLines(lines);
  return {
    sale: toJsonAtoms(amount - tip),
    tip: toJsonAtoms(tip),
    amount: toJsonAtoms(amount),
    presentment: renderPaidPrice(payment),
    line_items,
    ...renderDiscount(lines),
    taxes: paymentTaxes(payment) ?? [],
    taxes_left: taxesAfter(payment, refunds),
  };
}

function renderReceipt(
  receipt: Receipt,
  {
    chain,
    rpcUrl,
    receipts,
  }: {
    chain: NetworkConfig | undefined;
    rpcUrl: string | null;
    receipts: ReceiptPages;
  },
) {
  const { payment } = receipt;
  const { livemode } = payment;
  return {
    object: 'receipt',
    livemode,
    network: networkOf(livemode),
    merchant: receipt.merchant,
    receipt_number: payment.receipt_number,
    fiscal: receipt.fiscal,
    order_id: payment.order_id,
    description: receipt.description,
    ...renderSale(receipt),
    fees: {
      acquirer: toJsonAtoms(payment.fee_acquirer),
      protocol: toJsonAtoms(payment.fee_protocol),
      cashback: toJsonAtoms(payment.fee_cashback),
    },
    total_charged: toJsonAtoms(totalCharged(payment)),
    paid: toJsonAtoms(paidFor(payment)),
    amount_refunded: toJsonAtoms(payment.amount_refunded),
    refunds: receipt.refunds.map(renderRefundOn(receipt, receipts)),
    currency: 'usdc',
    payer: shortened(payment.payer_address),
    payment_method: { ...methodOf(payment.credential_type) },
    tx_hash: payment.tx_hash,
    accepted_offline_at: receipt.offline?.acceptedAt ?? null,
    settled_at: payment.settled_at.toISOString(),
    time_zone: receipt.timeZone,
    proof: renderProof(receipt, chain, rpcUrl),
  };
}

export async function readReceipt(
  { db, pages: receipts, chains, keys: { id: idKey }, outside: { publicNode } }: ApiContext,
  token: string,
): Promise<ShownReceipt | null> {
  const filter = findReceipt(idKey, token);
  const receipt = filter && (await selectReceipt(db, filter));
  if (filter === null || receipt === null) return null;
  const chain = chains.find(({ config }) => config.livemode === filter.livemode);
  const rpcUrl = publicNode(networkOf(filter.livemode));
  return renderReceipt(receipt, { chain: chain?.config, rpcUrl, receipts });
}

/**
 * Returns the route for a receipt's data, which the receipt page shows and `npm run receipt`
 * verifies.
 */
export function receiptRoute(ctx: ApiContext) {
  return defineRoute<Visitor>({
    method: 'GET',
    path: '/receipts/{token}',
    operationId: 'retrieveReceipt',
    moves: 'nothing',
    tag: 'Receipts',
    summary: 'Retrieve a paid payment by the address of its receipt',
    description:
      'The token is the last part of a payment’s `receipt_url`. The same data is at that address ' +
      'with `.json` appended, and with `.txt` as text for a printer (`width` 32 or 48).',
    scope: null,
    idempotency: 'ignored',
    params: { token: 'text' },
    responses: {
      200: {
        schema: ReceiptSchema,
        description: 'The receipt.',
        example: RECEIPT_EXAMPLE,
      },
    },
    errors: ['resource_missing'],
    handle: async ({ params }) => {
      const receipt = await readReceipt(ctx, params.token ?? '');
      return receipt === null ? resourceMissing('receipt') : answerWith(200, receipt);
    },
  });
}
