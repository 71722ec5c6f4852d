import { addMs } from '#core/clock.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/durations.ts';

/** Delays between attempts (behavior.md 11.5): 12 attempts in about three days. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

/**
 * Delays vary by up to this share, so that deliveries that failed together are not retried
 * together.
 */
const JITTER = 0.2;
/** Maximum Retry-After that is respected. */
const MAX_RETRY_AFTER_MS = HOUR_MS;
/** Maximum number of requests in flight to one endpoint. */
export const MAX_IN_FLIGHT = 8;
/**
 * After this many failures in a row, the endpoint counts as broken: it gets one request at a time,
 * as a probe.
 */
export const BROKEN_AFTER_FAILURES = 5;
/** The interval of the first probes. Later intervals are a tenth of the outage so far. */
const MIN_PROBE_MS = 5 * SECOND_MS;
const PROBE_SHARE = 0.1;
/** Maximum interval between probes, and so the maximum delay until a recovery is noticed. */
const MAX_PROBE_MS = 5 * MINUTE_MS;

/**
 * Returns when the attempt after `attempt` (counted from 1) is due; `null` if that was the last.
 * `random` is between 0 and 1. `retryAfterMs` is the delay that the receiver requested.
 */
export function nextAttemptAt(last: {
  readonly attempt: number;
  readonly finished: Date;
  readonly retryAfterMs: number | null;
  readonly random: number;
}): Date | null {
  const delay = RETRY_DELAYS_MS[last.attempt - 1];
  if (delay === undefined) return null;
  const jittered = Math.round(delay * (1 - JITTER + 2 * JITTER * last.random));
  return addMs(last.finished, Math.max(jittered, last.retryAfterMs ?? 0));
}

/** Returns `Retry-After` in milliseconds, limited; `null` if absent or invalid. */
export function parseRetryAfter(header: string | null, now: Date): number | null {
  if (header === null) return null;
  const text = header.trim();
  const ms = /^\d{1,9}$/.test(text)
    ? Number(text) * SECOND_MS
    : new Date(text).getTime() - now.getTime();
  if (!Number.isFinite(ms) || ms <= 0) return null;
  return Math.min(ms, MAX_RETRY_AFTER_MS);
}

/**
 * An endpoint's health, from its recent responses. Stored in webhook_endpoint_leases for the next
 * worker.
 */
export interface Health {
  readonly consecutiveFailures: number;
  readonly failingSince: Date | null;
  /** Nothing is sent before this time; `null` for no pause. */
  readonly notBefore: Date | null;
  /** Maximum number of requests in flight. */
  readonly window: number;
}

/**
 * Requests in flight until an endpoint's first response: few, because it may not respond at all.
 */
const FIRST_WINDOW = 2;

/**
 * A worker starts slowly with an endpoint that it has just leased, especially if the endpoint is
 * failing.
 */
export function healthOf(row: {
  readonly consecutiveFailures: number;
  readonly failingSince: Date | null;
  readonly notBefore: Date | null;
}): Health {
  return { ...row, window: row.consecutiveFailures === 0 ? FIRST_WINDOW : 1 };
}

export function isBroken(health: Health): boolean {
  return health.consecutiveFailures >= BROKEN_AFTER_FAILURES;
}

/** Returns the health after a success: failures are cleared, and the window doubles. */
export function afterSuccess(health: Health): Health {
  const window = Math.min(health.window * 2, MAX_IN_FLIGHT);
  return { consecutiveFailures: 0, failingSince: null, notBefore: null, window };
}

function probeDelayMs(failingSince: Date, now: Date): number {
  const share = (now.getTime() - failingSince.getTime()) * PROBE_SHARE;
  return Math.min(Math.max(share, MIN_PROBE_MS), MAX_PROBE_MS);
}

/**
 * Returns the health after a failure: the window is halved, and a broken endpoint pauses before
 * each probe.
 */
export function afterFailure(health: Health, now: Date, retryAfterMs: number | null): Health {
  const consecutiveFailures = health.consecutiveFailures + 1;
  const failingSince = health.failingSince ?? now;
  const broken = consecutiveFailures >= BROKEN_AFTER_FAILURES;
  const pauseMs = Math.max(broken ? probeDelayMs(failingSince, now) : 0, retryAfterMs ?? 0);
  return {
    consecutiveFailures,
    failingSince,
    notBefore: pauseMs > 0 ? addMs(now, pauseMs) : null,
    window: broken ? 1 : Math.max(1, Math.floor(health.window / 2)),
  };
}
