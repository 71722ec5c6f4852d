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
import {
  type Courier,
  dropBuffer,
  mostToTake,
  noteLatency,
  openCourier,
} from '#webhooks/courier.ts';
import { type Ask, type DueRow, type LeasedRow, renewLeases } from '#webhooks/queue-queries.ts';
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
  /** A courier can take more, and the queue may have more for it. */
  readonly hungry: () => void;
  /** A lease was given back, and a free worker may take it. */
  readonly released: () => void;
}

/** What to fetch, and how many hints had come when it was decided. */
export interface Look {
  readonly hints: number;
  readonly asks: readonly Ask[];
}

/** A worker keeps an endpoint this long after its last delivery. */
const LINGER_MS = 10_000;
/** Endpoints of one look: bounds its time. */
const MAX_ENDPOINTS_OF_LOOK = 256;
/** Deliveries that are loaded, with their bodies: bounds the memory that they fill. */
const MAX_HELD_BY_FLEET = 10_000;
const DRAIN_STEP_MS = 20;

/** All endpoints that this worker holds, and everything in flight to them. */
export class Fleet {
  readonly #deps: FleetDeps;
  readonly #couriers = new Map<string, Courier>();
  readonly #slots: Slots;
  readonly #recorder: Recorder;
  /** Counts the hints that rows were written. */
  #hints = 0;
  #unrecorded = 0;
  #abandoned = false;

  constructor(deps: FleetDeps) {
    this.#deps = deps;
    this.#slots = createSlots(SLOT_LIMITS, (courier) => this.#deliverNext(courier));
    this.#recorder = createRecorder(deps.db, deps.log);
  }

  /** Takes over an endpoint that was just leased. */
  add(row: LeasedRow): void {
    const { endpoint_id: endpointId, fence } = row;
    const target = this.#openTarget(row);
    if (target === null) return;
    const courier = openCourier({ endpointId, fence, target, health: toHealth(row) });
    const old = this.#couriers.get(row.endpoint_id);
    if (old !== undefined) this.#lose(old);
    this.#couriers.set(row.endpoint_id, courier);
  }

