import { setTimeout as pause } from 'node:timers/promises';
import { addMs, type Clock } from '#core/clock.ts';
import { failpoint } from '#core/failpoints.ts';
import { describeError, type Log } from '#core/log.ts';
import { isTracing, type Span, startSpan } from '#core/tracing.ts';
import type { Database } from '#db/database.ts';
import {
  type AttemptResult,
  attemptDelivery,
  countAttempt,
  notSent,
  openTarget,
  saysGone,
  type Target,
} from '#webhooks/attempt.ts';
import { dropBuffer, type Lane, noteLatency, openLane, roomOf } from '#webhooks/lane.ts';
import { type DueRow, type LaneRow, type Room, renewLanes } from '#webhooks/queue-queries.ts';
import { createRecorder, type Finished, type Recorder } from '#webhooks/recorder.ts';
import {
  afterFailure,
  afterSuccess,
  type Health,
  healthOf,
  nextAttemptAt,
} from '#webhooks/schedule.ts';
import { createSlots, SLOT_LIMITS, type Slots } from '#webhooks/slots.ts';
import type { Network } from '#webhooks/transport.ts';

export interface FleetDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly secretKey: Buffer;
  readonly network: Network;
  readonly owner: string;
  readonly leaseMs: number;
  /** Gives a lease back. Never rejects. */
  readonly release: (endpointId: string) => Promise<void>;
  /** Which trace an event belongs to; asked only while somebody traces. */
  readonly traceOf?: (body: string) => Promise<string | null>;
  /** The receiver answered 410. */
  readonly gone: (endpointId: string) => void;
  /** A lane has room and the queue may have more for it. */
  readonly hungry: () => void;
  /** A lease was given back: whoever is free may take it. */
  readonly released: () => void;
}

/** What to fetch, and how many hints had come when it was decided. */
export interface Look {
  readonly hints: number;
  readonly rooms: readonly Room[];
}

/** A worker keeps an endpoint this long after its last delivery. */
const LINGER_MS = 10_000;
/** Of one look: bounds its time. */
const MAX_LANES_OF_LOOK = 256;
/** Deliveries that are loaded, with their bodies: bounds the memory that they fill. */
const MAX_HELD_BY_FLEET = 10_000;
const DRAIN_STEP_MS = 20;

/** All endpoints in the hands of this worker, and everything in flight to them. */
export class Fleet {
  readonly #deps: FleetDeps;
  readonly #lanes = new Map<string, Lane>();
  readonly #slots: Slots;
  readonly #recorder: Recorder;
  /** Counts the hints that rows were written. */
  #hints = 0;
  #unrecorded = 0;
  #abandoned = false;

  constructor(deps: FleetDeps) {
    this.#deps = deps;
    this.#slots = createSlots(SLOT_LIMITS, (lane) => this.#deliverNext(lane));
    this.#recorder = createRecorder(deps.db, deps.log);
  }

  /** Takes over an endpoint that was just leased. */
  add(row: LaneRow): void {
    const { endpoint_id: endpointId, fence } = row;
    const target = this.#openTarget(row);
    if (target === null) return;
    const lane = openLane({ endpointId, fence, target, health: toHealth(row) });
    const old = this.#lanes.get(row.endpoint_id);
    if (old !== undefined) this.#lose(old);
    this.#lanes.set(row.endpoint_id, lane);
  }

