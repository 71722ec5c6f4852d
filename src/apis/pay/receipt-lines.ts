import type { ShownReceipt } from '#apis/pay/receipt-routes.ts';
import { named } from '#core/isolates.ts';
import { headlineUsdc } from '#core/money.ts';
import { type TextKey, type Writer, writerFor } from '#texts/text.ts';

/** A name and what belongs to it, on the page as on paper. Names and what is below are marked. */
export interface ReceiptLine {
  readonly name: string;
  readonly value: string;
  /** Said below the value. */
  readonly also?: string;
  /** The sum of the lines above. */
  readonly isTotal?: boolean;
  /** A value that people compare letter by letter. */
  readonly isCode?: boolean;
  /** A value in the reader's language, with marks. */
  readonly isWords?: boolean;
  /** A fact of the chain that is worth its paper: the rest is behind the address. */
  readonly isPrinted?: boolean;
  readonly href?: string | null;
}

/** A receipt of a sale or of a refund: what every form of it says. */
export interface Slip {
  /** Writes what is not part of a line. */
  readonly writer: Writer;
  readonly kind: string;
  readonly merchantName: string;
  readonly livemode: boolean;
  /** What became of it since; null: nothing. */
  readonly state: string | null;
  /** `6.78 USDC`. */
  readonly headline: string;
  readonly amounts: readonly ReceiptLine[];
  readonly facts: readonly ReceiptLine[];
  readonly chain: readonly ReceiptLine[];
  /** For programs. */
  readonly document: object;
  /** Whether the page's script knows how to check it with the chain. */
  readonly isCheckable: boolean;
}

const METHODS: Readonly<Record<string, TextKey>> = {
  wallet_pass: 'receipt.method.wallet_pass',
  agent_token: 'receipt.method.agent_token',
  wallet: 'receipt.method.wallet',
};

/** `6.78 USDC`: in cents, as people remember a sum. */
export function headlineOf(atoms: number, { locale }: Writer): string {
  return `${headlineUsdc(BigInt(atoms), locale)} USDC`;
}

/** The parts of what left the wallet, and what came back later. */
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

/** By what went back so far: a refund on its way may still fail. */
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
