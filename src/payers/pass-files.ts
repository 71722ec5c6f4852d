/** The content of a pass file. */
export interface ShownPass {
  readonly id: string;
  readonly name: string;
  /** The address of the wallet app. */
  readonly walletUrl: string;
  /**
   * The value that phones send to readers, unique to this copy: see issue-phone-pass.ts. `null` if
   * this pass is not read by NFC.
   */
  readonly readerValue: string | null;
  /** The key of the pass's changing codes: see rotating-code.ts. `null` if it shows none. */
  readonly rotatingKey: Buffer | null;
  /** True if the pass was revoked or erased. */
  readonly isVoid: boolean;
}

/** The service from which Apple phones fetch changes (apple-pass-service.ts). */
export interface AppleUpdates {
  readonly url: string;
  /** The token that authenticates the phone when it fetches this pass. */
  readonly token: string;
}

/** Issues passes for phone wallets; `null` for a wallet that the operator has not set up. */
export interface PassFiles {
  readonly apple: {
    readonly passType: string;
    /** True if phones may send its passes to readers, which needs Apple's permission. */
    readonly atReaders: boolean;
    make(pass: ShownPass, updates: AppleUpdates | null): Promise<Buffer>;
    /**
     * Notifies the devices that have the pass to fetch it again.
     * @returns the tokens that Apple no longer accepts. @throws if one could not be notified.
     */
    push(tokens: readonly string[]): Promise<readonly string[]>;
  } | null;
  readonly google: {
    /** The link that adds the pass to Google Wallet. */
    link(pass: ShownPass, now: Date): string;
    /** Creates or replaces the pass at Google. @throws if Google has not done so. */
    put(pass: ShownPass, now: Date): Promise<void>;
  } | null;
}

export const NO_PASS_FILES: PassFiles = { apple: null, google: null };
