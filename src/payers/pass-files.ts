export interface ShownPass {
  readonly id: string;
  readonly name: string;
  readonly walletUrl: string;
  /**
   * The value that the phone sends to readers, unique to each pass and phone wallet
   * (issue-phone-pass.ts); `null` if readers cannot read this pass.
   */
  readonly readerValue: string | null;
  /** The key of the rotating codes (check-rotating-code.ts); `null` if the pass shows none. */
  readonly rotatingKey: Buffer | null;
  /** True if the pass was revoked or erased. */
  readonly isVoid: boolean;
}

/** The service from which Apple phones fetch changed passes (apple-pass-service.ts). */
export interface AppleUpdates {
  readonly url: string;
  /** The token that authenticates the phone when it fetches this pass. */
  readonly token: string;
}

/** Issues passes for phone wallets. `null` stands for a wallet that the operator has not set up. */
export interface PassFiles {
  readonly apple: {
    readonly passType: string;
    /** True if phones may send these passes to readers, which requires Apple's permission. */
    readonly atReaders: boolean;
    make(pass: ShownPass, updates: AppleUpdates | null): Promise<Buffer>;
    /**
     * Tells devices to fetch the pass again. @returns the tokens that Apple no longer accepts.
     * @throws if a device could not be notified.
     */
    push(tokens: readonly string[]): Promise<readonly string[]>;
  } | null;
  readonly google: {
    /** Returns the link that adds the pass to Google Wallet. */
    link(pass: ShownPass, now: Date): string;
    /** Creates or replaces the pass in Google's service. @throws if that fails. */
    put(pass: ShownPass, now: Date): Promise<void>;
  } | null;
}

export const NO_PASS_FILES: PassFiles = { apple: null, google: null };
