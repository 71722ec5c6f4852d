import { setTimeout as sleep } from 'node:timers/promises';
import { present } from '#core/assert.ts';
import { blockInterval } from '#settlement/chain/block-rhythm.ts';
import { quantity, toRevert } from '#settlement/chain/decode.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import { readRevert } from '#settlement/contract/contract-calls.ts';
import type { HeldLane, RelayerState } from '#settlement/relayer/machine/state.ts';
import type { TargetCall } from '#settlement/relayer/rows/kinds.ts';
import type { Hex } from '#settlement/requests.ts';

/** The head's time, plus the time since that look: an idle chain is looked at rarely. */
export function chainTime(relayer: RelayerState): Date {
  const head = present(relayer.head, 'head: no block was seen yet');
  const { answeredAt } = relayer.sight;
  const sinceMs = answeredAt === null ? 0 : performance.now() - answeredAt;
  return new Date(head.time.getTime() + sinceMs);
}

/**
 * Where the chain should be by now, by its rhythm, so that counts from there do not begin too
 * early.
 */
export function heightNow({ head, sight, rhythm }: RelayerState): bigint {
  const known = head?.number ?? 0n;
  const intervalMs = blockInterval(rhythm);
  if (intervalMs === null || sight.answeredAt === null) return known;
  return known + BigInt(Math.floor((performance.now() - sight.answeredAt) / intervalMs));
}

/** A state that is older may lack what was done a moment ago. */
const FRESH_MS = 2_000;

/** The newest known block; it is asked for when the last look is too long ago. */
export async function freshHeight({ chain, head, sight }: RelayerState): Promise<bigint> {
  const known = head?.number ?? 0n;
  if (sight.answeredAt !== null && performance.now() - sight.answeredAt < FRESH_MS) return known;
  const { number } = await chain.newest();
  return number > known ? number : known;
}

/** Looks at nodes of which some lag: one of them is at the newest block. */
const SPREAD_LOOKS = 4;

const SPREAD_LOOK_MS = 50;

/** The newest block right now, for checks that an older state must not refuse. */
export async function newestHeight({ chain, head, spread }: RelayerState): Promise<bigint> {
  const looks = spread > 0n ? SPREAD_LOOKS : 1;
  let highest = head?.number ?? 0n;
  for (let look = 0; look < looks; look++) {
    if (look > 0) await sleep(SPREAD_LOOK_MS);
    const { number } = await chain.newest();
    if (number > highest) highest = number;
  }
  return highest;
}

type Estimate =
  | { readonly ok: true; readonly gas: bigint }
  | { readonly ok: false; readonly revertData: unknown; readonly error: string };

/**
 * At the head that we know, so that a node that lags behind does not answer from the past. What is
 * refused there is asked again at the newest block, because what was missing may have come since.
 */
export async function estimateGas(
  relayer: RelayerState,
  lane: HeldLane,
  call: TargetCall,
): Promise<Estimate> {
  const height = await freshHeight(relayer);
  const first = await estimateAt(relayer, { lane, call, height });
  if (first.ok) return first;
  const newest = await newestHeight(relayer);
  return newest > height ? estimateAt(relayer, { lane, call, height: newest }) : first;
}

async function estimateAt(
  { chain }: RelayerState,
  asked: { readonly lane: HeldLane; readonly call: TargetCall; readonly height: bigint },
): Promise<Estimate> {
  const { to, data } = asked.call;
  const params = [{ from: asked.lane.address, to, data }, quantity(asked.height)];
  const [answer] = await chain.rpc.batch([{ method: 'eth_estimateGas', params }]);
  if (answer?.ok === true) return { ok: true, gas: BigInt(answer.result as Hex) };
  const revert = toRevert(answer?.refusal ?? new RpcUnavailable('no answer'));
  const known = readRevert(revert.revertData);
  const error = known.kind === 'done_before' ? '' : known.error;
  return { ok: false, revertData: revert.revertData, error };
}
