import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { type Loop, startLoop } from '#core/background-loop.ts';
import { HOUR_MS } from '#core/durations.ts';
import type { Alarm } from '#settlement/alarms.ts';
import type { CallAnswer } from '#settlement/chain/chain.ts';
import { decodeView } from '#settlement/chain/rpc/decode-call-answers.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import { contractsOf } from '#settlement/contract-versions.ts';
import { selectLargestUsers, updateCeiling } from '#settlement/hourly-ceiling-queries.ts';
import { upsertReport, type WorkerReport } from '#settlement/readiness-queries.ts';
import { deploysWallets } from '#settlement/relayer/jobs/request-kinds.ts';
import type {
  HeldSender,
  OnError,
  RelayerState,
} from '#settlement/relayer/state-machine/relayer-state.ts';
import { settlementLensAbi } from '../../../contracts/artifacts/SettlementLens.ts';

/** Interval at which a changed report is stored. */
const REPORT_MS = 500;
/**
 * Interval at which an unchanged report is stored as a heartbeat. A worker counts as stopped after
 * 10 s.
 */
const HEARTBEAT_MS = 2_000;
/**
 * Polls of an idle chain between two checks for a pause: two minutes. The check before each payment
 * notices a pause immediately, and free plans allow 15 calls in an idle minute
 * (`test/long/price.test.ts`).
 */
const PAUSE_LOOKS = 8;
/**
 * Check interval while the contract is paused or its ceiling is nearly used up, because customers
 * may wait for that to end.
 */
const PAUSED_POLL_MS = 5_000;
/** Number of consecutive polls that must fail before the node counts as down. */
const FAILED_LOOKS = 2;
/**
 * While a node hangs, no poll fails for some seconds, so the node also counts as down after this
 * much silence.
 */
const SILENT_MS = 5_000;
/** The deviation of the clock that counts as a fault (behavior.md 16). */
const CLOCK_OFF_MS = 30_000;

export function startReporter(relayer: RelayerState, onError: OnError): Loop {
  const { livemode } = relayer;
  let written = '';
  let writtenAt = Number.NEGATIVE_INFINITY;
  let pauseReadAt = Number.NEGATIVE_INFINITY;
  const raised = new Map<string, string>();
  return startLoop({
    name: 'relayer report',
    pollMs: REPORT_MS,
    onError,
    run: async () => {
      const report = reportOf(relayer, performance.now());
      const text = JSON.stringify(report);
      if (text !== written || performance.now() - writtenAt > HEARTBEAT_MS) {
        await upsertReport(relayer.db, { livemode, owner: relayer.owner }, report);
        written = text;
        writtenAt = performance.now();
      }
      const pollMs = relayer.chain.config.idleHeadMs * PAUSE_LOOKS;
      const { paused, nearCeiling } = relayer;
      const dueMs = paused || nearCeiling ? Math.min(pollMs, PAUSED_POLL_MS) : pollMs;
      if (performance.now() - pauseReadAt > dueMs) {
        pauseReadAt = performance.now();
        await readContract(relayer, raised);
      }
      return false;
    },
  });
}

export function reportOf(relayer: RelayerState, at: number): WorkerReport {
  const { answeredAt, failedPolls, headOffMs, paused } = relayer;
  const silentMs = relayer.chain.config.idleHeadMs + SILENT_MS;
  // Nodes whose answers do not pass the checks of the start are of no use.
  const isSilent = answeredAt === null || at - answeredAt > silentMs || !relayer.chain.isChecked();
  const offMs = headOffMs ?? 0;
  const operators = [...relayer.senders.values()].filter(({ role }) => role === 'operator');
  return {
    reasons: [
      ...(isSilent || failedPolls >= FAILED_LOOKS ? (['no_node'] as const) : []),
      ...(Math.abs(offMs) > CLOCK_OFF_MS ? (['clock'] as const) : []),
      ...(paused ? (['paused'] as const) : []),
      // This includes the time during which operators must answer whether the database was
      // restored.
      ...(relayer.db.watch.serves(relayer.livemode) ? [] : (['recovering'] as const)),
    ],
    senders: operators.length,
    fundedSenders: operators.filter(({ isStarved }) => !isStarved).length,
    paymentsLeft: paymentsLeftOf(operators),
    contracts: contractsOf(relayer.chain.config).length,
    deploysWallets: deploysWallets(relayer.chain.config),
  };
}

