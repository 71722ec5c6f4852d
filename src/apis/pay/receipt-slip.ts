import type { Writer } from '#texts/text.ts';

/** A name and its value, on screen and on paper. `name` and `also` may contain Unicode isolates. */
export interface ReceiptLine {
  readonly name: string;
  readonly value: string;
  /** Text below the value. */
  readonly also?: string;
  /** True for the sum of the lines above. */
  readonly isTotal?: boolean;
  /** True for a name that people gave, such as an item's. */
  readonly isNamed?: boolean;
  /** True for a value that people compare character by character. */
  readonly isCode?: boolean;
  /** True for a value in the reader's language, with Unicode isolates. */
  readonly isWords?: boolean;
  /**
   * True for an on-chain fact that paper receipts include; other facts appear only on the web page.
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
  /** Legal name, address and tax number, with Unicode isolates. */
  readonly seller: readonly string[];
  readonly livemode: boolean;
  /** Describes refunds in words; `null` if there are none. */
  readonly state: string | null;
  /** `6.78 USDC`, or the sum in the shop's currency. */
  readonly headline: string;
  /** The sum in USDC, below a headline in the shop's currency. */
  readonly headlineAlso: string | null;
  /** The lines of the sale. */
  readonly items: readonly ReceiptLine[];
  readonly taxes: readonly ReceiptLine[];
  /** Text and signature of the fiscal signer, or a note that it has not signed yet. */
  readonly fiscal: readonly ReceiptLine[];
  readonly amounts: readonly ReceiptLine[];
  readonly facts: readonly ReceiptLine[];
  readonly chain: readonly ReceiptLine[];
  /** The machine-readable receipt. */
  readonly document: object;
  /** True if the page's script can verify it against the chain. */
  readonly isCheckable: boolean;
}
