import { type Loop, startLoop } from '#core/background-loop.ts';
import type { Tenant } from '#core/mode.ts';
import type { Place } from '#db/paging.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { EVENTS_TOPIC, eventsKey } from '#events/append-events.ts';
import { selectEventsAfter } from '#events/stream-queries.ts';
import { EventBatch, isBefore, type StreamReader } from '#events/stream-reader.ts';
import { describeError } from '#observability/log.ts';

/** Maximum delay of events after a lost hint. */
const POLL_MS = 1_000;
/** Events per read: at 2 KB each, as much as a healthy client takes at once. */
const BATCH = 100;

/**
 * Reads the events of one account and mode, once for all of its streams in this process. A stream
 * that starts further back reads on its own, at its client's pace, until it has caught up.
 */
export class EventFeed {
  readonly #ctx: ProcessContext;
  readonly #tenant: Tenant;
  readonly #live = new Set<StreamReader>();
  readonly #loop: Loop;
  readonly #unhear: () => void;
  #place: Place;
  #streams = 0;

  constructor(ctx: ProcessContext, tenant: Tenant, position: Place) {
    this.#ctx = ctx;
    this.#tenant = tenant;
    this.#place = position;
    this.#loop = startLoop({
      name: 'event streams',
      pollMs: POLL_MS,
      run: () => this.#readOn(),
      onError: (name, error) =>
        ctx.log.error('reading events failed', { loop: name, error: describeError(error) }),
    });
    this.#unhear = ctx.wakeups.on(EVENTS_TOPIC, eventsKey(tenant), this.#loop.wake);
  }

  /**
   * Adds a stream, and feeds it until it closes.
   * @param whenEmpty called when the last stream has left.
   */
  add(reader: StreamReader, whenEmpty: () => void): void {
    this.#streams++;
    reader.stream.once('close', () => {
      this.#live.delete(reader);
      this.#streams--;
      if (this.#streams > 0) return;
      whenEmpty();
      this.#unhear();
      void this.#loop.stop();
    });
    this.#catchUp(reader).catch((error: unknown) => {
      this.#ctx.log.warn('an event stream was ended early', { error: describeError(error) });
      reader.cut();
    });
  }

  async #read(after: Place): Promise<EventBatch> {
    const filter = { after, limit: BATCH };
    return new EventBatch(after, await selectEventsAfter(this.#ctx.db, this.#tenant, filter));
  }

  async #readOn(): Promise<boolean> {
    if (this.#live.size === 0) return false;
    const batch = await this.#read(this.#place);
    if (!isBefore(this.#place, batch.to)) return false;
    this.#place = batch.to;
    for (const reader of this.#live) reader.give(batch);
    return true;
  }

  async #catchUp(reader: StreamReader): Promise<void> {
    while (reader.isOpen && isBefore(reader.at, this.#place)) {
      const goal = this.#place;
      const batch = await this.#read(reader.at);
      if (isBefore(reader.at, batch.to)) reader.give(batch);
      else reader.skipTo(goal);
      await reader.untilDrained();
    }
    if (!reader.isOpen) return;
    this.#live.add(reader);
    // Read now: events that arrived while no stream was live have not been read yet.
    this.#loop.wake();
  }
}
