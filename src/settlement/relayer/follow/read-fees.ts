import type { Block, Chain } from '#settlement/chain/chain.ts';
import { dataFees } from '#settlement/chain/data-fee.ts';
import { isWellFormed } from '#settlement/chain/node-answers.ts';
import { blocksLasting } from '#settlement/chain/patient-blocks.ts';
import type { Address } from '#settlement/chain/rpc-address.ts';
import { witnessesOf } from '#settlement/chain/witness.ts';
import {
  lowerTips,
  suggestFees,
  TIP_BLOCKS,
  TIP_PERCENTILE,
} from '#settlement/relayer/machine/fees.ts';
import { patientBlocks } from '#settlement/relayer/machine/now.ts';
import type { RelayerState } from '#settlement/relayer/machine/state.ts';
import type { Fees } from '#settlement/relayer/machine/transaction.ts';
import { type Price, SIZES } from '#settlement/relayer/send/gas.ts';
import type { Hex } from '#settlement/requests.ts';

/** How long the tips of recent blocks hold: they change little, and each look is a request. */
const TIPS_MS = 30_000;
/** While nobody pays: the first payment may offer the fees of some minutes ago. */
const IDLE_TIPS_MS = 300_000;

/** What to offer from now on, from the head's base fee and the tips of recent blocks. */
export async function readFees(relayer: RelayerState, head: Block): Promise<void> {
  const { chain, lanes } = relayer;
  const isIdle = [...lanes.values()].every((lane) => lane.open.size === 0);
  const blocks = patientBlocks(relayer, TIP_BLOCKS);
  const tips = await recentTips(chain, { blocks, maxAgeMs: isIdle ? IDLE_TIPS_MS : TIPS_MS });
  // Without tips there is the base fee and our least tip; the next look asks again.
  const known = tips ?? relayer.tips;
  relayer.see({ kind: 'fees_read', tips: known, fees: feesAt(chain, head, known) });
}

/** What a payment costs that a relayer of this chain sends now. */
export async function presentPrice(chain: Chain, head: Block): Promise<Price> {
  const blocks = blocksLasting(chain.config, { blocks: TIP_BLOCKS, intervalMs: null });
  const tips = await recentTips(chain, { blocks, maxAgeMs: IDLE_TIPS_MS });
  const { maxPriorityFeePerGas: tip } = feesAt(chain, head, tips ?? []);
  const [dataFee = 0n] = await dataFees(chain, [SIZES.one]);
  return { baseFeePerGas: head.baseFeePerGas, tip, dataFee };
}

function feesAt({ config }: Chain, head: Block, recent: readonly bigint[]): Fees {
  return suggestFees({
    baseFeePerGas: head.baseFeePerGas,
    recentTips: recent,
    ceiling: config.maxFeePerGasCeiling,
    highestTip: config.profile.highestTip,
  });
}

/** A node alone could make each payment a thousand times dearer: of two the lower word counts. */
const ASKED = 2;

/** The tips that so many blocks took. null: no node said. */
function recentTips(
  chain: Chain,
  { blocks, maxAgeMs }: { readonly blocks: bigint; readonly maxAgeMs: number },
): Promise<readonly bigint[] | null> {
  return chain.remember('tips', maxAgeMs, async () => {
    const params = [`0x${blocks.toString(16)}`, 'latest', [TIP_PERCENTILE]];
    const addresses = witnessesOf(chain.rpc.inOrder());
    const told: (readonly bigint[])[] = [];
    while (told.length < ASKED && addresses.length > 0) {
      const next = addresses.splice(0, ASKED - told.length);
      const answers = await Promise.all(next.map((address) => tipsOf(address, params)));
      told.push(...answers.filter((answer) => answer !== null));
    }
    return lowerTips(told);
  });
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
