import type { Writer } from '#i18n/text.ts';

/** A line of a receipt, on screen or paper. `name` and `also` may contain Unicode isolates. */
export interface ReceiptLine {
  readonly name: string;
  readonly value: string;
  /** Text below the value. */
  readonly also?: string;
  /** True if the value is the sum of the lines above. */
  readonly isTotal?: boolean;
  /** True if a person has chosen the name, such as an item's. */
  readonly isNamed?: boolean;
  /** True if people compare the value character by character, such as a hash. */
  readonly isCode?: boolean;
  /** True if the value is text in the reader's language. It may contain Unicode isolates. */
  readonly isWords?: boolean;
  /**
   * True for facts from the chain that paper receipts include. Others appear only on the web page.
   */
  readonly isPrinted?: boolean;
  readonly href?: string | null;
}

/** A receipt of a sale or a refund, with the content that every format shows. */
export interface Slip {
  readonly writer: Writer;
  readonly kind: string;
  readonly merchantName: string;
  /** Legal name, address and tax number. They may contain Unicode isolates. */
  readonly seller: readonly string[];
  readonly livemode: boolean;
  /** The refunded state as text; `null` if nothing was refunded. */
  readonly state: string | null;
  /** The total, in the currency of the sale. */
  readonly headline: string;
  readonly items: readonly ReceiptLine[];
  readonly taxes: readonly ReceiptLine[];
  /** The fiscal signer's text and signature, or a note that it has not signed yet. */
  readonly fiscal: readonly ReceiptLine[];
  readonly amounts: readonly ReceiptLine[];
  readonly facts: readonly ReceiptLine[];
  readonly chain: readonly ReceiptLine[];
  /** The machine-readable receipt. */
  readonly document: object;
  /** True if the page's script can verify the receipt on the chain. */
  readonly isCheckable: boolean;
}
