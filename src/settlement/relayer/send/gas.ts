/**
 * Gas limits from measured numbers (contracts/README.md): what a transaction does not use is not
 * paid, so the limits are generous. Estimating each batch instead would cost a simulation per
 * batch, and an estimate can be short when another batch is mined in between.
 */

/** EIP-7825: no transaction may have more. */
const TRANSACTION_GAS_CAP = 16_777_216n;

/** One payment costs 21,500 on a plain token, below 60,000 on Circle's behind its proxy. */
const GAS_PER_PAYMENT = 75_000n;

/**
 * Transaction, bitmap word, ledger and root; and the 215,000 that the contract requires to be left
 * at each pull, so that a payment fails because of the token's answer and never for lack of gas.
 */
const GAS_PER_BATCH = 21_000n + 100_000n + 215_000n;

/**
 * Payments of one transaction. Beyond a hundred the gas per payment hardly falls, while the time to
 * sign, store and read one transaction goes on growing; and two such transactions fit into a block
 * of 30 million.
 */
export const MAX_BATCH_PAYMENTS = 100;

export function batchGasLimit(payments: number): bigint {
  return GAS_PER_BATCH + BigInt(payments) * GAS_PER_PAYMENT;
}

/** What the token may spend on a contract wallet's signature, and what EIP-150 holds back. */
const SIGNATURE_GAS = 510_000n;
/** A byte of call data at the higher of its two prices (EIP-7623), and its copies in memory. */
const GAS_PER_BYTE = 60n;

/** A payment with an authorization whose signature has so many bytes. */
export function authorizedGasLimit(signatureBytes: number): bigint {
  const limit = batchGasLimit(1) + SIGNATURE_GAS + BigInt(signatureBytes) * GAS_PER_BYTE;
  return limit < TRANSACTION_GAS_CAP ? limit : TRANSACTION_GAS_CAP;
}

/** Measured with Circle's token (contracts/README.md), where no other payment shares the cost. */
const GAS_OF_ONE_PAYMENT = 110_000n;

/** Bytes of a signed transaction with one payment, and with as many as it may have. */
export const SIZES = { one: 420, full: 420 + 99 * 96 } as const;

/** What a payment costs now, in wei. */
export interface Price {
  readonly baseFeePerGas: bigint;
  /** What is offered on top for a unit of gas. */
  readonly tip: bigint;
  /** For publishing one payment, where the chain asks for that. */
  readonly dataFee: bigint;
}

/**
 * How many payments, each sent alone, a balance pays for: the one number of log, console, metrics
 * and readiness. null: not known, or they cost nothing here.
 */
export function paymentsLeftOf(balanceWei: bigint | null, price: Price | null): bigint | null {
  if (balanceWei === null || price === null) return null;
  const cost = GAS_OF_ONE_PAYMENT * (price.baseFeePerGas + price.tip) + price.dataFee;
  return cost === 0n ? null : balanceWei / cost;
}

/** Whole days that so many payments last; null: not known, or nobody pays. */
export function daysLeftOf(paymentsLeft: bigint | null, perDay: number): number | null {
  if (paymentsLeft === null || perDay <= 0) return null;
  return Math.min(MANY_DAYS, Math.floor(Number(paymentsLeft) / perDay));
}

/** Ten years: nobody plans that far, and a balance without end reads badly. */
const MANY_DAYS = 3_650;

/** Whether somebody has to send coin soon. */
export function isLow(paymentsLeft: bigint | null, lowBalance: number): boolean {
  return paymentsLeft !== null && paymentsLeft < BigInt(lowBalance);
}

/** An estimate of one call, with a reserve for state that changes until it is mined. */
export function singleGasLimit(estimate: bigint): bigint {
  const limit = (estimate * 3n) / 2n + 30_000n;
  return limit < TRANSACTION_GAS_CAP ? limit : TRANSACTION_GAS_CAP;
}

/** A plain transfer of nothing to oneself. */
export const NOOP_GAS_LIMIT = 21_000n;
