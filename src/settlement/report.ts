import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { type Loop, startLoop } from '#core/loop.ts';
import { upsertReport, type WorkerReport } from '#settlement/readiness-queries.ts';
import type { RelayerState } from '#settlement/relayer-state.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';

/** How soon a change is written down. */
const REPORT_MS = 500;
/** Without a change a sign of life is enough: a worker counts as gone after 10 s. */
const HEARTBEAT_MS = 2_000;
/** Often enough for a hand on the brake; the check before each payment sees it at once. */
const PAUSE_POLL_MS = 2_000;
/** Looks that failed in a row before the node counts as gone: one may be an accident. */
const FAILED_LOOKS = 2;
/** A node that hangs fails no look for some seconds. */
const SILENT_MS = 5_000;
/** decisions.md section 12. */
const CLOCK_OFF_MS = 30_000;

/** When this process last heard of the chain, whatever became of what it did about it. */
export interface ChainSight {
  /** Process time of the last look that was answered; null: none was. */
  answeredAt: number | null;
  failedLooks: number;
  headTime: Date | null;
  paused: boolean;
}

export function newSight(): ChainSight {
  return { answeredAt: null, failedLooks: 0, headTime: null, paused: false };
}

/** Writes down, for all processes, what this worker sees of its network. */
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
      if (performance.now() - pauseReadAt > PAUSE_POLL_MS) {
        pauseReadAt = performance.now();
        await readPause(relayer);
      }
      return false;
    },
  });
}

export function reportOf(
  relayer: Pick<RelayerState, 'sight' | 'lanes' | 'clock'>,
  at: number,
): WorkerReport {
  const { answeredAt, failedLooks, headTime, paused } = relayer.sight;
  const isSilent = answeredAt === null || at - answeredAt > SILENT_MS;
  const offMs = headTime === null ? 0 : relayer.clock.now().getTime() - headTime.getTime();
  const operators = [...relayer.lanes.values()].filter(({ role }) => role === 'operator');
  return {
    reasons: [
      ...(isSilent || failedLooks >= FAILED_LOOKS ? (['no_node'] as const) : []),
      ...(Math.abs(offMs) > CLOCK_OFF_MS ? (['clock'] as const) : []),
      ...(paused ? (['paused'] as const) : []),
    ],
    lanes: operators.length,
    fundedLanes: operators.filter(({ starved }) => !starved).length,
  };
}

async function readPause({ chain, sight }: RelayerState): Promise<void> {
  const data = encodeFunctionData({ abi: settlementAbi, functionName: 'settlingPaused' });
  const [answer] = await chain.calls([{ to: chain.config.settlement, data }]);
  if (answer?.ok !== true) return;
  const functionName = 'settlingPaused';
  sight.paused = decodeFunctionResult({ abi: settlementAbi, functionName, data: answer.data });
}
