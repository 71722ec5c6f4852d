/** What a pass file holds. */
export interface ShownPass {
  readonly id: string;
  readonly name: string;
  /** The wallet app. */
  readonly walletUrl: string;
  /** What it gives a reader, and nobody else: see phone-pass.ts. null: it is not for readers. */
  readonly readerValue: string | null;
}

/** Makes passes for the wallets of phones; null where the operator has not set one up. */
export interface PassFiles {
  /** Whether Apple passes are for readers: that takes Apple's permission. */
  readonly appleAtReaders: boolean;
  readonly apple: ((pass: ShownPass) => Promise<Buffer>) | null;
  /** The link that puts the pass into Google Wallet. */
  readonly google: ((pass: ShownPass, now: Date) => string) | null;
}

export const NO_PASS_FILES: PassFiles = {
  apple: null,
  google: null,
  appleAtReaders: false,
};
