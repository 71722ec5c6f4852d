import type { Target } from '#webhooks/attempt.ts';
import type { DueRow } from '#webhooks/queue-queries.ts';
import { type Health, isBroken } from '#webhooks/schedule.ts';

/** One endpoint in the hands of this worker, for as long as its lease holds. */
export interface Lane {
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
  /** open: works. pausing: starts nothing, is given back when all is recorded. lost: not ours. */
  state: 'open' | 'pausing' | 'lost';
  /** The number of hints at the last look that found fewer than there was room for. */
  dryAtHint: number;
  /** Waits for its turn. */
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

export function openLane(leased: {
  readonly endpointId: string;
  readonly fence: bigint;
  readonly target: Target;
  readonly health: Health;
}): Lane {
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
export function roomOf(lane: Lane, hints: number): number {
  if (lane.state !== 'open' || lane.dryAtHint === hints) return 0;
  if (isBroken(lane.health)) return Math.max(0, 1 - lane.held.size);
  const most = Math.min(MAX_HELD, lane.health.window * 8);
  return lane.held.size < Math.min(LOW_WATER, most) ? most - lane.held.size : 0;
}

export function canStart(lane: Lane): boolean {
  return lane.state === 'open' && lane.buffer.length > 0 && lane.inFlight < lane.health.window;
}

/** Slow and failing endpoints, which share slots of their own: they never hold up the brisk. */
export function isSlow(lane: Lane): boolean {
  return lane.health.consecutiveFailures > 0 || lane.latencyMs > SLOW_MS;
}

export function noteLatency(lane: Lane, durationMs: number): void {
  lane.latencyMs += (durationMs - lane.latencyMs) * LATENCY_WEIGHT;
}

/** An answer has not come in time yet: the endpoint counts as slow from now on. */
export function noteOverdue(lane: Lane): void {
  lane.latencyMs = Math.max(lane.latencyMs, 2 * SLOW_MS);
}

/** Puts back what was taken and not started: the rows are still in the queue. */
export function dropBuffer(lane: Lane): void {
  for (const row of lane.buffer) lane.held.delete(row.event_position);
  lane.buffer = [];
}
