import { quantity, toRevert } from '#settlement/chain/decode.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import { readRevert } from '#settlement/contract/contract-calls.ts';
import type { HeldLane, RelayerState } from '#settlement/relayer/machine/state.ts';
import { freshHeight, newestHeight } from '#settlement/relayer/rows/known-head.ts';
import type { TargetCall } from '#settlement/relayer/rows/payloads.ts';
import type { Hex } from '#settlement/requests.ts';

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
