import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { type CallAnswer, decodeView } from '#settlement/chain/chain.ts';
import { insertAlarms } from '#settlement/relayer/outcome-queries.ts';
import type { RelayerState } from '#settlement/relayer/relayer-state.ts';
import type { Hex } from '#settlement/requests.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';

/**
 * From this percentage of the hourly ceiling on, a person should look: a busy hour, or a stolen
 * key.
 */
const LEVELS = [80, 50] as const;
const HOUR_MS = 3_600_000;

export function ceilingCall(settlement: Hex) {
  const data = encodeFunctionData({ abi: settlementAbi, functionName: 'ceiling' });
  return { to: settlement, data, words: 2 };
}

/** Raises an alarm, once per hour and level, when much of the hourly ceiling is used. */
export async function watchCeiling(
  relayer: RelayerState,
  answer: CallAnswer | undefined,
): Promise<void> {
  const [perHour, settled] = decodeView(answer, (data) =>
    decodeFunctionResult({ abi: settlementAbi, functionName: 'ceiling', data }),
  );
  const level = LEVELS.find((percent) => settled * 100n >= perHour * BigInt(percent));
  if (level === undefined) return;
  const headMs = relayer.head?.time.getTime() ?? relayer.clock.now().getTime();
  const hour = new Date(headMs - (headMs % HOUR_MS)).toISOString();
  const subject = `${hour} ${level} %`;
  if (relayer.sight.ceilingTold === subject) return;
  const { livemode, network } = relayer.chain.config;
  const alarm = { kind: 'ceiling_near', subject, details: { perHour, settled } };
  await relayer.db.transaction((tx) => insertAlarms(tx, livemode, [alarm], relayer.clock.now()));
  relayer.sight.ceilingTold = subject;
  relayer.log.error('much of the hourly ceiling is used', { network, level, perHour, settled });
}
