import type { Block } from '#settlement/chain/chain.ts';
import { isWellFormed } from '#settlement/chain/node-answers.ts';
import type { Address } from '#settlement/chain/rpc-address.ts';
import { witnessesOf } from '#settlement/chain/witness.ts';
import { patientBlocks } from '#settlement/relayer/rows/known-head.ts';
import type { RelayerState } from '#settlement/relayer/rows/state.ts';
import {
  lowerTips,
  suggestFees,
  TIP_BLOCKS,
  TIP_PERCENTILE,
} from '#settlement/relayer/send/fees.ts';
import type { Hex } from '#settlement/requests.ts';

/** How long the tips of recent blocks hold: they change little, and each look is a request. */
const TIPS_MS = 30_000;
/** While nobody pays: the first payment may offer the fees of some minutes ago. */
const IDLE_TIPS_MS = 300_000;

/** What to offer from now on, from the head's base fee and the tips of recent blocks. */
export async function readFees(relayer: RelayerState, head: Block): Promise<void> {
  const isIdle = [...relayer.lanes.values()].every((lane) => lane.open.size === 0);
  const holdMs = isIdle ? IDLE_TIPS_MS : TIPS_MS;
  if (performance.now() - relayer.tips.readAt > holdMs) {
    // Without tips there is the base fee and our least tip; the next look asks again.
    relayer.tips = { values: await readTips(relayer), readAt: performance.now() };
  }
  const { maxFeePerGasCeiling, profile } = relayer.chain.config;
  relayer.fees = suggestFees({
    baseFeePerGas: head.baseFeePerGas,
    recentTips: relayer.tips.values,
    ceiling: maxFeePerGasCeiling,
    highestTip: profile.highestTip,
  });
}

/** A node alone could make each payment a thousand times dearer: of two the lower word counts. */
const ASKED = 2;

async function readTips(relayer: RelayerState): Promise<readonly bigint[]> {
  const { chain, tips } = relayer;
  const blocks = patientBlocks(relayer, TIP_BLOCKS);
  const params = [`0x${blocks.toString(16)}`, 'latest', [TIP_PERCENTILE]];
  const addresses = witnessesOf(chain.rpc.inOrder());
  const told: (readonly bigint[])[] = [];
  while (told.length < ASKED && addresses.length > 0) {
    const next = addresses.splice(0, ASKED - told.length);
    const answers = await Promise.all(next.map((address) => tipsOf(address, params)));
    told.push(...answers.filter((answer) => answer !== null));
  }
  return lowerTips(told) ?? tips.values;
}

/** null: no answer, or none that this question can have. */
async function tipsOf(
  address: Address,
  params: readonly unknown[],
): Promise<readonly bigint[] | null> {
  const call = { method: 'eth_feeHistory', params };
  const [reply] = await address.ask([call], { urgent: false });
  if (reply?.status !== 'answered' || !isWellFormed(call, reply.result)) return null;
  const { reward } = reply.result as { readonly reward?: Hex[][] | null };
  return (reward ?? []).flatMap(([tip]) => (tip === undefined ? [] : [BigInt(tip)]));
}
