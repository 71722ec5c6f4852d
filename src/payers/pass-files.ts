/** What a pass file shows. Never a credential: nobody can pay with the file. */
export interface ShownPass {
  readonly id: string;
  readonly name: string;
  /** The wallet app. */
  readonly walletUrl: string;
}

/** Makes passes for the wallets of phones; null where the operator has not set one up. */
export interface PassFiles {
  readonly apple: ((pass: ShownPass) => Promise<Buffer>) | null;
  /** The link that puts the pass into Google Wallet. */
  readonly google: ((pass: ShownPass, now: Date) => string) | null;
}

export const NO_PASS_FILES: PassFiles = { apple: null, google: null };
