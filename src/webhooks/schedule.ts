import { addMs } from '#core/clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/durations.ts';

/** From one attempt to the next (behavior.md 11.5): 12 attempts in about three days. */
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

/** Spreads the retries of what failed together. */
const JITTER = 0.2;
/** A receiver may ask for patience, not for silence. */
const MAX_RETRY_AFTER_MS = HOUR_MS;
/** At most this many requests are in flight to one endpoint. */
export const MAX_IN_FLIGHT = 8;
/** So many failures in a row and the endpoint counts as broken: one probe at a time. */
export const BROKEN_AFTER_FAILURES = 5;
/** The first probes come this often; later ones after a tenth of the outage so far. */
const MIN_PROBE_MS = 5 * SECOND_MS;
const PROBE_SHARE = 0.1;
/** So an endpoint that is back is noticed within this. */
const MAX_PROBE_MS = 5 * MINUTE_MS;
/** An endpoint without one success for this long is disabled. */
export const DISABLE_AFTER_MS = 5 * DAY_MS;

/**
 * When the attempt after `attempt` (1 is the first) is due, or null when it was the last.
 * `random` is from 0 to 1. `retryAfterMs` is what the receiver asked for.
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

/** `Retry-After` in milliseconds, within reason; null when absent or not understood. */
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
 * What one endpoint's recent answers say about it. Kept in webhook_endpoint_leases, so it survives
 * the worker.
 */
export interface Health {
  readonly consecutiveFailures: number;
  readonly failingSince: Date | null;
  /** Nothing is sent before this; null: at once. */
  readonly notBefore: Date | null;
  /** Requests that may be in flight. */
  readonly window: number;
}

/** Until an endpoint has answered once, it gets few requests: it may hang. */
const FIRST_WINDOW = 2;

/** A worker that takes over an endpoint begins carefully, most of all with one that fails. */
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

/** After a success: healed, and ramping up by doubling rather than with everything at once. */
export function afterSuccess(health: Health): Health {
  const window = Math.min(health.window * 2, MAX_IN_FLIGHT);
  return { consecutiveFailures: 0, failingSince: null, notBefore: null, window };
}

function probeDelayMs(failingSince: Date, now: Date): number {
  const share = (now.getTime() - failingSince.getTime()) * PROBE_SHARE;
  return Math.min(Math.max(share, MIN_PROBE_MS), MAX_PROBE_MS);
}

/** After a failure: half as many at once; once broken, one probe and then a pause. */
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
