import { setTimeout as pause } from 'node:timers/promises';
import { failpoint } from '#core/failpoints.ts';
import { createBatcher } from '#db/batching.ts';
import { CommitUnknown, type Database, DatabaseUnavailable } from '#db/database.ts';
import { describeError, type Log } from '#observability/log.ts';
import type { AttemptResult } from '#webhooks/attempt-delivery.ts';
import {
  type DueRow,
  type HealthRow,
  type ResultRow,
  recordResults,
} from '#webhooks/delivery-queue-queries.ts';
import { saysGone } from '#webhooks/disable-endpoint.ts';
import type { EndpointSession } from '#webhooks/endpoint-session.ts';
import { type Health, nextAttemptAt } from '#webhooks/retry-schedule.ts';

/** Results per transaction. Larger transactions are not faster. */
const MAX_BATCH = 1_000;
/** One transaction at a time. Two at a time, each half as large, were an eighth slower. */
const MAX_IN_FLIGHT = 1;
/**
 * Pause between commits. Without it, 100 payments per second caused one transaction per two
 * deliveries, a tenth of PostgreSQL's work. If the process is killed during the pause, those
 * deliveries are sent again.
 */
const GAP_MS = 25;
/** Pauses between retries. Together they outlast a short database outage, but not a lease. */
const RETRY_PAUSES_MS = [100, 500, 1_000, 3_000];

export interface Finished {
  readonly session: EndpointSession;
  readonly row: DueRow;
  readonly result: AttemptResult;
  readonly health: Health;
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly nextAttemptAt: Date | null;
}

export function toFinished(session: EndpointSession, row: DueRow, result: AttemptResult): Finished {
  const base = { session, row, result, health: session.health };
  if (result.succeeded) return { ...base, status: 'succeeded', nextAttemptAt: null };
  const { finished, retryAfterMs } = result;
  const attempt = row.attempt + 1;
  const last = saysGone(result) || row.body === null;
  const next = last
    ? null
    : nextAttemptAt({ attempt, finished, retryAfterMs, random: Math.random() });
  return { ...base, status: next === null ? 'failed' : 'pending', nextAttemptAt: next };
}

/** stale: the lease had expired, so nothing was changed. unknown: the database is unreachable. */
export type Recorded = 'recorded' | 'stale' | 'unknown';

export interface Recorder {
  record(finished: Finished): Promise<Recorded>;
}

function toRow(finished: Finished): ResultRow {
  const { session, row, result } = finished;
  return {
    endpoint_id: session.endpointId,
    fencing_token: session.fencingToken,
    event_created: row.event_created,
    event_position: row.event_position,
    status: finished.status,
    attempt: row.attempt + 1,
    finished: result.finished,
    response_status: result.responseStatus,
    response_body: result.responseBody,
    error: result.error,
    duration_ms: result.durationMs,
    next_attempt_at: finished.nextAttemptAt,
  };
}

function toHealth({ session, health }: Finished): HealthRow {
  return {
    endpoint_id: session.endpointId,
    fencing_token: session.fencingToken,
    consecutive_failures: health.consecutiveFailures,
    not_before: health.notBefore,
    failing_since: health.failingSince,
  };
}

async function recordBatch(db: Database, batch: readonly Finished[]): Promise<Recorded[]> {
  // The latest health of each endpoint in the batch.
  const health = new Map(
    batch.map((finished) => [finished.session.endpointId, toHealth(finished)]),
  );
  failpoint('webhooks.answered');
  const stale = await recordResults(db, batch.map(toRow), [...health.values()]);
  failpoint('webhooks.recorded');
  return batch.map(({ session }) => (stale.has(session.endpointId) ? 'stale' : 'recorded'));
}

/**
 * If the database is unreachable the whole batch waits, because trying its items separately would
 * take minutes.
 */
async function recordOrWait(
  db: Database,
  batch: readonly Finished[],
  log: Log,
): Promise<Recorded[]> {
  try {
    return await recordBatch(db, batch);
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable || error instanceof CommitUnknown)) throw error;
    const fields = { error: describeError(error), results: batch.length };
    log.warn('webhook results could not be recorded', fields);
    return batch.map(() => 'unknown');
  }
}

/**
 * Records results in group commits. While the database is unreachable, results are held and
 * retried, because sending deliveries twice is worse.
 */
export function createRecorder(db: Database, log: Log): Recorder {
  const batcher = createBatcher<Finished, Recorded>({
    run: (batch) => recordOrWait(db, batch, log),
    maxInFlight: MAX_IN_FLIGHT,
    maxItems: MAX_BATCH,
    gapMs: GAP_MS,
  });
  const tryOnce = async (finished: Finished): Promise<Recorded> => {
    try {
      return await batcher.add(finished);
    } catch (error) {
      const fields = { error: describeError(error), delivery: finished.row.id };
      log.error('a webhook result could not be recorded', fields);
      return 'unknown';
    }
  };
  return {
    record: async (finished) => {
      for (const pauseMs of RETRY_PAUSES_MS) {
        const recorded = await tryOnce(finished);
        if (recorded !== 'unknown') return recorded;
        await pause(pauseMs);
      }
      return tryOnce(finished);
    },
  };
}