  counts(): { readonly healthy: number; readonly failing: number } {
    let failing = 0;
    for (const lane of this.#lanes.values()) if (lane.health.consecutiveFailures > 0) failing++;
    return { healthy: this.#lanes.size - failing, failing };
  }

  /** Rows may have been written: lanes that found nothing look again. */
  expectWork(): void {
    this.#hints++;
  }

  /** The lanes with room whose queue may hold something, those first that looked longest ago. */
  look(): Look {
    const rooms: Room[] = [];
    let held = 0;
    for (const lane of this.#lanes.values()) held += lane.held.size;
    for (const lane of this.#lanes.values()) {
      const room = roomOf(lane, this.#hints);
      if (room === 0) continue;
      held += room;
      if (held > MAX_HELD_BY_FLEET) break;
      rooms.push({ endpointId: lane.endpointId, room, held: [...lane.held] });
      if (rooms.length === MAX_LANES_OF_LOOK) break;
    }
    return { hints: this.#hints, rooms };
  }

  receive(look: Look, rows: readonly DueRow[]): void {
    const byEndpoint = Map.groupBy(rows, (row) => row.endpoint_id);
    for (const { endpointId, room } of look.rooms) {
      const lane = this.#lanes.get(endpointId);
      if (lane === undefined) continue;
      const found = byEndpoint.get(endpointId) ?? [];
      // To the end of the line of those that look.
      this.#lanes.delete(endpointId);
      this.#lanes.set(endpointId, lane);
      if (found.length < room) lane.dryAtHint = look.hints;
      if (lane.state === 'open') this.#accept(lane, found);
    }
  }

  /**
   * Prolongs the leases and reads the endpoints again. Lanes that are not ours any more are
   * lost; idle ones are given back.
   */
  async renew(): Promise<boolean> {
    const { db, clock, owner, leaseMs } = this.#deps;
    const asked = [...this.#lanes.values()];
    if (asked.length === 0) return false;
    const lease = { owner, until: addMs(clock.now(), leaseMs) };
    const ids = asked.map((lane) => lane.endpointId);
    const rows = new Map((await renewLanes(db, lease, ids)).map((row) => [row.endpoint_id, row]));
    for (const lane of asked) {
      const row = rows.get(lane.endpointId);
      if (lane.state === 'lost') continue;
      if (row === undefined || row.fence !== lane.fence) this.#lose(lane);
      else if (row.status === 'disabled') this.#giveBack(lane);
      else this.#refresh(lane, row);
    }
    return false;
  }

  /** Starts nothing more; resolves when everything in flight is recorded. */
  async drain(): Promise<void> {
    for (const lane of this.#lanes.values()) {
      dropBuffer(lane);
      lane.state = 'pausing';
    }
    while (this.#slots.inFlight() > 0 || this.#unrecorded > 0) await pause(DRAIN_STEP_MS);
  }

  /** Gives up on what is in flight: its rows are still in the queue and are sent again. */
  abandon(): void {
    this.#abandoned = true;
    for (const lane of this.#lanes.values()) this.#lose(lane);
  }

  async releaseAll(): Promise<void> {
    const ids = [...this.#lanes.keys()];
    for (const lane of this.#lanes.values()) this.#lose(lane);
    await Promise.all(ids.map((id) => this.#deps.release(id)));
  }

  stats(): { readonly endpoints: number; readonly inFlight: number } {
    return { endpoints: this.#lanes.size, inFlight: this.#slots.inFlight() };
  }

  #accept(lane: Lane, rows: readonly DueRow[]): void {
    for (const row of rows) {
      // The endpoint was changed since its target was made: read it again before anything is sent.
      if (row.endpoint_updated.getTime() !== lane.target.updated.getTime()) {
        lane.dryAtHint = -1;
        void this.renew().then(this.#deps.hungry, this.#deps.hungry);
        return;
      }
      lane.buffer.push(row);
      lane.held.add(row.event_position);
    }
    if (rows.length > 0) lane.usedAtMs = performance.now();
    this.#slots.offer(lane);
  }

  /** One delivery of the lane, from its buffer to its recorded result. */
  async #deliverNext(lane: Lane): Promise<void> {
    const row = lane.buffer.shift();
    if (row === undefined) return;
    lane.inFlight++;
    const result = await this.#attempt(lane, row);
    lane.inFlight--;
    if (this.#abandoned) return;
    noteLatency(lane, result.durationMs);
    countAttempt(row, result);
    const { finished, retryAfterMs } = result;
    lane.health = result.succeeded
      ? afterSuccess(lane.health)
      : afterFailure(lane.health, finished, retryAfterMs);
    if (lane.health.notBefore !== null) this.#pause(lane);
    // Not awaited: the next delivery starts while this one is written down.
    void this.#record(toFinished(lane, row, result));
  }

  async #attempt(lane: Lane, row: DueRow): Promise<AttemptResult> {
    const { clock, log } = this.#deps;
    if (row.body === null) return notSent('event_expired', clock.now());
    failpoint('webhooks.taken');
    const span = isTracing() ? await this.#startSpan(row, row.body) : null;
    const message = {
      deliveryId: row.id,
      eventId: row.event_id,
      eventType: row.event_type,
      body: row.body,
      attempt: row.attempt + 1,
      traceparent: span?.traceparent ?? null,
    };
    try {
      const result = await attemptDelivery(lane.target, message, clock);
      if (result.error !== null) span?.fail(result.error);
      return result;
    } catch (error) {
      log.error('a webhook could not be sent', { delivery: row.id, error: describeError(error) });
      return notSent('not_sent', clock.now());
    } finally {
      span?.end();
    }
  }

  /** null: the event belongs to nobody's trace. */
  async #startSpan(row: DueRow, body: string): Promise<Span | null> {
    const parent = await this.#deps.traceOf?.(body).catch(() => null);
    if (parent == null) return null;
    const attributes = {
      'tapline.event': row.event_id,
      'tapline.delivery': row.id,
      'tapline.attempt': row.attempt + 1,
    };
    return startSpan(`webhook ${row.event_type}`, { parent, kind: 'client', attributes });
  }

  async #record(finished: Finished): Promise<void> {
    const { lane, row, result } = finished;
    this.#unrecorded++;
    const recorded = await this.#recorder.record(finished);
    this.#unrecorded--;
    lane.held.delete(row.event_position);
    lane.usedAtMs = performance.now();
    if (recorded !== 'recorded') this.#giveBack(lane);
    else if (saysGone(result)) this.#deps.gone(lane.endpointId);
    if (lane.state === 'pausing' && lane.held.size === 0) this.#giveBack(lane);
    if (roomOf(lane, this.#hints) > 0) this.#deps.hungry();
  }

  /** Nothing is sent for a while: whoever leases the endpoint when it is over goes on. */
  #pause(lane: Lane): void {
    dropBuffer(lane);
    if (lane.state === 'open') lane.state = 'pausing';
  }

  /** null when its secrets cannot be opened: one wrong row must not stop the others. */
  #openTarget(row: LaneRow): Target | null {
    try {
      return openTarget(row.endpoint_id, row, this.#deps);
    } catch (error) {
      const fields = { endpoint: row.endpoint_id, error: describeError(error) };
      this.#deps.log.error('a webhook endpoint cannot be served', fields);
      return null;
    }
  }

  #refresh(lane: Lane, row: LaneRow): void {
    if (row.updated.getTime() !== lane.target.updated.getTime()) {
      dropBuffer(lane);
      lane.dryAtHint = -1;
      const target = this.#openTarget(row);
      if (target === null) {
        this.#lose(lane);
        return;
      }
      // What is in flight ends on the old sockets.
      lane.target.transport.closeGently();
      lane.target = target;
      this.#deps.hungry();
    }
    const idleMs = performance.now() - lane.usedAtMs;
    if (lane.held.size === 0 && idleMs > LINGER_MS) this.#giveBack(lane);
  }

  #giveBack(lane: Lane): void {
    if (lane.state === 'lost') return;
    this.#lose(lane);
    void this.#deps.release(lane.endpointId).then(this.#deps.released);
  }

  #lose(lane: Lane): void {
    dropBuffer(lane);
    lane.state = 'lost';
    if (this.#lanes.get(lane.endpointId) === lane) this.#lanes.delete(lane.endpointId);
    if (this.#abandoned) lane.target.transport.close();
    else lane.target.transport.closeGently();
  }
}

function toHealth(row: LaneRow): Health {
  return healthOf({
    consecutiveFailures: row.consecutive_failures,
    failingSince: row.failing_since,
    notBefore: row.not_before,
  });
}

function toFinished(lane: Lane, row: DueRow, result: AttemptResult): Finished {
  const base = { lane, row, result, health: lane.health };
  if (result.succeeded) return { ...base, status: 'succeeded', nextAttemptAt: null };
  const { finished, retryAfterMs } = result;
  const attempt = row.attempt + 1;
  const last = saysGone(result) || row.body === null;
  const next = last
    ? null
    : nextAttemptAt({ attempt, finished, retryAfterMs, random: Math.random() });
  return { ...base, status: next === null ? 'failed' : 'pending', nextAttemptAt: next };
}
