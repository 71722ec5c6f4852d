import type { ShownReceipt } from '#apis/pay/receipt-routes.ts';
import { named } from '#core/isolates.ts';
import { headlineUsdc } from '#core/money.ts';
import { type TextKey, type Writer, writerFor } from '#texts/text.ts';

/** A name and its value, on screen and on paper. `name` and `also` may contain Unicode isolates. */
export interface ReceiptLine {
  readonly name: string;
  readonly value: string;
  /** Text below the value. */
  readonly also?: string;
  /** True for the sum of the lines above. */
  readonly isTotal?: boolean;
  /** True for a value that people compare character by character. */
  readonly isCode?: boolean;
  /** True for a value in the reader's language, with Unicode isolates. */
  readonly isWords?: boolean;
  /**
   * True for an on-chain fact that is printed on paper; the others are only on the receipt's page.
   */
  readonly isPrinted?: boolean;
  readonly href?: string | null;
}

/** A receipt of a sale or of a refund, with the content that every format shows. */
export interface Slip {
  /** Writes the texts that are not part of a line. */
  readonly writer: Writer;
  readonly kind: string;
  readonly merchantName: string;
  readonly livemode: boolean;
  /** Whether it was refunded since, in words; `null` if it was not. */
  readonly state: string | null;
  /** `6.78 USDC`. */
  readonly headline: string;
  readonly amounts: readonly ReceiptLine[];
  readonly facts: readonly ReceiptLine[];
  readonly chain: readonly ReceiptLine[];
  /** The machine-readable receipt. */
  readonly document: object;
  /** True if the page's script can verify it against the chain. */
  readonly isCheckable: boolean;
}

const METHODS: Readonly<Record<string, TextKey>> = {
  wallet_pass: 'receipt.method.wallet_pass',
  agent_token: 'receipt.method.agent_token',
  wallet: 'receipt.method.wallet',
};

/** `6.78 USDC`, rounded to cents because people remember it so. */
export function headlineOf(atoms: number, { locale }: Writer): string {
  return `${headlineUsdc(BigInt(atoms), locale)} USDC`;
}

/** The parts of the amount that left the wallet, and the refunds. */
function amountLines(receipt: ShownReceipt, { text, usdc, time }: Writer): ReceiptLine[] {
  const { sale, tip, fees, paid, refunds, amount_refunded, time_zone } = receipt;
  const network = fees.acquirer + fees.protocol;
  const line = (key: TextKey, atoms: number) => ({ name: text(key), value: usdc(BigInt(atoms)) });
  const lines: ReceiptLine[] = [line('receipt.sale', sale)];
  if (tip > 0) lines.push(line('receipt.tip', tip));
  if (network > 0) lines.push(line('receipt.network_fees', network));
  if (fees.cashback > 0) lines.push(line('receipt.cashback', -fees.cashback));
  lines.push({ ...line('receipt.paid', paid), isTotal: true });
  for (const { status, amount, created, receipt_number } of refunds) {
    const key = status === 'pending' ? 'receipt.refund_pending' : 'receipt.refunded';
    const at = time(created, time_zone);
    const also = receipt_number === null ? at : `${named(receipt_number)}, ${at}`;
    lines.push({ ...line(key, amount), also });
  }
  if (refunds.length > 1) lines.push(line('receipt.refunded_total', amount_refunded));
  return lines;
}

function factLines(receipt: ShownReceipt, { text, time }: Writer): ReceiptLine[] {
  const { settled_at, time_zone, order_id, description, payment_method, payer } = receipt;
  const { receipt_number } = receipt;
  const lines: ReceiptLine[] = [];
  if (receipt_number !== null) {
    lines.push({ name: text('receipt.number'), value: receipt_number });
  }
  lines.push({ name: text('receipt.paid_at'), value: time(settled_at, time_zone), isWords: true });
  lines.push({ name: text('receipt.order'), value: order_id });
  if (description) lines.push({ name: text('receipt.for'), value: description });
  const method = METHODS[payment_method.type];
  if (method !== undefined) {
    lines.push({ name: text('receipt.paid_with'), value: text(method), isWords: true });
  }
  lines.push({ name: text('receipt.payer'), value: payer });
  return lines;
}

function chainLines({ proof }: ShownReceipt, { text, marked }: Writer): ReceiptLine[] {
  const { tx_hash: value, explorer_url: href, block_number, event, log_index } = proof;
  const entry = marked('receipt.chain.event_value', { event, entry: String(log_index) });
  return [
    { name: text('receipt.chain.transaction'), value, isCode: true, isPrinted: true, href },
    { name: text('receipt.chain.block'), value: String(block_number) },
    { name: text('receipt.chain.event'), value: entry, isWords: true },
    { name: text('receipt.chain.number'), value: String(proof.number) },
    { name: text('receipt.chain.contract'), value: proof.settlement, isCode: true },
    { name: text('receipt.chain.chain'), value: String(proof.chain_id), isPrinted: true },
  ];
}

/** Counts succeeded refunds only, because a pending one may still fail. */
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
    livemode: receipt.livemode,
    state: stateOf(receipt, writer),
    headline: headlineOf(receipt.paid, writer),
    amounts: amountLines(receipt, writer),
    facts: factLines(receipt, writer),
    chain: chainLines(receipt, writer),
    document: receipt,
    isCheckable: true,
  };
}
