import type { Target } from '#webhooks/attempt.ts';
import type { DueRow } from '#webhooks/queue-queries.ts';
import { type Health, isBroken } from '#webhooks/schedule.ts';

/** What this worker knows and holds of one endpoint, for as long as its lease lasts. */
export interface Courier {
  readonly endpointId: string;
  readonly fence: bigint;
  target: Target;
  health: Health;
  /** Taken from the queue, not started. */
  buffer: DueRow[];
  /** Places of everything taken and not recorded yet. */
  readonly held: Set<bigint>;
  inFlight: number;
  /** Smoothed time of its answers. */
  latencyMs: number;
  /** When it last had work, on the monotonic clock. */
  usedAtMs: number;
  /** open: at work. pausing: starts nothing, is given back once all is recorded. lost: not ours. */
  state: 'open' | 'pausing' | 'lost';
  /** The number of hints at the last look that found less than was asked for. */
  dryAtHint: number;
  /** It is waiting for its turn. */
  queued: boolean;
}

/** Held per endpoint: enough that a fast receiver never waits for the next look. */
const MAX_HELD = 64;
/** With fewer the next look is due. */
const LOW_WATER = 32;
/** Answers slower than this count as slow: such endpoints share slots of their own. */
export const SLOW_MS = 1_000;
/** Weight of the newest answer. */
const LATENCY_WEIGHT = 0.25;

export function openCourier(leased: {
  readonly endpointId: string;
  readonly fence: bigint;
  readonly target: Target;
  readonly health: Health;
}): Courier {
  return {
    ...leased,
    buffer: [],
    held: new Set(),
    inFlight: 0,
    latencyMs: 0,
    usedAtMs: performance.now(),
    state: 'open',
    dryAtHint: -1,
    queued: false,
  };
}

/**
 * How many more deliveries to take: none when the queue was found empty and no hint came since.
 * A failing endpoint is given few: the rest wait.
 */
export function mostToTake(courier: Courier, hints: number): number {
  if (courier.state !== 'open' || courier.dryAtHint === hints) return 0;
  if (isBroken(courier.health)) return Math.max(0, 1 - courier.held.size);
  const most = Math.min(MAX_HELD, courier.health.window * 8);
  return courier.held.size < Math.min(LOW_WATER, most) ? most - courier.held.size : 0;
}

export function canStart(courier: Courier): boolean {
  return (
    courier.state === 'open' &&
    courier.buffer.length > 0 &&
    courier.inFlight < courier.health.window
  );
}

/** Slow and failing endpoints, which share slots of their own: they never hold up the brisk. */
export function isSlow(courier: Courier): boolean {
  return courier.health.consecutiveFailures > 0 || courier.latencyMs > SLOW_MS;
}

export function noteLatency(courier: Courier, durationMs: number): void {
  courier.latencyMs += (durationMs - courier.latencyMs) * LATENCY_WEIGHT;
}

/** An answer has not come in time yet: the endpoint counts as slow from now on. */
export function noteOverdue(courier: Courier): void {
  courier.latencyMs = Math.max(courier.latencyMs, 2 * SLOW_MS);
}

/** Puts back what was taken and not started: the rows are still in the queue. */
export function dropBuffer(courier: Courier): void {
  for (const row of courier.buffer) courier.held.delete(row.event_position);
  courier.buffer = [];
}
