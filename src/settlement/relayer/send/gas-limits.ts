import { size } from 'viem';
import { atMost } from '#settlement/chain/gas-fees.ts';
import { DEPLOYMENT_GAS } from '#settlement/chain/verify-signature.ts';
import type { RequestKind } from '#settlement/chain-requests.ts';
import type { TargetCall } from '#settlement/relayer/jobs/request-kinds.ts';

// Gas limits from measurements (contracts/README.md). They are generous, because unused gas costs
// nothing. Estimating each batch would cost a simulation, and the estimate would be too low if
// another batch is mined first.

/** EIP-7825: the highest gas limit of a transaction. */
const TRANSACTION_GAS_CAP = 16_777_216n;

/**
 * One payment costs 21,500 gas with a plain token, and less than 60,000 with Circle's token, which
 * is behind a proxy.
 */
const GAS_PER_PAYMENT = 75_000n;

/**
 * Gas for the transaction, the bitmap word, the ledger and the batch's node (2,250 per merged
 * node). The contract also requires 215,000 to be left at each pull, so that a payment may fail
 * because the token refuses it, but never because gas has run out.
 */
const GAS_PER_BATCH = 21_000n + 100_000n + 215_000n;

export function batchGasLimit(payments: number): bigint {
  return GAS_PER_BATCH + BigInt(payments) * GAS_PER_PAYMENT;
}

/**
 * Gas for the token's check of a contract wallet's signature, including the share that EIP-150
 * withholds.
 */
const SIGNATURE_GAS = 510_000n;
/**
 * Gas for a byte of call data at the higher of its two prices (EIP-7623), and for the copies of the
 * byte.
 */
const GAS_PER_BYTE = 60n;

/** Returns the limit for a payment whose authorization has a signature of this many bytes. */
export function authorizedGasLimit(signatureBytes: number): bigint {
  const limit = batchGasLimit(1) + SIGNATURE_GAS + BigInt(signatureBytes) * GAS_PER_BYTE;
  return atMost(limit, TRANSACTION_GAS_CAP);
}

/**
 * Gas for up to two checks of the payer's signatures, by token and contract, and one move of USDC.
 */
const GAS_OF_SIGNED_CALL = 400_000n + 2n * SIGNATURE_GAS;

/**
 * Returns the highest gas limit for a call that a payer signs and the operator pays for, including
 * the reserve that {@link singleGasLimit} adds to an estimate; `null` for other kinds. The token
 * gives a contract wallet all gas for its signature check, so without this limit the wallet could
 * make each call as expensive as a block.
 */
export function gasCapOf(kind: RequestKind, { data }: TargetCall): bigint | null {
  if (kind === 'wallet_deployment') return singleGasLimit(DEPLOYMENT_GAS);
  if (kind !== 'enrolment' && kind !== 'transfer') return null;
  return singleGasLimit(GAS_OF_SIGNED_CALL + BigInt(size(data)) * GAS_PER_BYTE);
}

/**
 * Returns the gas limit for one call: the estimate plus a reserve, because state may change until
 * the call is mined.
 */
export function singleGasLimit(estimate: bigint): bigint {
  return atMost((estimate * 3n) / 2n + 30_000n, TRANSACTION_GAS_CAP);
}

/** Gas of an empty transfer to the sender's own address. */
export const CANCELLATION_GAS_LIMIT = 21_000n;
