import { present } from '#core/assert.ts';
import { describeError } from '#core/log.ts';
import { DatabaseUnavailable } from '#db/database.ts';
import { RpcRefusal, RpcUnavailable } from '#settlement/chain/rpc.ts';
import { failed } from '#settlement/relayer/rows/facts.ts';
import { failureOf, KINDS, requireWritable } from '#settlement/relayer/rows/kinds.ts';
import type { HeldLane, OpenRequest, RelayerState } from '#settlement/relayer/rows/state.ts';
import { estimateGas } from '#settlement/relayer/send/estimate-gas.ts';
import { singleGasLimit } from '#settlement/relayer/send/gas.ts';
import { planPayment } from '#settlement/relayer/send/plan-payments.ts';
import { prepareRefund } from '#settlement/relayer/send/prepare-refund.ts';
import { type Prepared, refusedBy } from '#settlement/relayer/send/refused-single.ts';

/** After this long we ask again about a request that a node could not judge; others go first. */
const DEFER_MS = 2_000;

/** behavior.md 7.7: how often the token is asked whether it transfers again. */
const BLOCKED_RETRY_MS = 60_000;

/**
 * What to do with each request. Never throws because of one of them: the others go on. They are
 * independent of each other here, and a node that is far away is asked about all of them at once.
 */
export async function prepareAll(
  relayer: RelayerState,
  lane: HeldLane,
  requests: readonly OpenRequest[],
): Promise<Map<bigint, Prepared>> {
  const prepared = new Map<bigint, Prepared>();
  const all = await Promise.all(requests.map((request) => prepareOne(relayer, lane, request)));
  for (const [index, one] of all.entries()) {
    const request = present(requests[index], 'request');
    if (one !== null) prepared.set(request.id, one);
    if (one?.status === 'blocked') deferRequest(relayer, request, BLOCKED_RETRY_MS);
  }
  return prepared;
}

/**
 * null: it waits. Only a request that can never become a call, whatever the chain's state, is given
 * up. Any other fault, even one of ours, says nothing about the money, so it decides nothing.
 */
async function prepareOne(
  relayer: RelayerState,
  lane: HeldLane,
  request: OpenRequest,
): Promise<Prepared | null> {
  const broken = whyBroken(request, relayer);
  if (broken !== null && !request.owed) return invalid(request, broken);
  try {
    return await prepare(relayer, lane, request);
  } catch (error) {
    deferRequest(relayer, request);
    const fields = { kind: request.kind, subject: request.subjectId, error: describeError(error) };
    if (passes(error)) {
      relayer.log.warn('a request waits', fields);
      return null;
    }
    relayer.log.error('a request cannot be prepared', fields);
    const details = { kind: request.kind, error: fields.error };
    return {
      status: 'stuck',
      alarm: { kind: 'request_stuck', subject: request.subjectId, details },
    };
  }
}

/** Of the chain or the database. */
function passes(error: unknown): boolean {
  return (
    error instanceof RpcUnavailable ||
    error instanceof RpcRefusal ||
    error instanceof DatabaseUnavailable
  );
}

function whyBroken(request: OpenRequest, { chain }: RelayerState): string | null {
  try {
    requireWritable(request, chain.config);
    return null;
  } catch (error) {
    return describeError(error);
  }
}

function invalid(request: OpenRequest, error: string): Prepared {
  const details = { kind: request.kind, error };
  const alarm = { kind: 'request_invalid', subject: request.subjectId, details };
  return { status: 'decided', result: failed(failureOf(request.kind, null), null), alarm };
}

export function deferRequest(relayer: RelayerState, request: OpenRequest, ms = DEFER_MS): void {
  relayer.deferred.set(request.id, performance.now() + ms);
}

export function stillDeferred(relayer: RelayerState): bigint[] {
  for (const [id, until] of relayer.deferred) {
    if (until < performance.now()) relayer.deferred.delete(id);
  }
  return [...relayer.deferred.keys()];
}

async function prepare(
  relayer: RelayerState,
  lane: HeldLane,
  request: OpenRequest,
): Promise<Prepared> {
  if (request.kind === 'refund') return prepareRefund(relayer, lane, request);
  if (request.kind === 'payment') return preparePayment(relayer, lane, request);
  const { call: callOf } = KINDS[request.kind];
  const call = present(callOf, 'call of a request')(request, relayer.chain.config);
  const estimate = await estimateGas(relayer, lane, call);
  if (!estimate.ok) return refusedBy(relayer, request, estimate.revertData);
  const gasLimit = singleGasLimit(estimate.gas);
  return { status: 'ready', planned: { kind: request.kind, call, gasLimit, requests: [request] } };
}

async function preparePayment(
  relayer: RelayerState,
  lane: HeldLane,
  request: OpenRequest,
): Promise<Prepared> {
  const planned = planPayment(relayer, request);
  const estimate = await estimateGas(relayer, lane, planned.call);
  if (!estimate.ok) return refusedBy(relayer, request, estimate.revertData);
  return { status: 'ready', planned };
}
