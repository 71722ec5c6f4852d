import { dataFees } from '#settlement/chain/data-fee.ts';
import type { HeldLane, RelayerState } from '#settlement/relayer/machine/state.ts';
import { countLanesAtWork, weeklyRate } from '#settlement/relayer/rows/status-queries.ts';
import {
  batchGasLimit,
  daysLeftOf,
  isLow,
  MAX_BATCH_PAYMENTS,
  paymentsLeftOf,
  SIZES,
} from '#settlement/relayer/send/gas.ts';

/** In looks at an idle chain: for a lane that ran dry, and for the next idle lane. */
const DRY_LOOKS = 2;
const ROUND_LOOKS = 8;

/**
 * The lanes to check now: those at work, dry ones more rarely, and the idle ones in turn. One whose
 * nonce is ahead is looked at each time until it is clear why.
 */
export function createBalanceRound(relayer: RelayerState): { due(): HeldLane[] } {
  const { idleHeadMs } = relayer.chain.config;
  let dryAt = performance.now();
  let roundAt = performance.now();
  let turn = 0;
  return {
    due: () => {
      const now = performance.now();
      const lanes = [...relayer.lanes.values()];
      const withDry = now - dryAt > idleHeadMs * DRY_LOOKS;
      if (withDry) dryAt = now;
      const due = new Set(
        lanes.filter(
          (lane) =>
            lane.open.size > 0 ||
            (lane.isStarved && withDry) ||
            (!lane.isStopped && relayer.sightings.has(lane.lane)),
        ),
      );
      if (now - roundAt > idleHeadMs * ROUND_LOOKS) {
        roundAt = now;
        const next = lanes[turn++ % Math.max(1, lanes.length)];
        if (next !== undefined) due.add(next);
      }
      return [...due];
    },
  };
}

/**
 * Reads the balances of held lanes. A lane that could not pay for a full batch takes no new work,
 * so that payments go to lanes that can; a low balance is reported while there is still time.
 */
export async function checkBalances(
  relayer: RelayerState,
  lanes: readonly HeldLane[],
): Promise<void> {
  const { chain, log, fees, head } = relayer;
  const { network, lowBalance } = chain.config;
  const balances = await chain.balances(lanes.map((lane) => lane.address));
  const [ofOne = 0n, ofFull = 0n] = await dataFees(chain, [SIZES.one, SIZES.full]);
  const price = {
    baseFeePerGas: head?.baseFeePerGas ?? 0n,
    tip: fees?.maxPriorityFeePerGas ?? 0n,
    dataFee: ofOne,
  };
  const needed = batchGasLimit(MAX_BATCH_PAYMENTS) * (fees?.maxFeePerGas ?? 0n) + ofFull;
  for (const [index, lane] of lanes.entries()) {
    const balance = balances[index] ?? 0n;
    const paymentsLeft = paymentsLeftOf(balance, price);
    const { lane: number, address, isStarved: wasStarved } = lane;
    const told = { network, lane: number, address, balance, paymentsLeft };
    const isStarved = balance < needed;
    lane.see({ kind: 'balance', isStarved, paymentsLeft });
    const low = isLow(paymentsLeft, lowBalance);
    const fields = low ? { ...told, daysLeft: await daysOf(relayer, lane) } : told;
    if (isStarved && !wasStarved) log.error('a lane cannot pay for gas: send coin to it', fields);
    else if (low) log.warn('a lane runs low on coin for gas', fields);
  }
}

/** Were last week's payments shared out evenly among the lanes at work. */
async function daysOf({ db, chain }: RelayerState, lane: HeldLane): Promise<number | null> {
  const lanes = await countLanesAtWork(db, chain.config.livemode);
  return daysLeftOf(lane.paymentsLeft, (await weeklyRate(db, chain)) / Math.max(1, lanes));
}