/** Larger than any realistic number of payments, and exact as a JavaScript number. */
const MANY_PAYMENTS = 10n ** 15n;

function paymentsLeftOf(senders: readonly Pick<HeldSender, 'paymentsLeft'>[]): number | null {
  const known = senders.flatMap(({ paymentsLeft }) => paymentsLeft ?? []);
  if (known.length === 0) return null;
  const sum = known.reduce((all, one) => all + one, 0n);
  return Number(sum < MANY_PAYMENTS ? sum : MANY_PAYMENTS);
}

/**
 * Reads whether the contract is paused, and how much of this hour's ceilings is used. Alerts
 * operators at most once per hour and level.
 */
async function readContract(relayer: RelayerState, raised: Map<string, string>): Promise<void> {
  const { chain, db, livemode } = relayer;
  const to = lensOf(chain.config.settlement);
  const ask = (functionName: 'settlingPaused' | 'ceiling' | 'outflow', words: number) => {
    return { to, data: encodeFunctionData({ abi: settlementLensAbi, functionName }), words };
  };
  const calls = [ask('settlingPaused', 1), ask('ceiling', 2), ask('outflow', 2)];
  const [pause, ceiling, outflow] = await chain.calls(calls);
  if (pause?.ok !== true) return;
  relayer.see({ paused: BigInt(pause.data) !== 0n });
  const [perHour, settled] = readHourly(ceiling, 'ceiling');
  const at = relayer.head?.time ?? relayer.clock.now();
  await updateCeiling(db, livemode, { perHour, settled, headTime: at });
  const level = LEVELS.find((percent) => settled * 100n >= perHour * BigInt(percent));
  relayer.see({ nearCeiling: level !== undefined });
  // An alarm that this process has already raised for this hour is not raised or logged again.
  const isNew = ({ kind, subject }: Pick<Alarm, 'kind' | 'subject'>) =>
    raised.get(kind) !== subject;
  const raise = async (alarm: Alarm) => {
    await db.transaction((tx) => relayer.raise(tx, [alarm]));
    raised.set(alarm.kind, alarm.subject);
  };
  const ofLevel = { kind: 'ceiling_near', subject: `${hourAt(at)} ${level} %` };
  if (level !== undefined && isNew(ofLevel)) {
    relayer.log.error('most of the hourly ceiling is used', { percent: level, perHour, settled });
    const accounts = await selectLargestUsers(db, { livemode, at, limit: NAMED });
    await raise({ ...ofLevel, details: { perHour, settled, accounts } });
  }
  const [outflowPerHour, paid] = readHourly(outflow, 'outflow');
  const ofOutflow = { kind: 'outflow_near', subject: hourAt(at) };
  if (paid * 100n >= outflowPerHour * OUTFLOW_LEVEL && isNew(ofOutflow)) {
    const details = { perHour: outflowPerHour, paid };
    relayer.log.error('most of the hourly outflow ceiling is used', details);
    await raise({ ...ofOutflow, details });
  }
}

/**
 * Decodes the result of either function: the hourly ceiling, and how much of it is used this hour.
 */
function readHourly(answer: CallAnswer | undefined, functionName: 'ceiling' | 'outflow') {
  return decodeView(answer, (data) =>
    decodeFunctionResult({ abi: settlementLensAbi, functionName, data }),
  );
}

/**
 * Used percentages of the hourly ceiling at which operators are alerted: either the hour is busy,
 * or a key was stolen.
 */
const LEVELS = [80, 50] as const;
/**
 * Used percentage of the hourly ceiling of refunds at which operators are alerted: either the day
 * is busy, or a thief refunds sales with a stolen key. Refunds above the ceiling wait for the next
 * hour.
 */
const OUTFLOW_LEVEL = 80n;
/** Number of accounts that an alarm names: those that have used most of the hour's ceiling. */
const NAMED = 5;

/** Returns the start of the hour that contains this time of the chain. */
function hourAt(time: Date): string {
  return new Date(time.getTime() - (time.getTime() % HOUR_MS)).toISOString();
}
