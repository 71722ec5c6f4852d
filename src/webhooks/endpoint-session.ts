import type { AttemptResult, Target } from '#webhooks/attempt-delivery.ts';
import type { DueRow } from '#webhooks/delivery-queue-queries.ts';
import { afterFailure, afterSuccess, type Health, isBroken } from '#webhooks/retry-schedule.ts';

/**
 * This worker's state of one endpoint, for as long as its lease lasts.
 *
 * | state      | meaning                                               | ends with              |
 * |------------|-------------------------------------------------------|------------------------|
 * | `open`     | It takes deliveries, and sends them.                  | a failure with a pause |
 * |            |                                                       | after it, a stop, a    |
 * |            |                                                       | lost lease             |
 * | `draining` | It starts nothing. Its lease is given back once all   | the last recorded      |
 * |            | in flight is recorded.                                | result, a lost lease   |
 * | `ended`    | The lease is not ours: results in flight change       | nothing                |
 * |            | nothing, by their fencing token.                      |                        |
 */
export interface EndpointSession {
  readonly endpointId: string;
  readonly fencingToken: bigint;
  target: Target;
  health: Health;
  /** Deliveries taken from the queue, but not started. */
  buffer: DueRow[];
  /** Positions of all deliveries that were taken and are not recorded yet. */
  readonly held: Set<bigint>;
  inFlight: number;
  /** The smoothed response time. */
  latencyMs: number;
  /** The time at which the session last had work, on the monotonic clock. */
  usedAtMs: number;
  state: 'open' | 'draining' | 'ended';
  /** The hint count at the last read that returned fewer deliveries than requested. */
  emptyAtHint: number;
  /** True while the session waits for its turn. */
  queued: boolean;
}

/** Deliveries held per endpoint: enough that a fast receiver never waits for the next read. */
const MAX_HELD = 64;
/** More deliveries are read once fewer than this are held. */
const LOW_WATER = 32;
/** An endpoint whose responses take longer counts as slow, and uses separate slots. */
export const SLOW_MS = 1_000;
/** The weight of the newest response in the smoothed time. */
const LATENCY_WEIGHT = 0.25;

export function openSession(leased: {
  readonly endpointId: string;
  readonly fencingToken: bigint;
  readonly target: Target;
  readonly health: Health;
}): EndpointSession {
  return {
    ...leased,
    buffer: [],
    held: new Set(),
    inFlight: 0,
    latencyMs: 0,
    usedAtMs: performance.now(),
    state: 'open',
    emptyAtHint: -1,
    queued: false,
  };
}

/**
 * Returns how many more deliveries to fetch: zero if the queue is empty and no hint has arrived
 * since; at most one for a broken endpoint.
 */
export function mostToTake(session: EndpointSession, hints: number): number {
  if (session.state !== 'open' || session.emptyAtHint === hints) return 0;
  if (isBroken(session.health)) return Math.max(0, 1 - session.held.size);
  const most = Math.min(MAX_HELD, session.health.window * 8);
  return session.held.size < Math.min(LOW_WATER, most) ? most - session.held.size : 0;
}

export function canStart(session: EndpointSession): boolean {
  return (
    session.state === 'open' &&
    session.buffer.length > 0 &&
    session.inFlight < session.health.window
  );
}

/**
 * True for slow and failing endpoints, which use separate slots, so that they never delay fast
 * endpoints.
 */
export function isSlow(session: EndpointSession): boolean {
  return session.health.consecutiveFailures > 0 || session.latencyMs > SLOW_MS;
}

/** Marks the endpoint as slow, because a response is overdue. */
export function noteOverdue(session: EndpointSession): void {
  session.latencyMs = Math.max(session.latencyMs, 2 * SLOW_MS);
}

/** Makes the worker read the session's queue again, which may contain more than was read. */
export function lookAgain(session: EndpointSession): void {
  session.emptyAtHint = -1;
}

export function accept(session: EndpointSession, rows: readonly DueRow[]): void {
  session.buffer.push(...rows);
  for (const { event_position: position } of rows) session.held.add(position);
  if (rows.length > 0) session.usedAtMs = performance.now();
}

/**
 * Updates the endpoint's latency and health when a delivery's result is known, before it is
 * recorded.
 */
export function answered(session: EndpointSession, result: AttemptResult): void {
  const { durationMs, finished, retryAfterMs } = result;
  session.latencyMs += (durationMs - session.latencyMs) * LATENCY_WEIGHT;
  session.health = result.succeeded
    ? afterSuccess(session.health)
    : afterFailure(session.health, finished, retryAfterMs);
  // After the pause, any worker may lease the endpoint and continue.
  if (session.health.notBefore !== null) drain(session);
}

/**
 * Removes a recorded delivery.
 * @returns true if the lease is no longer needed.
 */
export function recorded(session: EndpointSession, { event_position }: DueRow): boolean {
  session.held.delete(event_position);
  session.usedAtMs = performance.now();
  return session.state === 'draining' && session.held.size === 0;
}

export function isIdle({ held, usedAtMs }: EndpointSession, forMs: number): boolean {
  return held.size === 0 && performance.now() - usedAtMs > forMs;
}

/** Deliveries in flight end on the old sockets; the others are fetched again. */
export function retarget(session: EndpointSession, target: Target): void {
  putBack(session);
  lookAgain(session);
  session.target.transport.closeGently();
  session.target = target;
}

export function drain(session: EndpointSession): void {
  putBack(session);
  if (session.state === 'open') session.state = 'draining';
}

export function end(session: EndpointSession, { atOnce }: { readonly atOnce: boolean }): void {
  putBack(session);
  session.state = 'ended';
  if (atOnce) session.target.transport.close();
  else session.target.transport.closeGently();
}

/** Drops deliveries that were taken but not started. Their rows are still queued. */
function putBack(session: EndpointSession): void {
  for (const row of session.buffer) session.held.delete(row.event_position);
  session.buffer = [];
}
