import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { type Loop, startLoop } from '#core/loop.ts';
import { lensOf } from '#settlement/contract/lens.ts';
import { contractsOf } from '#settlement/editions.ts';
import { upsertReport, type WorkerReport } from '#settlement/readiness-queries.ts';
import type { HeldLane, RelayerState } from '#settlement/relayer/machine/state.ts';
import { hourlyCall, watchCeiling, watchOutflow } from '#settlement/relayer/watch-ceiling.ts';
import { settlementLensAbi } from '../../../contracts/artifacts/SettlementLens.ts';

/** How soon a change is written down. */
const REPORT_MS = 500;
/** Without a change a heartbeat is enough: a worker counts as gone after 10 s. */
const HEARTBEAT_MS = 2_000;
/**
 * In looks at an idle chain: two minutes. The check before each payment sees a pause at once
 * anyway, and a free plan allows 15 calls in an idle minute (`test/long/price.test.ts`).
 */
const PAUSE_LOOKS = 8;
/** While it is paused or nearly full, customers may be waiting for the end of that. */
const PAUSED_POLL_MS = 5_000;
/** Looks that failed in a row before the node counts as gone: one may be an accident. */
const FAILED_LOOKS = 2;
/** A node that hangs fails no look for some seconds. */
const SILENT_MS = 5_000;
/** behavior.md 16. */
const CLOCK_OFF_MS = 30_000;

/** Writes this worker's view of its network down, for all processes. */
export function startReporter(
  relayer: RelayerState,
  onError: (name: string, error: unknown) => void,
): Loop {
  const { livemode } = relayer.chain.config;
  let written = '';
  let writtenAt = Number.NEGATIVE_INFINITY;
  let pauseReadAt = Number.NEGATIVE_INFINITY;
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
      const { paused, nearCeiling } = relayer.sight;
      const dueMs = paused || nearCeiling ? Math.min(pollMs, PAUSED_POLL_MS) : pollMs;
      if (performance.now() - pauseReadAt > dueMs) {
        pauseReadAt = performance.now();
        await readContract(relayer);
      }
      return false;
    },
  });
}

export function reportOf(
  relayer: Pick<RelayerState, 'sight' | 'lanes' | 'chain' | 'db'>,
  at: number,
): WorkerReport {
  const { answeredAt, failedPolls, headOffMs, paused } = relayer.sight;
  const silentMs = relayer.chain.config.idleHeadMs + SILENT_MS;
  const isSilent = answeredAt === null || at - answeredAt > silentMs;
  const offMs = headOffMs ?? 0;
  const operators = [...relayer.lanes.values()].filter(({ role }) => role === 'operator');
  return {
    reasons: [
      ...(isSilent || failedPolls >= FAILED_LOOKS ? (['no_node'] as const) : []),
      ...(Math.abs(offMs) > CLOCK_OFF_MS ? (['clock'] as const) : []),
      ...(paused ? (['paused'] as const) : []),
      // Also while operators have to say whether the database was restored.
      ...(relayer.db.watch.serves(relayer.chain.config.livemode) ? [] : (['recovering'] as const)),
    ],
    lanes: operators.length,
    fundedLanes: operators.filter(({ isStarved }) => !isStarved).length,
    paymentsLeft: paymentsLeftOf(operators),
    contracts: contractsOf(relayer.chain.config).length,
  };
}

/** More than anybody will see, and exact as a number. */
const MANY_PAYMENTS = 10n ** 15n;

function paymentsLeftOf(lanes: readonly Pick<HeldLane, 'paymentsLeft'>[]): number | null {
  const known = lanes.flatMap(({ paymentsLeft }) => paymentsLeft ?? []);
  if (known.length === 0) return null;
  const sum = known.reduce((all, one) => all + one, 0n);
  return Number(sum < MANY_PAYMENTS ? sum : MANY_PAYMENTS);
}

async function readContract(relayer: RelayerState): Promise<void> {
  const { chain } = relayer;
  const { settlement } = chain.config;
  const data = encodeFunctionData({ abi: settlementLensAbi, functionName: 'settlingPaused' });
  const [answer, ceiling, outflow] = await chain.calls([
    { to: lensOf(settlement), data, words: 1 },
    hourlyCall(settlement, 'ceiling'),
    hourlyCall(settlement, 'outflow'),
  ]);
  if (answer?.ok !== true) return;
  const functionName = 'settlingPaused';
  const paused = decodeFunctionResult({ abi: settlementLensAbi, functionName, data: answer.data });
  relayer.see({ kind: 'contract_read', paused });
  await watchCeiling(relayer, ceiling);
  await watchOutflow(relayer, outflow);
}
