import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { insertAlarms } from '#settlement/alarms.ts';
import { selectLargestUsers, updateCeiling } from '#settlement/ceiling-queries.ts';
import { type CallAnswer, decodeView } from '#settlement/chain/chain.ts';
import { lensOf } from '#settlement/contract/lens.ts';
import type { RelayerState } from '#settlement/relayer/rows/state.ts';
import type { Hex } from '#settlement/requests.ts';
import { settlementLensAbi } from '../../../contracts/artifacts/SettlementLens.ts';

/**
 * From this percentage of the hourly ceiling on, a person should look: a busy hour, or a stolen
 * key.
 */
const LEVELS = [80, 50] as const;
const HOUR_MS = 3_600_000;
/** Accounts that an alarm names: who could have used most of it alone or together. */
const NAMED = 5;

export function ceilingCall(settlement: Hex) {
  const data = encodeFunctionData({ abi: settlementLensAbi, functionName: 'ceiling' });
  return { to: lensOf(settlement), data, words: 2 };
}

/**
 * Tells all processes how much of the hourly ceiling is used, and raises an alarm, once per hour
 * and level, when it is much.
 */
export async function watchCeiling(
  relayer: RelayerState,
  answer: CallAnswer | undefined,
): Promise<void> {
  const [perHour, settled] = decodeView(answer, (data) =>
    decodeFunctionResult({ abi: settlementLensAbi, functionName: 'ceiling', data }),
  );
  const headTime = relayer.head?.time ?? relayer.clock.now();
  const { livemode, network } = relayer.chain.config;
  await updateCeiling(relayer.db, livemode, { perHour, settled, headTime });
  relayer.sight.nearCeiling = settled * 100n >= perHour * BigInt(LEVELS[1]);
  const level = LEVELS.find((percent) => settled * 100n >= perHour * BigInt(percent));
  if (level === undefined) return;
  const headMs = headTime.getTime();
  const hour = new Date(headMs - (headMs % HOUR_MS)).toISOString();
  const subject = `${hour} ${level} %`;
  if (relayer.sight.ceilingTold === subject) return;
  const largest = { livemode, at: headTime, limit: NAMED };
  const accounts = await selectLargestUsers(relayer.db, largest);
  const details = { perHour, settled, accounts };
  const alarm = { kind: 'ceiling_near', subject, details };
  await relayer.db.transaction((tx) => insertAlarms(tx, livemode, [alarm], relayer.clock.now()));
  relayer.sight.ceilingTold = subject;
  relayer.log.error('much of the hourly ceiling is used', { network, level, perHour, settled });
}
