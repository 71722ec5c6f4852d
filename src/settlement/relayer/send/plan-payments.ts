import { present } from '#core/assert.ts';
import {
  type PaymentCall,
  settleCall,
  settleWithAuthorizationCall,
} from '#settlement/contract/contract-calls.ts';
import { contractOf, editionOf } from '#settlement/editions.ts';
import type { RelayerState } from '#settlement/relayer/machine/state.ts';
import type { OpenRequest } from '#settlement/relayer/machine/transaction.ts';
import { chainTime } from '#settlement/relayer/rows/known-head.ts';
import { authorizationOf, paymentOf } from '#settlement/relayer/rows/payloads.ts';
import { validUntil } from '#settlement/relayer/send/deadlines.ts';
import { authorizedGasLimit, batchGasLimit } from '#settlement/relayer/send/gas.ts';
import type { Planned } from '#settlement/relayer/send/planned.ts';

/** A payment that is sent alone: under its payer's policy, or with an authorization for it. */
export function planPayment(relayer: RelayerState, request: OpenRequest): Planned {
  const authorization = authorizationOf(request);
  if (authorization === null) return planBatch(relayer, [request]);
  const until = untilOf(relayer, [request]);
  const seconds = until.getTime() / 1_000;
  const payment = paymentOf(request);
  return {
    kind: 'payment',
    call: {
      to: contractOf(relayer.chain.config, payment.merchantNumber),
      data: settleWithAuthorizationCall(payment, authorization, seconds),
    },
    gasLimit: authorizedGasLimit((authorization.signature.length - 2) / 2),
    requests: [request],
    validUntil: until,
  };
}

function untilOf(relayer: RelayerState, requests: readonly OpenRequest[]): Date {
  const head = { time: chainTime(relayer) };
  return validUntil(requests, { head, now: relayer.clock.now() });
}

/** A call of one contract for these payments, one or several. */
export function planBatch(relayer: RelayerState, requests: readonly OpenRequest[]): Planned {
  const payments = requests.map(paymentOf).sort(bySlot);
  const until = untilOf(relayer, requests);
  const { merchantNumber } = present(payments[0], 'payment of a batch');
  return {
    kind: 'payment',
    call: {
      to: contractOf(relayer.chain.config, merchantNumber),
      data: settleCall(payments, until.getTime() / 1_000),
    },
    gasLimit: batchGasLimit(payments.length),
    requests,
    validUntil: until,
  };
}

/** A batch is a call of one contract: payments to merchants that have moved go apart. */
export function groupByContract(requests: readonly OpenRequest[]): OpenRequest[][] {
  const groups = Map.groupBy(requests, (one) => editionOf(paymentOf(one).merchantNumber));
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
