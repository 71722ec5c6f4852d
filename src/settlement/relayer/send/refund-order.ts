import { present } from '#core/assert.ts';
import type { Tx } from '#db/database.ts';
import type { Alarm } from '#settlement/alarms.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import { refundsOfCall } from '#settlement/contract/contract-calls.ts';
import { payloadOf, refundTarget, type TargetCall } from '#settlement/relayer/rows/payloads.ts';
import {
  type RefundSums,
  selectRefundSums,
} from '#settlement/relayer/rows/refund-proof-queries.ts';
import type { HeldLane, OpenRequest, RelayerState } from '#settlement/relayer/rows/state.ts';
import type { Planned, PreparedRefund } from '#settlement/relayer/send/planned.ts';

// Each refund states what was refunded of its payment before it, and the contract refuses a wrong
// sum. So refunds of one payment go in order, and none can be paid twice.

/** What the contract has refunded of a payment, at the head that we know. */
export async function refundedOf(relayer: RelayerState, number: bigint): Promise<bigint> {
  const { config } = relayer.chain;
  const call = { to: config.settlement, data: refundsOfCall(number), words: 1 };
  const [answer] = await relayer.chain.calls([call], relayer.head?.number ?? 'latest');
  if (answer?.ok === true) return BigInt(answer.data);
  throw new RpcUnavailable('a view of the contract reverted');
}

export function refundCallAt(
  relayer: RelayerState,
  request: OpenRequest,
  { proof }: PreparedRefund,
  refundedBefore: bigint,
): TargetCall {
  return refundTarget(request, { ...proof, refundedBefore }, relayer.chain.config);
}

export interface InOrder {
  readonly planned: readonly Planned[];
  /** Refunds whose turn has not come. */
  readonly waiting: readonly OpenRequest[];
  /** Of those that wait although ledger and chain had time to agree. */
  readonly alarms: readonly Alarm[];
}

/**
 * Reconciliation runs once a minute, and books what the ledger lacks: after two runs the sums
 * differ for a reason that does not pass by itself.
 */
const EXPLAINED_WITHIN_MS = 120_000;

/**
 * Gives each planned refund the sum before it: what is refunded according to the ledger, what this
 * lane has under way, and the planned ones ahead of it. A refund waits while one of its payment is
 * under way on another lane, as nobody knows which is mined first; and while ledger and chain
 * disagree (a reorganisation, or refunds that a restored database has lost), because then nothing
 * is known.
 */
export async function inOrder(
  tx: Tx,
  { relayer, lane }: { readonly relayer: RelayerState; readonly lane: HeldLane },
  planned: readonly Planned[],
): Promise<InOrder> {
  const ids = planned.filter((plan) => plan.refund !== undefined).map(paymentIdOf);
  if (ids.length === 0) return { planned, waiting: [], alarms: [] };
  const { livemode } = relayer.chain.config;
  const sums = await selectRefundSums(tx, { livemode, lane: lane.lane, paymentIds: ids });
  const before = new Map(sums.map((row) => [row.payment_id, row.settled + row.under_way]));
  const byId = new Map(sums.map((row) => [row.payment_id, row]));
  const ready: Planned[] = [];
  const waiting: OpenRequest[] = [];
  const alarms: Alarm[] = [];
  for (const plan of planned) {
    if (plan.refund === undefined) {
      ready.push(plan);
      continue;
    }
    const id = paymentIdOf(plan);
    const request = requestOf(plan);
    const known = present(byId.get(id), 'sums of a payment');
    if (!agrees(known, plan.refund)) {
      waiting.push(request);
      alarms.push(...unexplained(relayer, request, { known, refund: plan.refund }));
      continue;
    }
    const refundedBefore = before.get(id) ?? 0n;
    before.set(id, refundedBefore + BigInt(payloadOf(request, 'refund').amount));
    ready.push({ ...plan, call: refundCallAt(relayer, request, plan.refund, refundedBefore) });
  }
  return { planned: ready, waiting, alarms };
}

function requestOf(plan: Planned): OpenRequest {
  return present(plan.requests[0], 'request of a refund');
}

function paymentIdOf(plan: Planned): string {
  return payloadOf(requestOf(plan), 'refund').paymentId;
}

/** It waits for a person, unless it waits for another lane's refund of the same payment. */
function unexplained(
  { clock }: RelayerState,
  request: OpenRequest,
  { known, refund }: { readonly known: RefundSums; readonly refund: PreparedRefund },
): Alarm[] {
  const waitedMs = clock.now().getTime() - request.created.getTime();
  if (known.elsewhere || waitedMs < EXPLAINED_WITHIN_MS) return [];
  const { settled: ledger, under_way: underWay, payment_id: payment } = known;
  const details = { payment, ledger, underWay, chain: refund.refunded };
  return [{ kind: 'refund_sums_differ', subject: request.subjectId, details }];
}

function agrees(sums: RefundSums, { refunded }: PreparedRefund): boolean {
  const { settled, under_way: underWay, elsewhere } = sums;
  return !elsewhere && refunded >= settled && refunded <= settled + underWay;
}
