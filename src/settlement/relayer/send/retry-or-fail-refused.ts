import { DAY_MS } from '#core/durations.ts';
import type { Alarm } from '#settlement/alarms.ts';
import { markBlocked } from '#settlement/blocked-request-queries.ts';
import { countsYet } from '#settlement/chain/check/extra-wait-by-amount.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import { readRevert } from '#settlement/contract/contract-calls.ts';
import {
  failed,
  failureOf,
  KINDS,
  type Result,
  whyItWaits,
} from '#settlement/relayer/jobs/request-kinds.ts';
import { doneBefore, endOfTransfer } from '#settlement/relayer/send/find-earlier-results.ts';
import type { Planned } from '#settlement/relayer/send/plan-batches.ts';
import type { RelayerState } from '#settlement/relayer/state-machine/relayer-state.ts';
import type { OpenRequest } from '#settlement/relayer/state-machine/transaction.ts';

export type Prepared =
  | { readonly status: 'ready'; readonly planned: Planned }
  | { readonly status: 'blocked'; readonly retryMs: number }
  /** The chain would now refuse a booked sale. The sale is tried again after a pause. */
  | { readonly status: 'postponed' }
  /** The time to resend a booked sale has passed, so an operator must resolve it. */
  | { readonly status: 'ended' }
  /** The job waits for an operator, because the fault is not temporary. */
  | { readonly status: 'stuck'; readonly alarm: Alarm }
  | { readonly status: 'decided'; readonly result: Result; readonly alarm: Alarm | null };

export function decided(result: Result, alarm: Alarm | null = null): Prepared {
  return { status: 'decided', result, alarm };
}

/** A blocked payout is tried again at this interval, and fails after a day (behavior.md 7.7). */
const BLOCKED_RETRY_MS = 60_000;

const BLOCKED_MAX_MS = DAY_MS;

/**
 * Short, so that a withdrawal is paid or fails within a few seconds after the wallet change has
 * ended.
 */
const WALLET_RETRY_MS = 5_000;

/** Postpones a payout that the contract or token currently refuses. Its amount stays reserved. */
async function holdBack(
  relayer: RelayerState,
  request: OpenRequest,
  by: string,
  isForWallet: boolean,
): Promise<Prepared> {
  const now = relayer.clock.now();
  const waitedMs = now.getTime() - request.created.getTime();
  if (!isForWallet && waitedMs >= BLOCKED_MAX_MS) return decided(failed('transfer_blocked', null));
  await markBlocked(relayer.db, { id: request.id, by }, now);
  return { status: 'blocked', retryMs: isForWallet ? WALLET_RETRY_MS : BLOCKED_RETRY_MS };
}

/** Handles a job whose simulation reverted. Its transaction is not sent. */
export async function refusedBy(
  relayer: RelayerState,
  request: OpenRequest,
  revertData: unknown,
): Promise<Prepared> {
  const { kind, subjectId: subject, owed } = request;
  const { anybodySends, triedOnce } = KINDS[kind];
  if (anybodySends) return decided(await endOfTransfer(relayer.chain, request));
  if (triedOnce) return decided(failed(failureOf(kind, null), null));
  const revert = readRevert(revertData);
  if (revert.kind === 'passing') throw new RpcUnavailable(`not now: ${revert.error}`);
  const waits = whyItWaits(revert, kind);
  if (waits !== null && !owed) {
    return holdBack(relayer, request, waits, revert.kind === 'wallet_pending');
  }
  if (revert.kind !== 'done_before') {
    if (owed && kind !== 'payment') {
      throw new RpcUnavailable(`a job that must be resent is refused: ${revert.error}`);
    }
    const fields = { kind, subject, error: revert.error };
    relayer.log.warn('the contract would refuse a settlement job', fields);
    if (owed) return { status: 'postponed' };
    return decided(failed(failureOf(kind, revert.reason), null));
  }
  const { result, alarm } = await doneBefore(relayer.chain, request, null);
  if (!(await countsYet(relayer.chain, request, result))) {
    throw new RpcUnavailable('it is in a block and waits for confirmations');
  }
  return decided(result, alarm);
}
