import { size } from 'viem';
import type { Hex } from '#settlement/chain-requests.ts';

// The most gas that each call may take: what it needs, and at least a fifth more, at today's prices
// and at those of Glamsterdam. docs/gas-rules.md has the figures. All limits of simulations,
// transactions and daily budgets come from here. What a settlement contract gives to its own calls
// depends on its version (`gasOfContract`).

/**
 * EIP-7825: the highest gas limit of a transaction. From Glamsterdam on, gas for new state does not
 * count, but no limit may rely on that while other chains count it.
 */
export const TRANSACTION_GAS_CAP = 16_777_216n;

/** A 64th of the gas stays with the caller (EIP-150), and the call itself costs some. */
export const CALL_RESERVE_GAS = 10_000n;

/**
 * A transaction of payments, beside the gas that the contract requires at each pull: the first slot
 * of its USDC, the ledger, the batch's node in a new slot, and the nodes that it merges.
 */
export const BATCH_GAS = 200_000n;

/** One payment: the pull, the policy, the event and the call data. */
export const PAYMENT_GAS = 62_000n;

/** A word of the contract's replay guard, which no number has used before. */
export const NUMBER_WORD_GAS = 135_000n;

/** The first payment of a merchant in a transaction. */
export const MERCHANT_GAS = 16_000n;

/** A contract wallet's check of a signature, and what {@link CALL_RESERVE_GAS} says. */
export const SIGNATURE_GAS_WITH_RESERVE = 510_000n;

/**
 * A call of the factory that deploys a wallet. A Coinbase wallet needs 210,000 and a Safe 260,000
 * today; at the prices of Glamsterdam 980,000 and 1,270,000.
 */
export const DEPLOYMENT_GAS = 1_600_000n;

/**
 * A transfer of the token, with a contract wallet's check of its signature. By a key it needs
 * 290,000. The token gives the wallet all gas, so this ceiling also bounds a hostile wallet.
 */
export const TRANSFER_GAS = 350_000n + SIGNATURE_GAS_WITH_RESERVE;

/**
 * A permit and a policy, with a contract wallet's checks of both signatures. By a key they need
 * 510,000. The token gives the wallet all gas, so this ceiling also bounds a hostile wallet.
 */
export const ENROLMENT_GAS = 620_000n + 2n * SIGNATURE_GAS_WITH_RESERVE;

/** A registration or the proposal of another wallet, with a contract wallet's check. */
export const REGISTRATION_GAS = 470_000n + SIGNATURE_GAS_WITH_RESERVE;

/**
 * One payment that its payer has signed, beside the signature's bytes: at least what
 * `authorizedGasLimit` gives it in the newest contract.
 */
export const AUTHORIZED_PAYMENT_GAS = 1_470_000n;

/** An empty transfer to the sender's own address, on most chains. */
export const CANCELLATION_GAS_LIMIT = 21_000n;

/**
 * A byte of call data, if nothing but that determines the price (64 by EIP-7976), and its copies.
 */
export const BYTE_GAS = 80n;

export function withCallData(gas: bigint, data: Hex): bigint {
  const total = gas + BigInt(size(data)) * BYTE_GAS;
  return total < TRANSACTION_GAS_CAP ? total : TRANSACTION_GAS_CAP;
}
