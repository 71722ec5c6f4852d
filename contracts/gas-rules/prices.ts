// The two price tables of docs/gas-rules.md: what Ethereum charges today (Osaka), and from
// Glamsterdam on. Where revisions of an EIP differ, the higher number counts.

/** Gas for state is counted apart from other ("regular") gas by EIP-8037; today it is 0. */
export interface Charge {
  readonly regular: number;
  readonly state: number;
}

export interface Prices {
  readonly name: string;
  /** A transaction that calls another address, or the sender's own, before its call data. */
  readonly call: number;
  readonly ownCall: number;
  /** A transaction that creates a contract, before its call data. */
  readonly creation: Charge;
  /** The least that a byte of call data costs in all, for zero and other bytes. */
  readonly floor: { readonly zero: number; readonly other: number };
  readonly coldAccount: number;
  readonly coldSlot: number;
  readonly warm: number;
  /**
   * SSTORE: the slot's access, and beside it a slot that keeps its value or was written before in
   * the transaction, one that changes for the first time, and one that is set for the first time.
   */
  readonly write: {
    readonly cold: number;
    readonly warm: number;
    readonly unchanged: number;
    readonly changed: number;
    readonly set: Charge;
  };
  /** EXTCODESIZE and EXTCODECOPY beside the access. */
  readonly codeRead: number;
  /** CREATE and CREATE2, beside the init code. */
  readonly create: Charge;
  /** Deployed code: for each byte, and for each word of 32 bytes. */
  readonly codeByte: Charge;
  readonly codeWord: number;
  /** Opcodes whose own price differs from today's, beside memory and words. */
  readonly opcodes: Readonly<Record<string, number>>;
}

export const OSAKA: Prices = {
  name: 'today (Osaka)',
  call: 21_000,
  ownCall: 21_000,
  creation: { regular: 53_000, state: 0 },
  floor: { zero: 10, other: 40 },
  coldAccount: 2_600,
  coldSlot: 2_100,
  warm: 100,
  write: {
    cold: 2_100,
    warm: 0,
    unchanged: 100,
    changed: 2_900,
    set: { regular: 20_000, state: 0 },
  },
  codeRead: 0,
  create: { regular: 32_000, state: 0 },
  codeByte: { regular: 200, state: 0 },
  codeWord: 0,
  opcodes: {},
};

/** EIP-8037: gas for each byte of new state. */
const STATE_BYTE = 1_530;
const NEW_ACCOUNT = 120 * STATE_BYTE;
const COLD_ACCOUNT = 3_000;
const ACCOUNT_WRITE = 9_000;

export const GLAMSTERDAM: Prices = {
  name: 'Glamsterdam',
  // EIP-2780. Its call of another address includes the cold access.
  call: 12_000 + COLD_ACCOUNT,
  ownCall: 12_000,
  creation: { regular: 12_000 + ACCOUNT_WRITE + COLD_ACCOUNT, state: NEW_ACCOUNT },
  // EIP-7976.
  floor: { zero: 64, other: 64 },
  // EIP-8038. Its revision of June 2026 had 3,000 for a cold slot, the present one has 2,100.
  coldAccount: COLD_ACCOUNT,
  coldSlot: 3_000,
  warm: 100,
  write: {
    cold: 3_000,
    warm: 100,
    unchanged: 0,
    changed: 10_000,
    set: { regular: 10_000, state: 64 * STATE_BYTE },
  },
  codeRead: 100,
  create: { regular: ACCOUNT_WRITE + COLD_ACCOUNT, state: NEW_ACCOUNT },
  codeByte: { regular: 0, state: STATE_BYTE },
  codeWord: 6,
  // EIP-7904, which some revisions of the hard fork contain.
  opcodes: { DIV: 15, SDIV: 20, MOD: 12, MULMOD: 11, KECCAK256: 45 },
};

/** What {@link GLAMSTERDAM} has of EIP-8037 and EIP-7976 alone, as EDR 0.22 charges it. */
export const STATE_ONLY: Prices = {
  ...OSAKA,
  name: 'EIP-8037 and EIP-7976 alone',
  creation: { regular: 30_000, state: NEW_ACCOUNT },
  floor: GLAMSTERDAM.floor,
  write: { ...OSAKA.write, set: { regular: 2_900, state: 64 * STATE_BYTE } },
  create: { regular: 9_000, state: NEW_ACCOUNT },
  codeByte: GLAMSTERDAM.codeByte,
  codeWord: GLAMSTERDAM.codeWord,
};

/** Today's own price of each opcode of {@link Prices.opcodes}. */
export const OPCODES_TODAY: Readonly<Record<string, number>> = {
  DIV: 5,
  SDIV: 5,
  MOD: 5,
  MULMOD: 8,
  KECCAK256: 30,
};

/** EIP-7825 today and EIP-8037 later: the most regular gas of a transaction. */
export const TRANSACTION_CAP = 16_777_216;
