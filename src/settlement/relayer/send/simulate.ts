import { setTimeout as sleep } from 'node:timers/promises';
import { DAY_MS } from '#core/durations.ts';
import type { Alarm } from '#settlement/alarms.ts';
import { markBlocked } from '#settlement/blocked-requests.ts';
import { countsYet } from '#settlement/chain/confirmation-tiers.ts';
import { quantity, toRevert } from '#settlement/chain/decode.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { readRevert } from '#settlement/contract/contract-calls.ts';
import type { HeldSender, RelayerState } from '#settlement/relayer/machine/memory.ts';
import type { OpenRequest } from '#settlement/relayer/machine/transaction.ts';
import {
  failed,
  failureOf,
  KINDS,
  type Result,
  type TargetCall,
  whyItWaits,
} from '#settlement/relayer/rows/request-kinds.ts';
import { doneBefore, endOfTransfer } from '#settlement/relayer/send/earlier-events.ts';
import { type Planned, singleGasLimit } from '#settlement/relayer/send/plan-batches.ts';

/**
 * The known head is used for this long after its poll, because an older state may lack recent
 * changes.
 */
const FRESH_MS = 2_000;
/** Number of polls if some nodes lag, so that one of them probably reaches an up-to-date node. */
const SPREAD_LOOKS = 4;
const SPREAD_LOOK_MS = 50;

/** Returns the highest block among the known head and this many polls. */
async function heightAfter({ chain, head }: RelayerState, looks: number): Promise<bigint> {
  let highest = head?.number ?? 0n;
  for (let look = 0; look < looks; look++) {
    if (look > 0) await sleep(SPREAD_LOOK_MS);
    const { number } = await chain.newest();
    if (number > highest) highest = number;
  }
  return highest;
}

type Estimate =
  | { readonly ok: true; readonly gasLimit: bigint }
  | { readonly ok: false; readonly revertData: unknown };

/**
 * Estimates gas at the known head, so that a lagging node does not answer from an older state. A
 * refusal is checked again at the newest block, which may contain changes that the known head
 * lacked.
 */
export async function estimateGas(sender: HeldSender, call: TargetCall): Promise<Estimate> {
  const { relayer } = sender;
  const { answeredAt, spread } = relayer;
  const isFresh = answeredAt !== null && performance.now() - answeredAt < FRESH_MS;
  const height = await heightAfter(relayer, isFresh ? 0 : 1);
  const first = await estimateAt(sender, call, height);
  if (first.ok) return first;
  const newest = await heightAfter(relayer, spread > 0n ? SPREAD_LOOKS : 1);
  return newest > height ? estimateAt(sender, call, newest) : first;
}

async function estimateAt(
  { relayer, address: from }: HeldSender,
  { to, data }: TargetCall,
  height: bigint,
): Promise<Estimate> {
  const params = [{ from, to, data }, quantity(height)];
  const [answer] = await relayer.chain.rpc.batch([{ method: 'eth_estimateGas', params }]);
  if (answer?.ok === true) {
    return { ok: true, gasLimit: singleGasLimit(BigInt(answer.result as Hex)) };
  }
  return toRevert(answer?.refusal ?? new RpcUnavailable('no answer'));
}

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

/** How often a blocked payout is tried again, and after how long it fails (behavior.md 7.7). */
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
    throw new RpcUnavailable('it is in a block, and waits for confirmations');
  }
  return decided(result, alarm);
}
