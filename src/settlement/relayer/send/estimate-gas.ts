import { setTimeout as sleep } from 'node:timers/promises';
import { quantity, toRevert } from '#settlement/chain/rpc/decode-call-answers.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { TargetCall } from '#settlement/relayer/jobs/request-kinds.ts';
import { singleGasLimit } from '#settlement/relayer/send/gas-limits.ts';
import type { HeldSender, RelayerState } from '#settlement/relayer/state-machine/relayer-state.ts';

/**
 * The known head is used for this long after its poll, because an older state may lack recent
 * changes.
 */
const FRESH_MS = 2_000;
/** Number of polls if some nodes lag, so that one of them probably reaches an up-to-date node. */
const SPREAD_LOOKS = 4;
const SPREAD_LOOK_MS = 50;

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
  /** `gasLimit`: the estimate and a reserve. */
  | { readonly ok: true; readonly gas: bigint; readonly gasLimit: bigint }
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
    const gas = BigInt(answer.result as Hex);
    return { ok: true, gas, gasLimit: singleGasLimit(gas) };
  }
  return toRevert(answer?.refusal ?? new RpcUnavailable('no answer'));
}