  counts(): { readonly healthy: number; readonly failing: number } {
    let failing = 0;
    for (const courier of this.#couriers.values())
      if (courier.health.consecutiveFailures > 0) failing++;
    return { healthy: this.#couriers.size - failing, failing };
  }

  /** Rows may have been written: couriers that found nothing are to look again. */
  expectWork(): void {
    this.#hints++;
  }

  /**
   * What to fetch: for couriers that can take more and whose queue may hold something, the one that
   * looked longest ago first.
   */
  look(): Look {
    const asks: Ask[] = [];
    let held = 0;
    for (const courier of this.#couriers.values()) held += courier.held.size;
    for (const courier of this.#couriers.values()) {
      const most = mostToTake(courier, this.#hints);
      if (most === 0) continue;
      held += most;
      if (held > MAX_HELD_BY_FLEET) break;
      asks.push({ endpointId: courier.endpointId, most, held: [...courier.held] });
      if (asks.length === MAX_ENDPOINTS_OF_LOOK) break;
    }
    return { hints: this.#hints, asks };
  }

  receive(look: Look, rows: readonly DueRow[]): void {
    const byEndpoint = Map.groupBy(rows, (row) => row.endpoint_id);
    for (const { endpointId, most } of look.asks) {
      const courier = this.#couriers.get(endpointId);
      if (courier === undefined) continue;
      const found = byEndpoint.get(endpointId) ?? [];
      // To the end of the line of those that look.
      this.#couriers.delete(endpointId);
      this.#couriers.set(endpointId, courier);
      if (found.length < most) courier.dryAtHint = look.hints;
      if (courier.state === 'open') this.#accept(courier, found);
    }
  }

  /**
   * Prolongs the leases and reads the endpoints again. Couriers that are not ours any more are
   * lost; idle ones are given back.
   */
  async renew(): Promise<boolean> {
    const { db, clock, owner, leaseMs } = this.#deps;
    const asked = [...this.#couriers.values()];
    if (asked.length === 0) return false;
    const lease = { owner, until: addMs(clock.now(), leaseMs) };
    const ids = asked.map((courier) => courier.endpointId);
    const rows = new Map((await renewLeases(db, lease, ids)).map((row) => [row.endpoint_id, row]));
    for (const courier of asked) {
      const row = rows.get(courier.endpointId);
      if (courier.state === 'lost') continue;
      if (row === undefined || row.fence !== courier.fence) this.#lose(courier);
      else if (row.status === 'disabled') this.#giveBack(courier);
      else this.#refresh(courier, row);
    }
    return false;
  }

  /** Starts nothing more; resolves when everything in flight is recorded. */
  async drain(): Promise<void> {
    for (const courier of this.#couriers.values()) {
      dropBuffer(courier);
      courier.state = 'pausing';
    }
    while (this.#slots.inFlight() > 0 || this.#unrecorded > 0) await pause(DRAIN_STEP_MS);
  }

  /** Gives up on what is in flight: its rows are still in the queue and are sent again. */
  abandon(): void {
    this.#abandoned = true;
    for (const courier of this.#couriers.values()) this.#lose(courier);
  }

  async releaseAll(): Promise<void> {
    const ids = [...this.#couriers.keys()];
    for (const courier of this.#couriers.values()) this.#lose(courier);
    await Promise.all(ids.map((id) => this.#deps.release(id)));
  }

  stats(): { readonly endpoints: number; readonly inFlight: number } {
    return { endpoints: this.#couriers.size, inFlight: this.#slots.inFlight() };
  }

  #accept(courier: Courier, rows: readonly DueRow[]): void {
    for (const row of rows) {
      // The endpoint was changed since its target was made: read it again before anything is sent.
      if (row.endpoint_updated.getTime() !== courier.target.updated.getTime()) {
        courier.dryAtHint = -1;
        void this.renew().then(this.#deps.hungry, this.#deps.hungry);
        return;
      }
      courier.buffer.push(row);
      courier.held.add(row.event_position);
    }
    if (rows.length > 0) courier.usedAtMs = performance.now();
    this.#slots.offer(courier);
  }

  /** One delivery of the courier, from its buffer to its recorded result. */
  async #deliverNext(courier: Courier): Promise<void> {
    const row = courier.buffer.shift();
    if (row === undefined) return;
    courier.inFlight++;
    const result = await this.#attempt(courier, row);
    courier.inFlight--;
    if (this.#abandoned) return;
    noteLatency(courier, result.durationMs);
    countAttempt(row, result);
    const { finished, retryAfterMs } = result;
    courier.health = result.succeeded
      ? afterSuccess(courier.health)
      : afterFailure(courier.health, finished, retryAfterMs);
    if (courier.health.notBefore !== null) this.#pause(courier);
    // Not awaited: the next delivery starts while this one is written down.
    void this.#record(toFinished(courier, row, result));
  }

  async #attempt(courier: Courier, row: DueRow): Promise<AttemptResult> {
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
      const result = await attemptDelivery(courier.target, message, clock);
      if (result.error !== null) span?.fail(result.error);
      return result;
    } catch (error) {
      log.error('a webhook could not be sent', { delivery: row.id, error: describeError(error) });
      return notSent('not_sent', clock.now());
    } finally {
      span?.end();
    }
  }

  /** null: the event belongs to no trace. */
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
    const { courier, row, result } = finished;
    this.#unrecorded++;
    const recorded = await this.#recorder.record(finished);
    this.#unrecorded--;
    courier.held.delete(row.event_position);
    courier.usedAtMs = performance.now();
    if (recorded !== 'recorded') this.#giveBack(courier);
    else if (saysGone(result)) this.#deps.gone(courier.endpointId);
    if (courier.state === 'pausing' && courier.held.size === 0) this.#giveBack(courier);
    if (mostToTake(courier, this.#hints) > 0) this.#deps.hungry();
  }

  /** Nothing is sent for a while; the worker that leases the endpoint after that goes on. */
  #pause(courier: Courier): void {
    dropBuffer(courier);
    if (courier.state === 'open') courier.state = 'pausing';
  }

  /** null when its secrets cannot be opened: one wrong row must not stop the others. */
  #openTarget(row: LeasedRow): Target | null {
    try {
      return openTarget(row.endpoint_id, row, this.#deps);
    } catch (error) {
      const fields = { endpoint: row.endpoint_id, error: describeError(error) };
      this.#deps.log.error('a webhook endpoint cannot be served', fields);
      return null;
    }
  }

  #refresh(courier: Courier, row: LeasedRow): void {
    if (row.updated.getTime() !== courier.target.updated.getTime()) {
      dropBuffer(courier);
      courier.dryAtHint = -1;
      const target = this.#openTarget(row);
      if (target === null) {
        this.#lose(courier);
        return;
      }
      // What is in flight ends on the old sockets.
      courier.target.transport.closeGently();
      courier.target = target;
      this.#deps.hungry();
    }
    const idleMs = performance.now() - courier.usedAtMs;
    if (courier.held.size === 0 && idleMs > LINGER_MS) this.#giveBack(courier);
  }

  #giveBack(courier: Courier): void {
    if (courier.state === 'lost') return;
    this.#lose(courier);
    void this.#deps.release(courier.endpointId).then(this.#deps.released);
  }

  #lose(courier: Courier): void {
    dropBuffer(courier);
    courier.state = 'lost';
    if (this.#couriers.get(courier.endpointId) === courier)
      this.#couriers.delete(courier.endpointId);
    if (this.#abandoned) courier.target.transport.close();
    else courier.target.transport.closeGently();
  }
}

function toHealth(row: LeasedRow): Health {
  return healthOf({
    consecutiveFailures: row.consecutive_failures,
    failingSince: row.failing_since,
    notBefore: row.not_before,
  });
}

function toFinished(courier: Courier, row: DueRow, result: AttemptResult): Finished {
  const base = { courier, row, result, health: courier.health };
  if (result.succeeded) return { ...base, status: 'succeeded', nextAttemptAt: null };
  const { finished, retryAfterMs } = result;
  const attempt = row.attempt + 1;
  const last = saysGone(result) || row.body === null;
  const next = last
    ? null
    : nextAttemptAt({ attempt, finished, retryAfterMs, random: Math.random() });
  return { ...base, status: next === null ? 'failed' : 'pending', nextAttemptAt: next };
}
