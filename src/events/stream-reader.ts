import { Readable } from 'node:stream';
import type { Place } from '#db/paging.ts';
import type { StreamedEvent } from '#events/stream-queries.ts';

/**
 * What a reader may leave unread. A burst of a thousand events fits; a reader that is further
 * behind gets the rest faster by reconnecting after the last event that it has seen.
 */
const MAX_UNREAD_BYTES = 2 * 1024 * 1024;
/** While a reader catches up, about this much of it is in memory. */
const HIGH_WATER_BYTES = 64 * 1024;

export function isBefore(a: Place, b: Place): boolean {
  const difference = a.created.getTime() - b.created.getTime();
  return difference === 0 ? a.position < b.position : difference < 0;
}

/** Events that were read together, rendered once for all who want the same types of them. */
export class EventBatch {
  /** The place after which they were read. */
  readonly from: Place;
  readonly to: Place;
  readonly #events: readonly StreamedEvent[];
  readonly #rendered = new Map<ReadonlySet<string> | null, Buffer>();

  constructor(from: Place, events: readonly StreamedEvent[]) {
    this.from = from;
    this.to = events.at(-1) ?? from;
    this.#events = events;
  }

  /** Those of these types, or of all, as server-sent events. */
  rendered(types: ReadonlySet<string> | null): Buffer {
    const known = this.#rendered.get(types);
    if (known !== undefined) return known;
    const wanted = this.#events.filter(({ type }) => types?.has(type) ?? true);
    const text = wanted.map(({ id, body }) => `id: ${id}\ndata: ${body}\n\n`).join('');
    const bytes = Buffer.from(text);
    this.#rendered.set(types, bytes);
    return bytes;
  }

  /** Those of them that come after this place. */
  after(place: Place): EventBatch {
    if (!isBefore(this.from, place)) return this;
    return new EventBatch(
      place,
      this.#events.filter((event) => isBefore(place, event)),
    );
  }
}

/** One open stream: how far it has been served, and how far its client has read. */
export class StreamReader {
  readonly stream: Readable;
  readonly types: ReadonlySet<string> | null;
  #at: Place;
  #canTake = true;
  #isEnded = false;
  #reads = 0;
  #readsAtBeat = 0;
  #ring: () => void = () => {};

  constructor(at: Place, types: ReadonlySet<string> | null) {
    this.#at = at;
    this.types = types;
    this.stream = new Readable({ highWaterMark: HIGH_WATER_BYTES, read: () => this.#onDrained() });
    this.stream.once('close', () => this.#ring());
    // Sent at once, so that the client sees that it is connected.
    this.#push('retry: 1000\n\n');
  }

  /** It was given everything up to here. */
  get at(): Place {
    return this.#at;
  }

  get isOpen(): boolean {
    return !this.stream.destroyed && !this.#isEnded;
  }

  give(batch: EventBatch): void {
    const chunk = batch.after(this.#at).rendered(this.types);
    // A batch may be older than what the reader has read by itself while it caught up.
    if (isBefore(this.#at, batch.to)) this.#at = batch.to;
    if (chunk.length > 0) this.#push(chunk);
  }

  /** Nothing up to this place is left to send. */
  skipTo(place: Place): void {
    this.#at = place;
  }

  /** Resolves when the client has read enough for more, or is gone. */
  async untilDrained(): Promise<void> {
    if (this.#canTake || !this.isOpen) return;
    await new Promise<void>((resolve) => {
      this.#ring = resolve;
    });
  }

  /**
   * A comment. A client that has read nothing since the last one, though there was something to
   * read, is cut off.
   */
  beat(): void {
    const isStuck = this.stream.readableLength > 0 && this.#reads === this.#readsAtBeat;
    this.#readsAtBeat = this.#reads;
    if (isStuck) this.cut();
    else this.#push(': still here\n\n');
  }

  /** What was given to it is still sent. */
  end(): void {
    if (!this.isOpen) return;
    this.#isEnded = true;
    this.stream.push(null);
    this.#ring();
  }

  /** At once: the client comes back and goes on after what it has seen. */
  cut(): void {
    this.stream.destroy();
  }

  #onDrained(): void {
    this.#reads++;
    this.#canTake = true;
    this.#ring();
  }

  #push(chunk: string | Buffer): void {
    if (!this.isOpen) return;
    this.#canTake = false;
    // While it is not full the stream asks for more by itself, which sets it again.
    this.stream.push(chunk);
    if (this.stream.readableLength < HIGH_WATER_BYTES) this.#canTake = true;
    if (this.stream.readableLength > MAX_UNREAD_BYTES) this.cut();
  }
}
