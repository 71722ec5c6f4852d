import { Readable } from 'node:stream';
import type { Place } from '#db/paging.ts';
import type { StreamedEvent } from '#events/stream-queries.ts';

/**
 * A burst of a thousand events fits; a reader that is further behind gets the rest faster by
 * reconnecting after the last event that it has seen.
 */
const MAX_UNREAD_BYTES = 2 * 1024 * 1024;
/** Bytes of events that are in memory while a reader catches up. */
const HIGH_WATER_BYTES = 64 * 1024;

export function isBefore(a: Place, b: Place): boolean {
  const difference = a.created.getTime() - b.created.getTime();
  return difference === 0 ? a.position < b.position : difference < 0;
}

/** Events that were read together, rendered once for all streams with the same types. */
export class EventBatch {
  /** The events begin after this position. */
  readonly from: Place;
  readonly to: Place;
  readonly #events: readonly StreamedEvent[];
  readonly #rendered = new Map<ReadonlySet<string> | null, Buffer>();

  constructor(from: Place, events: readonly StreamedEvent[]) {
    this.from = from;
    this.to = events.at(-1) ?? from;
    this.#events = events;
  }

  /** Renders the events of these types, or all, as server-sent events. */
  rendered(types: ReadonlySet<string> | null): Buffer {
    const known = this.#rendered.get(types);
    if (known !== undefined) return known;
    const matches = this.#events.filter(({ type }) => types?.has(type) ?? true);
    const text = matches.map(({ id, body }) => `id: ${id}\ndata: ${body}\n\n`).join('');
    const bytes = Buffer.from(text);
    this.#rendered.set(types, bytes);
    return bytes;
  }

  after(position: Place): EventBatch {
    if (!isBefore(this.from, position)) return this;
    return new EventBatch(
      position,
      this.#events.filter((event) => isBefore(position, event)),
    );
  }
}

/** One open stream, with the position up to which it was served, and its client's unread bytes. */
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
    // Sent immediately, so that the client sees that it is connected.
    this.#push('retry: 1000\n\n');
  }

  /** Returns the position up to which the stream was served. */
  get at(): Place {
    return this.#at;
  }

  get isOpen(): boolean {
    return !this.stream.destroyed && !this.#isEnded;
  }

  give(batch: EventBatch): void {
    const chunk = batch.after(this.#at).rendered(this.types);
    // This batch may end before the position that the reader reached on its own while catching up.
    if (isBefore(this.#at, batch.to)) this.#at = batch.to;
    if (chunk.length > 0) this.#push(chunk);
  }

  /** Marks everything up to this position as served. */
  skipTo(position: Place): void {
    this.#at = position;
  }

  async untilDrained(): Promise<void> {
    if (this.#canTake || !this.isOpen) return;
    await new Promise<void>((resolve) => {
      this.#ring = resolve;
    });
  }

  /**
   * Sends a comment. Disconnects a client that had unread data and has read none of it since the
   * previous comment.
   */
  beat(): void {
    const isStuck = this.stream.readableLength > 0 && this.#reads === this.#readsAtBeat;
    this.#readsAtBeat = this.#reads;
    if (isStuck) this.cut();
    else this.#push(': still here\n\n');
  }

  /** Ends the stream after everything written to it was sent. */
  end(): void {
    if (!this.isOpen) return;
    this.#isEnded = true;
    this.stream.push(null);
    this.#ring();
  }

  /**
   * Ends the stream immediately: the client reconnects and continues after the last event that it
   * received.
   */
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
    // Unless its buffer is full, the stream calls `_read` again, which sets `#canTake`.
    this.stream.push(chunk);
    if (this.stream.readableLength < HIGH_WATER_BYTES) this.#canTake = true;
    if (this.stream.readableLength > MAX_UNREAD_BYTES) this.cut();
  }
}
