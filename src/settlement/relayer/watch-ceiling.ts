import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { insertAlarms } from '#settlement/alarms.ts';
import { selectLargestUsers, updateCeiling } from '#settlement/ceiling-queries.ts';
import type { CallAnswer } from '#settlement/chain/chain.ts';
import { decodeView } from '#settlement/chain/decode.ts';
import { lensOf } from '#settlement/contract/lens.ts';
import type { RelayerState } from '#settlement/relayer/machine/state.ts';
import type { Hex } from '#settlement/requests.ts';
import { settlementLensAbi } from '../../../contracts/artifacts/SettlementLens.ts';

/**
 * From this percentage of the hourly ceiling on, a person should look: a busy hour, or a stolen
 * key.
 */
const LEVELS = [80, 50] as const;
/** Percent of what may leave: above it, refunds and withdrawals soon wait for the next hour. */
const OUTFLOW_LEVEL = 80n;
const HOUR_MS = 3_600_000;
/** Accounts that an alarm names: who could have used most of it alone or together. */
const NAMED = 5;

type Hourly = 'ceiling' | 'outflow';

/** Both answer with what an hour allows, and what this one has used of it. */
export function hourlyCall(settlement: Hex, functionName: Hourly) {
  const data = encodeFunctionData({ abi: settlementLensAbi, functionName });
  return { to: lensOf(settlement), data, words: 2 };
}

function readHourly(answer: CallAnswer | undefined, functionName: Hourly) {
  const [perHour, used] = decodeView(answer, (data) =>
    decodeFunctionResult({ abi: settlementLensAbi, functionName, data }),
  );
  return { perHour, used };
}

/** By the chain's time. */
function hourAt(time: Date): string {
  const ms = time.getTime();
  return new Date(ms - (ms % HOUR_MS)).toISOString();
}

/**
 * Tells all processes how much of the hourly ceiling is used, and raises an alarm, once per hour
 * and level, when it is much.
 */
export async function watchCeiling(
  relayer: RelayerState,
  answer: CallAnswer | undefined,
): Promise<void> {
  const { perHour, used: settled } = readHourly(answer, 'ceiling');
  const headTime = relayer.head?.time ?? relayer.clock.now();
  const { livemode, network } = relayer.chain.config;
  await updateCeiling(relayer.db, livemode, { perHour, settled, headTime });
  relayer.see({
    kind: 'ceiling_read',
    nearCeiling: settled * 100n >= perHour * BigInt(LEVELS[1]),
  });
  const level = LEVELS.find((percent) => settled * 100n >= perHour * BigInt(percent));
  if (level === undefined) return;
  const subject = `${hourAt(headTime)} ${level} %`;
  if (relayer.sight.ceilingAlert === subject) return;
  const largest = { livemode, at: headTime, limit: NAMED };
  const accounts = await selectLargestUsers(relayer.db, largest);
  const details = { perHour, settled, accounts };
  const alarm = { kind: 'ceiling_near', subject, details };
  await relayer.db.transaction((tx) => insertAlarms(tx, livemode, [alarm], relayer.clock.now()));
  relayer.see({ kind: 'alerted', about: 'ceiling', subject });
  relayer.log.error('much of the hourly ceiling is used', { network, level, perHour, settled });
}

/**
 * Raises an alarm, once per hour, when refunds and withdrawals have used most of what may leave in
 * it: a busy day of refunds, or a stolen operator's key that pays balances out.
 */
export async function watchOutflow(
  relayer: RelayerState,
  answer: CallAnswer | undefined,
): Promise<void> {
  const { perHour, used: paid } = readHourly(answer, 'outflow');
  if (paid * 100n < perHour * OUTFLOW_LEVEL) return;
  const { livemode, network } = relayer.chain.config;
  const subject = hourAt(relayer.head?.time ?? relayer.clock.now());
  if (relayer.sight.outflowAlert === subject) return;
  const alarm = { kind: 'outflow_near', subject, details: { perHour, paid } };
  await relayer.db.transaction((tx) => insertAlarms(tx, livemode, [alarm], relayer.clock.now()));
  relayer.see({ kind: 'alerted', about: 'outflow', subject });
  relayer.log.error('much of what may leave in an hour has left', { network, perHour, paid });
}
