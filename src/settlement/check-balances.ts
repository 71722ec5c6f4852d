import { batchGasLimit, MAX_BATCH_PAYMENTS } from '#settlement/gas.ts';
import type { RelayerState } from '#settlement/relayer-state.ts';

/**
 * Reads what the held lanes own. One that could not pay for a full batch takes no new work, so that
 * payments go to lanes that can; one that runs low is warned of while there is still time.
 */
export async function checkBalances(relayer: RelayerState): Promise<void> {
  const { chain, log, fees } = relayer;
  const { network, lowBalanceWei } = chain.config;
  const lanes = [...relayer.lanes.values()];
  const balances = await chain.balances(lanes.map((lane) => lane.address));
  const needed = batchGasLimit(MAX_BATCH_PAYMENTS) * (fees?.maxFeePerGas ?? 0n);
  lanes.forEach((lane, index) => {
    const balance = balances[index] ?? 0n;
    const fields = { network, lane: lane.lane, address: lane.address, balance };
    const starved = balance < needed;
    if (starved && !lane.starved) log.error('a lane cannot pay for gas: send coin to it', fields);
    else if (balance < lowBalanceWei) log.warn('a lane runs low on coin for gas', fields);
    lane.starved = starved;
  });
}
