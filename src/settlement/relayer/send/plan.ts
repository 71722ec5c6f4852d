import { present } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import { SECOND_MS } from '#core/durations.ts';
import type { Block } from '#settlement/chain/chain.ts';
import {
  type PaymentCall,
  settleCall,
  settleWithAuthorizationCall,
} from '#settlement/contract/contract-calls.ts';
import { contractOf, contractVersionOf } from '#settlement/contract-versions.ts';
import { chainTime } from '#settlement/relayer/machine/chain-view.ts';
import type { HeldSender, RelayerState } from '#settlement/relayer/machine/memory.ts';
import type { OpenRequest } from '#settlement/relayer/machine/transaction.ts';
import { MIN_LEFT_S } from '#settlement/relayer/rows/job-queries.ts';
import { authorizationOf, paymentOf, type TargetCall } from '#settlement/relayer/rows/kinds.ts';
import type { RefundProof } from '#settlement/settled/payment-proof.ts';

/** A transaction that is about to be signed. */
export interface Planned {
  readonly kind: string;
  readonly call: TargetCall;
  readonly gasLimit: bigint;
  readonly requests: readonly OpenRequest[];
  /** Payments only: the block time after which the contract refuses them. */
  readonly validUntil?: Date;
  /** For a refund, which is put in order with others of its payment right before it is signed. */
  readonly refund?: PreparedRefund;
}

export interface LockedSender {
  readonly relayer: RelayerState;
  readonly sender: HeldSender;
  /** The sender's next nonce, read under its lock. */
  readonly nonce: bigint;
}

export interface PreparedRefund {
  readonly proof: RefundProof;
  /** What the contract has refunded of the payment at the head. */
  readonly refunded: bigint;
}

/** A payment that is sent alone: under its payer's policy, or with an authorization for it. */
export function planPayment(relayer: RelayerState, request: OpenRequest): Planned {
  const authorization = authorizationOf(request);
  if (authorization === null) return planBatch(relayer, [request]);
  const until = untilOf(relayer, [request]);
  const payment = paymentOf(request);
  const data = settleWithAuthorizationCall(payment, authorization, until.seconds);
  const to = contractOf(relayer.chain.config, payment.merchantNumber);
  const gasLimit = authorizedGasLimit((authorization.signature.length - 2) / 2);
  const { validUntil } = until;
  return { kind: 'payment', call: { to, data }, gasLimit, requests: [request], validUntil };
}

/** As a time, and as the contract takes it. */
function untilOf(relayer: RelayerState, requests: readonly OpenRequest[]) {
  const head = { time: chainTime(relayer) };
  const until = validUntil(requests, { head, now: relayer.clock.now() });
  return { validUntil: until, seconds: until.getTime() / SECOND_MS };
}

/** A call of one contract for these payments, one or several. */
export function planBatch(relayer: RelayerState, requests: readonly OpenRequest[]): Planned {
  const payments = requests.map(paymentOf).sort(bySlot);
  const { validUntil, seconds } = untilOf(relayer, requests);
  const { merchantNumber } = present(payments[0], 'payment of a batch');
  const to = contractOf(relayer.chain.config, merchantNumber);
  const call = { to, data: settleCall(payments, seconds) };
  return { kind: 'payment', call, gasLimit: batchGasLimit(payments.length), requests, validUntil };
}

/** A batch is a call of one contract: payments to merchants that have moved go apart. */
export function groupByContract(requests: readonly OpenRequest[]): OpenRequest[][] {
  const groups = Map.groupBy(requests, (one) => contractVersionOf(paymentOf(one).merchantNumber));
  return [...groups.values()];
}

/** 256 numbers share a storage slot of the contract, and all payments of a merchant another one. */
const NUMBERS_PER_SLOT = 256n;

function bySlot(a: PaymentCall, b: PaymentCall): number {
  return (
    compare(a.number / NUMBERS_PER_SLOT, b.number / NUMBERS_PER_SLOT) ||
    compare(a.merchantNumber, b.merchantNumber) ||
    compare(a.number, b.number)
  );
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** For a payment from an API of the previous release, which wrote no deadline. */
const LEFT_WITHOUT_DEADLINE_S = 60;

type Timed = Pick<OpenRequest, 'deadline' | 'settleWithinS'>;

function leftMs({ deadline }: Timed, now: Date): number {
  return deadline === null
    ? LEFT_WITHOUT_DEADLINE_S * SECOND_MS
    : deadline.getTime() - now.getTime();
}

/** Whether it may still be signed. */
export function hasTimeLeft(request: Timed, now: Date): boolean {
  return leftMs(request, now) >= MIN_LEFT_S * SECOND_MS;
}

/**
 * The last block time at which these payments may settle, to the second: the head's time and the
 * least time that one of them has left. So it is measured by the chain's clock alone, and a clock
 * that differs from ours makes it neither longer nor shorter. A head that has not moved makes it
 * shorter: then the chain refuses the call and the payments go out once more.
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
 * Payments that may share a batch: their deadlines lie within half of the time that the first of
 * them was given, so that no payment loses more than that because of another one.
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
 * Transaction, bitmap word, ledger, and the batch's node (2,250 for each node that it merges); and
 * the 215,000 that the contract requires to be left at each pull, so that a payment fails because
 * of the token's answer and never for lack of gas.
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
function authorizedGasLimit(signatureBytes: number): bigint {
  return capped(batchGasLimit(1) + SIGNATURE_GAS + BigInt(signatureBytes) * GAS_PER_BYTE);
}

/** An estimate of one call, with a reserve for state that changes until it is mined. */
export function singleGasLimit(estimate: bigint): bigint {
  return capped((estimate * 3n) / 2n + 30_000n);
}

function capped(limit: bigint): bigint {
  return limit < TRANSACTION_GAS_CAP ? limit : TRANSACTION_GAS_CAP;
}

/** A plain transfer of nothing to oneself. */
export const CANCELLATION_GAS_LIMIT = 21_000n;
