import type { ShownReceipt } from '#apis/pay/receipt-routes.ts';
import { readableUsdc } from '#core/money.ts';

/** A name and what belongs to it, on the page as on paper. */
export interface ReceiptLine {
  readonly name: string;
  readonly value: string;
  /** Said below the value. */
  readonly also?: string;
  /** The sum of the lines above. */
  readonly isTotal?: boolean;
  /** A value that people compare letter by letter. */
  readonly isCode?: boolean;
  readonly href?: string | null;
}

/** A receipt of a sale or of a refund: what every form of it says. */
export interface Slip {
  readonly kind: 'Receipt' | 'Refund';
  readonly merchantName: string;
  readonly livemode: boolean;
  /** What became of it since; null: nothing. */
  readonly state: 'Refunded' | 'Partly refunded' | null;
  /** Atoms. */
  readonly headline: number;
  readonly amounts: readonly ReceiptLine[];
  readonly facts: readonly ReceiptLine[];
  readonly chain: readonly ReceiptLine[];
  /** For programs. */
  readonly document: object;
  /** Whether the page's script knows how to check it with the chain. */
  readonly isCheckable: boolean;
}

export const TEST_MODE = 'A payment in test mode: no real money moved.';

const METHODS: Readonly<Record<string, string>> = {
  wallet_pass: 'Wallet pass',
  agent_token: 'AI agent',
  wallet: 'Wallet',
};

export function usdc(atoms: number): string {
  return `${readableUsdc(BigInt(atoms))} USDC`;
}

/** `1 Oct 2026, 14:00 CEST`: as the clock in the shop said it. */
export function receiptTime(at: string, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  }).format(new Date(at));
}

/** The parts of what left the wallet, and what came back later. */
function amountLines(receipt: ShownReceipt): ReceiptLine[] {
  const { sale, tip, fees, paid, refunds, amount_refunded, time_zone } = receipt;
  const network = fees.acquirer + fees.protocol;
  const lines: ReceiptLine[] = [{ name: 'Sale', value: usdc(sale) }];
  if (tip > 0) lines.push({ name: 'Tip', value: usdc(tip) });
  if (network > 0) lines.push({ name: 'Network fees', value: usdc(network) });
  if (fees.cashback > 0) lines.push({ name: 'Cashback', value: usdc(-fees.cashback) });
  lines.push({ name: 'Paid', value: usdc(paid), isTotal: true });
  for (const { status, amount, created, receipt_number } of refunds) {
    const name = status === 'pending' ? 'Refund on its way' : 'Refunded';
    const at = receiptTime(created, time_zone);
    const also = receipt_number === null ? at : `${receipt_number}, ${at}`;
    lines.push({ name, value: usdc(amount), also });
  }
  if (refunds.length > 1) lines.push({ name: 'Refunded in all', value: usdc(amount_refunded) });
  return lines;
}

function factLines(receipt: ShownReceipt): ReceiptLine[] {
  const { settled_at, time_zone, order_id, description, payment_method, payer } = receipt;
  const { receipt_number } = receipt;
  const lines: ReceiptLine[] = [];
  if (receipt_number !== null) lines.push({ name: 'Receipt number', value: receipt_number });
  lines.push({ name: 'Paid at', value: receiptTime(settled_at, time_zone) });
  lines.push({ name: 'Order', value: order_id });
  if (description) lines.push({ name: 'For', value: description });
  const method = METHODS[payment_method.type];
  if (method !== undefined) lines.push({ name: 'Paid with', value: method });
  lines.push({ name: 'Payer', value: payer });
  return lines;
}

function chainLines({ proof }: ShownReceipt): ReceiptLine[] {
  const { tx_hash, explorer_url: href, block_number, event, log_index } = proof;
  return [
    { name: 'Transaction', value: tx_hash, isCode: true, href },
    { name: 'Block', value: String(block_number) },
    { name: 'Event', value: `${event}, entry ${log_index} of the block` },
    { name: 'Payment number', value: String(proof.number) },
    { name: 'Contract', value: proof.settlement, isCode: true },
    { name: 'Chain', value: String(proof.chain_id) },
  ];
}

/** By what went back so far: a refund on its way may still fail. */
function stateOf({ sale, tip, refunds }: ShownReceipt): Slip['state'] {
  const back = refunds.reduce((sum, one) => sum + (one.status === 'succeeded' ? one.amount : 0), 0);
  if (back === 0) return null;
  return back >= sale + tip ? 'Refunded' : 'Partly refunded';
}

export function slipOf(receipt: ShownReceipt): Slip {
  return {
    kind: 'Receipt',
    merchantName: receipt.merchant.name,
    livemode: receipt.livemode,
    state: stateOf(receipt),
    headline: receipt.paid,
    amounts: amountLines(receipt),
    facts: factLines(receipt),
    chain: chainLines(receipt),
    document: receipt,
    isCheckable: true,
  };
}
