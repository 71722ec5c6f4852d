import { setTimeout as pause } from 'node:timers/promises';
import { addMs, type Clock } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import { describeError, type Log } from '#observability/log.ts';
import { countAttempt, deliver, openTarget, type Target } from '#webhooks/attempt-delivery.ts';
import type { Network } from '#webhooks/connect-to-receivers.ts';
import {
  type Ask,
  type DueRow,
  type LeasedRow,
  renewLeases,
} from '#webhooks/delivery-queue-queries.ts';
import { createSlots, SLOT_LIMITS, type Slots } from '#webhooks/delivery-slots.ts';
import { saysGone } from '#webhooks/disable-endpoint.ts';
import {
  accept,
  answered,
  drain,
  type EndpointSession,
  end,
  isIdle,
  lookAgain,
  mostToTake,
  openSession,
  recorded,
  retarget,
} from '#webhooks/endpoint-session.ts';
import {
  createRecorder,
  type Finished,
  type Recorder,
  toFinished,
} from '#webhooks/record-attempts.ts';
import { type Health, healthOf } from '#webhooks/retry-schedule.ts';

export interface DispatcherDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Returns an event's trace; called only while tracing is on. */
  readonly traceOf?: (body: string) => Promise<string | null>;
  readonly db: Database;
  readonly secretKey: Buffer;
  readonly network: Network;
  readonly owner: string;
  readonly leaseMs: number;
  /** Never rejects. */
  readonly release: (endpointId: string) => Promise<void>;
  /** Called when the receiver returned 410. */
  readonly gone: (endpointId: string) => void;
  /** Called when a session has capacity and its queue may have more deliveries. */
  readonly hasCapacity: () => void;
  /** Called when a lease was released, so that a worker with capacity can take it. */
  readonly released: () => void;
}

/** The deliveries to fetch, and the hint count when they were chosen. */
export interface Look {
  readonly hints: number;
  readonly asks: readonly Ask[];
}

/** The time for which a worker keeps an endpoint's lease after its last delivery. */
const LINGER_MS = 10_000;
/** Maximum number of endpoints per read, which limits its duration. */
const MAX_ENDPOINTS_OF_LOOK = 256;
/** Limits the memory of loaded deliveries. */
const MAX_HELD_BY_DISPATCHER = 10_000;
const DRAIN_STEP_MS = 20;

