/** What a pass file holds. */
export interface ShownPass {
  readonly id: string;
  readonly name: string;
  /** The wallet app. */
  readonly walletUrl: string;
  /** What it gives a reader, and nobody else: see phone-pass.ts. null: it is not for readers. */
  readonly readerValue: string | null;
  /** What its codes are made with: see rotating-code.ts. null: it shows none. */
  readonly rotatingKey: Buffer | null;
  /** It was revoked or erased. */
  readonly isVoid: boolean;
}

/** How an Apple phone asks for what has changed: see apple-pass-service.ts. */
export interface AppleUpdates {
  readonly url: string;
  /** What the phone proves with that it has the pass. */
  readonly token: string;
}

/** Makes passes for the wallets of phones; null where the operator has not set one up. */
export interface PassFiles {
  readonly apple: {
    readonly passType: string;
    /** Whether its passes are for readers: that takes Apple's permission. */
    readonly atReaders: boolean;
    make(pass: ShownPass, updates: AppleUpdates | null): Promise<Buffer>;
    /**
     * Tells the devices that have the pass to ask for it again.
     * @returns the tokens of those that are gone. @throws when one could not be told.
     */
    push(tokens: readonly string[]): Promise<readonly string[]>;
  } | null;
  readonly google: {
    /** The link that puts the pass into Google Wallet. */
    link(pass: ShownPass, now: Date): string;
    /** Makes it at Google or replaces it. @throws when Google has not done so. */
    put(pass: ShownPass, now: Date): Promise<void>;
  } | null;
}

export const NO_PASS_FILES: PassFiles = { apple: null, google: null };
