import type { Alarm } from '#settlement/alarms.ts';
import { markBlocked } from '#settlement/blocked-requests.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import { readRevert } from '#settlement/contract/contract-calls.ts';
import type { RelayerState } from '#settlement/relayer/machine/state.ts';
import type { OpenRequest } from '#settlement/relayer/machine/transaction.ts';
import {
  failed,
  failureOf,
  KINDS,
  type Result,
  whyItWaits,
} from '#settlement/relayer/rows/kinds.ts';
import { countsYet } from '#settlement/relayer/rows/patience.ts';
import { endOfTransfer, findEarlier } from '#settlement/relayer/send/earlier-events.ts';
import type { Planned } from '#settlement/relayer/send/plan.ts';

export type Prepared =
  | { readonly status: 'ready'; readonly planned: Planned }
  | { readonly status: 'blocked'; readonly retryMs: number }
  /** A booked sale that the chain would refuse now: it is tried again after a pause. */
  | { readonly status: 'postponed' }
  /** The same, and its time is over: a person has to settle it. */
  | { readonly status: 'ended' }
  /** It waits for a person to look at it: this fault does not pass by itself. */
  | { readonly status: 'stuck'; readonly alarm: Alarm }
  | { readonly status: 'decided'; readonly result: Result; readonly alarm: Alarm | null };

/** behavior.md 7.7: then the refund has failed. */
const BLOCKED_MAX_MS = 24 * 3_600_000;

/** A few seconds after the announcement has ended the withdrawal is paid, or fails. */
const WALLET_RETRY_MS = 5_000;

/** behavior.md 7.7: how often the token is asked whether it transfers again. */
const BLOCKED_RETRY_MS = 60_000;

/** Refused for now. Its amount stays reserved, and it is tried again. */
async function holdBack(
  relayer: RelayerState,
  request: OpenRequest,
  { words, kind }: { readonly words: string; readonly kind: string },
): Promise<Prepared> {
  const now = relayer.clock.now();
  const isForWallet = kind === 'wallet_pending';
  const waitedMs = now.getTime() - request.created.getTime();
  if (!isForWallet && waitedMs >= BLOCKED_MAX_MS) {
    return { status: 'decided', result: failed('transfer_blocked', null), alarm: null };
  }
  await markBlocked(relayer.db, { id: request.id, by: words }, now);
  return { status: 'blocked', retryMs: isForWallet ? WALLET_RETRY_MS : BLOCKED_RETRY_MS };
}

/** The simulation reverted, so nothing is sent: it was done before, or it fails with its reason. */
export async function refusedBy(
  relayer: RelayerState,
  request: OpenRequest,
  revertData: unknown,
): Promise<Prepared> {
  const revert = readRevert(revertData);
  if (KINDS[request.kind].anybodySends) {
    const result = await endOfTransfer(relayer.chain, request);
    return { status: 'decided', result, alarm: null };
  }
  if (revert.kind === 'passing') throw new RpcUnavailable(`not now: ${revert.error}`);
  const waits = whyItWaits(revert, request.kind);
  if (waits !== null && !request.owed) {
    return holdBack(relayer, request, { words: waits, kind: revert.kind });
  }
  if (revert.kind !== 'done_before') {
    if (request.owed && request.kind === 'payment') return { status: 'postponed' };
    if (request.owed) throw new RpcUnavailable(`what is owed is refused: ${revert.error}`);
    relayer.log.warn('the contract would refuse a request', {
      kind: request.kind,
      subject: request.subjectId,
      error: revert.error,
    });
    const reason = failureOf(request.kind, revert.reason);
    return { status: 'decided', result: failed(reason, null), alarm: null };
  }
  const earlier = await findEarlier(relayer.chain, request);
  if (earlier !== null) {
    if (!(await countsYet(relayer.chain, request, earlier))) {
      throw new RpcUnavailable('it is in a block, and waits for more');
    }
    return { status: 'decided', result: earlier, alarm: null };
  }
  const details = { kind: request.kind, number: request.number };
  const alarm = { kind: 'number_taken', subject: request.subjectId, details };
  return { status: 'decided', result: failed('transaction_reverted', null), alarm };
}