/** The sessions of all endpoints leased by this worker, and all requests in flight to them. */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #sessions = new Map<string, EndpointSession>();
  readonly #slots: Slots;
  readonly #recorder: Recorder;
  /** The number of hints (notifications that rows were written) that have arrived. */
  #hints = 0;
  #unrecorded = 0;
  #abandoned = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#slots = createSlots(SLOT_LIMITS, (session) => this.#deliverNext(session));
    this.#recorder = createRecorder(deps.db, deps.log);
  }

  add(row: LeasedRow): void {
    const { endpoint_id: endpointId, fencing_token: fencingToken } = row;
    const target = this.#openTarget(row);
    if (target === null) return;
    const session = openSession({ endpointId, fencingToken, target, health: toHealth(row) });
    const old = this.#sessions.get(endpointId);
    if (old !== undefined) this.#end(old);
    this.#sessions.set(endpointId, session);
  }

  counts(): { readonly healthy: number; readonly failing: number } {
    let failing = 0;
    for (const session of this.#sessions.values())
      if (session.health.consecutiveFailures > 0) failing++;
    return { healthy: this.#sessions.size - failing, failing };
  }

  /** Makes sessions with an empty queue read again. Call it when rows may have been written. */
  expectWork(): void {
    this.#hints++;
  }

  /**
   * Returns the deliveries to fetch, for sessions that have capacity and may have more in their
   * queue. The session that read longest ago comes first.
   */
  look(): Look {
    const asks: Ask[] = [];
    let held = 0;
    for (const session of this.#sessions.values()) held += session.held.size;
    for (const session of this.#sessions.values()) {
      const most = mostToTake(session, this.#hints);
      if (most === 0) continue;
      held += most;
      if (held > MAX_HELD_BY_DISPATCHER) break;
      asks.push({ endpointId: session.endpointId, most, held: [...session.held] });
      if (asks.length === MAX_ENDPOINTS_OF_LOOK) break;
    }
    return { hints: this.#hints, asks };
  }

  receive(look: Look, rows: readonly DueRow[]): void {
    const byEndpoint = Map.groupBy(rows, (row) => row.endpoint_id);
    for (const { endpointId, most } of look.asks) {
      const session = this.#sessions.get(endpointId);
      if (session === undefined) continue;
      const queued = byEndpoint.get(endpointId) ?? [];
      // Move the session to the end of the queue.
      this.#sessions.delete(endpointId);
      this.#sessions.set(endpointId, session);
      if (queued.length < most) session.emptyAtHint = look.hints;
      if (session.state === 'open') this.#accept(session, queued);
    }
  }

  /**
   * Renews the leases and reads the endpoints again. Ends sessions that lost their lease, and
   * releases idle endpoints.
   */
  async renew(): Promise<boolean> {
    const { db, clock, owner, leaseMs } = this.#deps;
    const sessions = [...this.#sessions.values()];
    if (sessions.length === 0) return false;
    const lease = { owner, until: addMs(clock.now(), leaseMs) };
    const ids = sessions.map((session) => session.endpointId);
    const rows = new Map((await renewLeases(db, lease, ids)).map((row) => [row.endpoint_id, row]));
    for (const session of sessions) {
      const row = rows.get(session.endpointId);
      if (session.state === 'ended') continue;
      if (row === undefined || row.fencing_token !== session.fencingToken) this.#end(session);
      else if (row.status === 'disabled') this.#giveBack(session);
      else this.#refresh(session, row);
    }
    return false;
  }

  /** Stops starting deliveries. Resolves when everything in flight is recorded. */
  async drain(): Promise<void> {
    for (const session of this.#sessions.values()) drain(session);
    while (this.#slots.inFlight() > 0 || this.#unrecorded > 0) await pause(DRAIN_STEP_MS);
  }

  /**
   * Abandons deliveries in flight. Their rows are still queued, so another worker sends them again.
   */
  abandon(): void {
    this.#abandoned = true;
    for (const session of this.#sessions.values()) this.#end(session);
  }

  async releaseAll(): Promise<void> {
    const ids = [...this.#sessions.keys()];
    for (const session of this.#sessions.values()) this.#end(session);
    await Promise.all(ids.map((id) => this.#deps.release(id)));
  }

  stats(): { readonly endpoints: number; readonly inFlight: number } {
    return { endpoints: this.#sessions.size, inFlight: this.#slots.inFlight() };
  }

  #accept(session: EndpointSession, rows: readonly DueRow[]): void {
    const { updated } = session.target;
    const isSame = (row: DueRow) => row.endpoint_updated.getTime() === updated.getTime();
    const firstOther = rows.findIndex((row) => !isSame(row));
    accept(session, firstOther < 0 ? rows : rows.slice(0, firstOther));
    if (firstOther < 0) {
      this.#slots.offer(session);
      return;
    }
    // The endpoint has changed since its target was read, so read it again before sending anything.
    lookAgain(session);
    void this.renew().then(this.#deps.hasCapacity, this.#deps.hasCapacity);
  }

  /** Handles one delivery of the session, from its buffer to its recorded result. */
  async #deliverNext(session: EndpointSession): Promise<void> {
    const row = session.buffer.shift();
    if (row === undefined) return;
    session.inFlight++;
    const result = await deliver(this.#deps, session.target, row);
    session.inFlight--;
    if (this.#abandoned) return;
    answered(session, result);
    countAttempt(row, result);
    // Not awaited, so that the next delivery starts while this result is being recorded.
    void this.#record(toFinished(session, row, result));
  }

  async #record(finished: Finished): Promise<void> {
    const { session, row, result } = finished;
    this.#unrecorded++;
    const outcome = await this.#recorder.record(finished);
    this.#unrecorded--;
    const isDrained = recorded(session, row);
    if (outcome !== 'recorded' || isDrained) this.#giveBack(session);
    if (outcome === 'recorded' && saysGone(result)) this.#deps.gone(session.endpointId);
    if (mostToTake(session, this.#hints) > 0) this.#deps.hasCapacity();
  }

  /**
   * Decrypts an endpoint's secrets. Returns `null` if that fails: one invalid row must not stop the
   * others.
   */
  #openTarget(row: LeasedRow): Target | null {
    try {
      return openTarget(row.endpoint_id, row, this.#deps);
    } catch (error) {
      const fields = { endpoint: row.endpoint_id, error: describeError(error) };
      this.#deps.log.error('a webhook endpoint cannot be served', fields);
      return null;
    }
  }

  #refresh(session: EndpointSession, row: LeasedRow): void {
    if (row.updated.getTime() !== session.target.updated.getTime()) {
      const target = this.#openTarget(row);
      if (target === null) {
        this.#end(session);
        return;
      }
      retarget(session, target);
      this.#deps.hasCapacity();
    }
    if (isIdle(session, LINGER_MS)) this.#giveBack(session);
  }

  #giveBack(session: EndpointSession): void {
    if (session.state === 'ended') return;
    this.#end(session);
    void this.#deps.release(session.endpointId).then(this.#deps.released);
  }

  #end(session: EndpointSession): void {
    end(session, { atOnce: this.#abandoned });
    if (this.#sessions.get(session.endpointId) === session)
      this.#sessions.delete(session.endpointId);
  }
}

function toHealth(row: LeasedRow): Health {
  return healthOf({
    consecutiveFailures: row.consecutive_failures,
    failingSince: row.failing_since,
    notBefore: row.not_before,
  });
}
