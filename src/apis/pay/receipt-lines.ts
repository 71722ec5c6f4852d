import type { ShownReceipt } from '#apis/pay/receipt-routes.ts';
import { exactUsdc, grouped } from '#core/money.ts';

/** A name and what belongs to it, on the page as on paper. */
export interface ReceiptLine {
  readonly name: string;
  readonly value: string;
  /** Said below the value. */
  readonly also?: string;
  /** The sum of the lines above. */
  readonly isTotal?: boolean;
}

export const TEST_MODE = 'A payment in test mode: no real money moved.';

const METHODS: Readonly<Record<string, string>> = {
  wallet_pass: 'Wallet pass',
  agent_token: 'AI agent',
  wallet: 'Wallet',
};

function usdc(atoms: number): string {
  return `${grouped(exactUsdc(BigInt(atoms)))} USDC`;
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
export function amountLines(receipt: ShownReceipt): ReceiptLine[] {
  const { sale, tip, fees, paid, refunds, amount_refunded, time_zone } = receipt;
  const network = fees.acquirer + fees.protocol;
  const lines: ReceiptLine[] = [{ name: 'Sale', value: usdc(sale) }];
  if (tip > 0) lines.push({ name: 'Tip', value: usdc(tip) });
  if (network > 0) lines.push({ name: 'Network fees', value: usdc(network) });
  if (fees.cashback > 0) lines.push({ name: 'Cashback', value: usdc(-fees.cashback) });
  lines.push({ name: 'Paid', value: usdc(paid), isTotal: true });
  for (const { status, amount, created } of refunds) {
    const name = status === 'pending' ? 'Refund on its way' : 'Refunded';
    lines.push({ name, value: usdc(amount), also: receiptTime(created, time_zone) });
  }
  if (refunds.length > 1) lines.push({ name: 'Refunded in all', value: usdc(amount_refunded) });
  return lines;
}

export function factLines(receipt: ShownReceipt): ReceiptLine[] {
  const { settled_at, time_zone, order_id, description, payment_method, payer } = receipt;
  const lines: ReceiptLine[] = [
    { name: 'Paid at', value: receiptTime(settled_at, time_zone) },
    { name: 'Order', value: order_id },
  ];
  if (description) lines.push({ name: 'For', value: description });
  const method = METHODS[payment_method.type];
  if (method !== undefined) lines.push({ name: 'Paid with', value: method });
  lines.push({ name: 'Payer', value: payer });
  return lines;
}
