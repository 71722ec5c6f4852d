import { size } from 'viem';
import { present } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import { SECOND_MS } from '#core/durations.ts';
import type { Block } from '#settlement/chain/chain.ts';
import { atMost, compare } from '#settlement/chain/gas-fees.ts';
import { DEPLOYMENT_GAS } from '#settlement/chain/verify-signature.ts';
import type { RequestKind } from '#settlement/chain-requests.ts';
import {
  type PaymentCall,
  settleCall,
  settleWithAuthorizationCall,
} from '#settlement/contract/contract-calls.ts';
import { contractOf, contractVersionOf } from '#settlement/contract-versions.ts';
import { chainTime } from '#settlement/relayer/machine/chain-view.ts';
import type { RelayerState } from '#settlement/relayer/machine/memory.ts';
import type { OpenRequest } from '#settlement/relayer/machine/transaction.ts';
import { MIN_LEFT_S } from '#settlement/relayer/rows/job-queries.ts';
import {
  authorizationOf,
  paymentOf,
  type TargetCall,
} from '#settlement/relayer/rows/request-kinds.ts';
import type { RefundProof } from '#settlement/settled/payment-proof.ts';

/** A transaction about to be signed. */
export interface Planned {
  readonly kind: string;
  readonly call: TargetCall;
  readonly gasLimit: bigint;
  readonly requests: readonly OpenRequest[];
  /** Payments only: the block time after which the contract refuses them. */
  readonly validUntil?: Date;
  /** For a refund. Just before it is signed, refunds of one payment are put in order. */
  readonly refund?: PreparedRefund;
}

export interface PreparedRefund {
  readonly proof: RefundProof;
  /** The total that the contract has refunded for the payment, as of the head. */
  readonly refunded: bigint;
}

/**
 * Plans calls to one contract for these payments. A payment that its payer has signed needs its own
 * call.
 */
export function planPayments(relayer: RelayerState, requests: readonly OpenRequest[]): Planned {
  const times = { head: { time: chainTime(relayer) }, now: relayer.clock.now() };
  const until = validUntil(requests, times);
  const seconds = until.getTime() / SECOND_MS;
  const payments = requests.map(paymentOf).sort(bySlot);
  const payment = present(payments[0], 'payment of a batch');
  const [only, ...others] = requests;
  const authorization = only && others.length === 0 ? authorizationOf(only) : null;
  const [data, gasLimit] = authorization
    ? [
        settleWithAuthorizationCall(payment, authorization, seconds),
        authorizedGasLimit(size(authorization.signature)),
      ]
    : [settleCall(payments, seconds), batchGasLimit(payments.length)];
  const call = { to: contractOf(relayer.chain.config, payment.merchantNumber), data };
  return { kind: 'payment', call, gasLimit, requests, validUntil: until };
}

/** Groups payments by contract, because a batch is one call to one contract. */
export function groupByContract(requests: readonly OpenRequest[]): OpenRequest[][] {
  const groups = Map.groupBy(requests, (one) => contractVersionOf(paymentOf(one).merchantNumber));
  return [...groups.values()];
}

/**
 * A storage slot of the contract holds the replay guard of 256 numbers. A merchant's payments also
 * share a slot.
 */
const NUMBERS_PER_SLOT = 256n;

function bySlot(a: PaymentCall, b: PaymentCall): number {
  return (
    compare(a.number / NUMBERS_PER_SLOT, b.number / NUMBERS_PER_SLOT) ||
    compare(a.merchantNumber, b.merchantNumber) ||
    compare(a.number, b.number)
  );
}

/**
 * Time allowed, in seconds, for payments that recovery has booked from the chain, whose deadline is
 * unknown.
 */
const LEFT_WITHOUT_DEADLINE_S = 60;

type Timed = Pick<OpenRequest, 'deadline' | 'settleWithinS'>;

function leftMs({ deadline }: Timed, now: Date): number {
  if (deadline === null) return LEFT_WITHOUT_DEADLINE_S * SECOND_MS;
  return deadline.getTime() - now.getTime();
}

/** True if the payment has enough time left to be signed. */
export function hasTimeLeft(request: Timed, now: Date): boolean {
  return leftMs(request, now) >= MIN_LEFT_S * SECOND_MS;
}

/**
 * Returns the last block time at which these payments may settle, in whole seconds: the head's time
 * plus the shortest time that any of them has left. Only the chain's clock counts. While the head
 * stays the same, later calls get an earlier time; the chain may then refuse the call, and the
 * payments are sent again.
 */
export function validUntil(
  payments: readonly Timed[],
  times: { readonly head: Pick<Block, 'time'>; readonly now: Date },
): Date {
  const left = Math.min(...payments.map((payment) => leftMs(payment, times.now)));
  const until = addMs(times.head.time, left);
  return addMs(until, -until.getMilliseconds());
}

/**
 * Groups payments that may share a batch. In a group, deadlines differ by at most half of the time
 * that the first payment was given, so that no payment loses more time because of another.
 */
export function groupByDeadline<T extends Timed>(payments: readonly T[], now: Date): T[][] {
  const groups: T[][] = [];
  let latest = Number.NEGATIVE_INFINITY;
  for (const payment of payments.toSorted((a, b) => leftMs(a, now) - leftMs(b, now))) {
    if (leftMs(payment, now) > latest) {
      const givenS = payment.settleWithinS ?? LEFT_WITHOUT_DEADLINE_S;
      latest = leftMs(payment, now) + (givenS * SECOND_MS) / 2;
      groups.push([]);
    }
    present(groups.at(-1), 'group of payments').push(payment);
  }
  return groups;
}

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

/**
 * With more than a hundred, the gas per payment hardly falls, but signing, storing and reading the
 * transaction take longer. Two transactions of this size fit into a block of 30 million gas.
 */
export const MAX_BATCH_PAYMENTS = 100;

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
function authorizedGasLimit(signatureBytes: number): bigint {
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
