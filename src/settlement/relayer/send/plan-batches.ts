import { size } from 'viem';
import { present } from '#core/assert.ts';
import { SECOND_MS } from '#core/durations.ts';
import { compare } from '#settlement/chain/fees/gas-fees.ts';
import {
  type PaymentCall,
  settleCall,
  settleWithAuthorizationCall,
} from '#settlement/contract/contract-calls.ts';
import { contractOf, contractVersionOf } from '#settlement/contract-versions.ts';
import { type ContractGas, gasOfContract } from '#settlement/network-config.ts';
import {
  authorizationOf,
  paymentOf,
  type TargetCall,
} from '#settlement/relayer/jobs/request-kinds.ts';
import { validUntil } from '#settlement/relayer/jobs/settlement-deadlines.ts';
import {
  authorizedGasLimit,
  type BatchSize,
  batchGasLimit,
  FULL_BATCH_GAS,
} from '#settlement/relayer/send/gas-limits.ts';
import { chainTime } from '#settlement/relayer/state-machine/chain-view.ts';
import type { RelayerState } from '#settlement/relayer/state-machine/relayer-state.ts';
import type { OpenRequest } from '#settlement/relayer/state-machine/transaction.ts';
import type { RefundProof } from '#settlement/settled/payment-proof.ts';

export interface Planned {
  readonly kind: string;
  readonly call: TargetCall;
  readonly gasLimit: bigint;
  readonly requests: readonly OpenRequest[];
  /** Payments only: the block time after which the contract refuses them. */
  readonly validUntil?: Date;
  /**
   * Refunds only: the proof and the refunded sum. Just before signing, refunds of one payment are
   * put in order.
   */
  readonly refund?: PreparedRefund;
}

export interface PreparedRefund {
  readonly proof: RefundProof;
  /** The total that the contract has refunded for the payment, as of the head. */
  readonly refunded: bigint;
}

/**
 * With more than a hundred, the gas per payment hardly falls, but signing, storing and reading the
 * transaction take longer. Two transactions of this size fit into a block of 30 million gas.
 */
export const MAX_BATCH_PAYMENTS = 100;

/**
 * Plans one call that settles these payments, which must be on one contract. A payment that its
 * payer has signed must be alone.
 */
export function planPayments(relayer: RelayerState, requests: readonly OpenRequest[]): Planned {
  const times = { head: { time: chainTime(relayer) }, now: relayer.clock.now() };
  const until = validUntil(requests, times);
  const seconds = until.getTime() / SECOND_MS;
  const payments = requests.map(paymentOf).sort(bySlot);
  const payment = present(payments[0], 'payment of a batch');
  const to = contractOf(relayer.chain.config, payment.merchantNumber);
  const contract = gasOfContract(relayer.chain.config, to);
  const [only, ...others] = requests;
  const authorization = only && others.length === 0 ? authorizationOf(only) : null;
  const [data, gasLimit] = authorization
    ? [
        settleWithAuthorizationCall(payment, authorization, seconds),
        authorizedGasLimit(size(authorization.signature), contract),
      ]
    : [settleCall(payments, seconds), batchGasLimit(sizeOf(payments, contract))];
  const call = { to, data };
  return { kind: 'payment', call, gasLimit, requests, validUntil: until };
}

/** Groups payments by contract, because a batch is one call to one contract. */
export function groupByContract(requests: readonly OpenRequest[]): OpenRequest[][] {
  const groups = Map.groupBy(requests, (one) => contractVersionOf(paymentOf(one).merchantNumber));
  return [...groups.values()];
}

function sizeOf(payments: readonly PaymentCall[], contract: ContractGas): BatchSize {
  return {
    payments: payments.length,
    words: new Set(payments.map(({ number }) => number / NUMBERS_PER_SLOT)).size,
    merchants: new Set(payments.map(({ merchantNumber }) => merchantNumber)).size,
    contract,
  };
}

/**
 * Splits payments on one contract into batches, none of which may cost more than a full one. Only
 * payments whose numbers are far apart need more than one batch.
 */
export function groupByGas(
  { chain: { config } }: Pick<RelayerState, 'chain'>,
  requests: readonly OpenRequest[],
): OpenRequest[][] {
  const groups: OpenRequest[][] = [];
  for (const request of requests.toSorted((a, b) => bySlot(paymentOf(a), paymentOf(b)))) {
    const last = groups.at(-1);
    const payments = [...(last ?? []), request].map(paymentOf);
    const to = contractOf(config, paymentOf(request).merchantNumber);
    const size = sizeOf(payments, gasOfContract(config, to));
    if (last !== undefined && batchGasLimit(size) <= FULL_BATCH_GAS) last.push(request);
    else groups.push([request]);
  }
  return groups;
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
