import { atMost } from '#settlement/chain/fees/gas-fees.ts';
import type { RequestKind } from '#settlement/chain-requests.ts';
import {
  BATCH_GAS,
  BYTE_GAS,
  CALL_RESERVE_GAS,
  CANCELLATION_GAS_LIMIT,
  DEPLOYMENT_GAS,
  ENROLMENT_GAS,
  MERCHANT_GAS,
  NUMBER_WORD_GAS,
  PAYMENT_GAS,
  REGISTRATION_GAS,
  TRANSACTION_GAS_CAP,
  TRANSFER_GAS,
  withCallData,
} from '#settlement/gas-ceilings.ts';
import type { ContractGas, SenderRole } from '#settlement/network-config.ts';
import type { TargetCall } from '#settlement/relayer/jobs/request-kinds.ts';

// Gas limits from measurements (contracts/README.md). They are generous, because unused gas costs
// nothing. Estimating each batch would cost a simulation, and the estimate would be too low if
// another batch is mined first.

/** What the payments of a transaction have in common, and the contract that settles them. */
export interface BatchSize {
  readonly payments: number;
  /** Words of the replay guard (256 numbers each) and merchants that they belong to. */
  readonly words: number;
  readonly merchants: number;
  readonly contract: ContractGas;
}

/**
 * A full batch of many merchants. A sender that cannot pay for its limit takes no payments, and a
 * batch that needs more, because its numbers are far apart, is split.
 */
const FULL_BATCH = { payments: 100, words: 4, merchants: 24 } as const;

/** As for the newest contract, whose pulls require the most. */
export const FULL_BATCH_GAS = batchGasLimit({
  ...FULL_BATCH,
  contract: { pull: 350_000n, signature: 500_000n },
});

export function batchGasLimit({ payments, words, merchants, contract }: BatchSize): bigint {
  return (
    BATCH_GAS +
    requiredFor(contract.pull) +
    BigInt(payments) * PAYMENT_GAS +
    BigInt(words) * NUMBER_WORD_GAS +
    BigInt(merchants) * MERCHANT_GAS
  );
}

/** What the contract requires to be left before a pull with this much gas, and a fifth more. */
function requiredFor(pull: bigint): bigint {
  return ((pull + pull / 63n + CALL_RESERVE_GAS) * 6n) / 5n;
}

export function authorizedGasLimit(signatureBytes: number, contract: ContractGas): bigint {
  const pull = contract.pull + contract.signature;
  const size = { payments: 1, words: 1, merchants: 1, contract: { ...contract, pull } };
  return atMost(batchGasLimit(size) + BigInt(signatureBytes) * BYTE_GAS, TRANSACTION_GAS_CAP);
}

const CEILINGS: { readonly [kind in RequestKind]?: bigint } = {
  enrolment: ENROLMENT_GAS,
  transfer: TRANSFER_GAS,
  wallet_deployment: DEPLOYMENT_GAS,
};

/**
 * Returns the highest gas limit for a call that a payer signs and the operator pays for; `null` for
 * other kinds. The token gives a contract wallet all gas for its signature check, so without this
 * limit the wallet could make each call as expensive as a block.
 */
export function gasCapOf(kind: RequestKind, { data }: TargetCall): bigint | null {
  const ceiling = CEILINGS[kind];
  if (ceiling === undefined) return null;
  return kind === 'wallet_deployment' ? ceiling : withCallData(ceiling, data);
}

/**
 * Returns the gas limit for one call: the estimate plus a reserve, because state may change until
 * the call is mined.
 */
export function singleGasLimit(estimate: bigint): bigint {
  return atMost((estimate * 3n) / 2n + 30_000n, TRANSACTION_GAS_CAP);
}

/** A passkey's signature has about 700 bytes, and a Safe's 65 for each owner. */
const LONG_SIGNATURE_BYTES = 2_048n;

/** Returns the highest limit for which a sender of this role usually asks its signer. */
export function mostGasOf(role: SenderRole): bigint {
  const limits = {
    operator: FULL_BATCH_GAS,
    registrar: singleGasLimit(REGISTRATION_GAS),
    sponsor: TRANSFER_GAS + 2n * LONG_SIGNATURE_BYTES * BYTE_GAS,
  };
  return limits[role];
}

/** The most that a cancellation may cost, in those of most chains. */
const MOST_CANCELLATIONS = 20n;

/**
 * Returns the limit for a cancellation, of which a node says that it needs this much: a fifth more,
 * at least what most chains want, and at most twenty times that, because a node may be wrong.
 */
export function cancellationGasLimit(estimate: bigint): bigint {
  if (estimate <= CANCELLATION_GAS_LIMIT) return CANCELLATION_GAS_LIMIT;
  return atMost((estimate * 6n) / 5n, MOST_CANCELLATIONS * CANCELLATION_GAS_LIMIT);
}
