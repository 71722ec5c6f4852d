import { contentOf, type NdefRecord, recordsOf } from '../../data/ndef.ts';
import { t } from '../../ui/text/t.ts';
import type { NdefReader, ReadRecord } from '../reader/nfc.ts';

/** What can be held against the virtual reader, as its antenna sees it. */
export interface Thing {
  /** The NDEF message on it, as bytes; null for a card of another kind, such as a bank card. */
  message(): Uint8Array | null;
  /** A chip that takes commands: the next message is its answer. */
  command?(bytes: Uint8Array): Promise<void>;
  /** Without the field it has no power, and forgets what it was asked. */
  leave?(): void;
}

/** As the browser's own reader hands a record out. */
function readRecord(record: NdefRecord): ReadRecord {
  const content = contentOf(record);
  if (content === null) return { recordType: 'unknown', data: viewOf(record.payload) };
  const recordType = record.type === 'U' ? 'url' : 'text';
  return { recordType, encoding: 'utf-8', data: viewOf(new TextEncoder().encode(content)) };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** How long a reader takes to find what lies before it. */
export const FOUND_MS = 30;

/** The few centimeters before an antenna. What is in it is told to each reader that scans. */
export class Field {
  readonly #scanning = new Set<EventTarget>();
  readonly #held = new Set<Thing>();

  /** Each `take` after it ends it: nothing is in the field twice. */
  hold(thing: Thing): void {
    this.#held.add(thing);
    for (const reader of this.#scanning) this.tell(reader);
  }

  take(thing: Thing): void {
    if (this.#held.delete(thing)) thing.leave?.();
  }

  /** The one thing in the field. Two at once disturb each other. */
  only(): Thing | null {
    const [thing = null] = this.#held;
    return this.#held.size === 1 ? thing : null;
  }

  /** What is written waits for something to be written to, as a real reader does. */
  async found(signal: AbortSignal): Promise<Thing> {
    while (!signal.aborted) {
      const thing = this.only();
      if (thing !== null) return thing;
      await new Promise((resolve) => setTimeout(resolve, FOUND_MS));
    }
    throw gone();
  }

  scan(reader: EventTarget, signal: AbortSignal): void {
    this.#scanning.add(reader);
    signal.addEventListener('abort', () => this.#scanning.delete(reader), { once: true });
    // Also what is there already, once the antenna has found it.
    setTimeout(() => {
      if (this.#held.size > 0 && this.#scanning.has(reader)) this.tell(reader);
    }, FOUND_MS);
  }

  tell(reader: EventTarget): void {
    const bytes = this.only()?.message() ?? null;
    const records = bytes === null ? null : recordsOf(bytes);
    const event =
      records === null
        ? new Event('readingerror')
        : Object.assign(new Event('reading'), { message: { records: records.map(readRecord) } });
    reader.dispatchEvent(event);
  }
}

/** The driver of a field: everything above it is the code of a real reader. */
export function driverOf(field: Field): new () => NdefReader {
  return class VirtualReader extends EventTarget implements NdefReader {
    async scan({ signal }: { readonly signal: AbortSignal }): Promise<void> {
      field.scan(this, signal);
    }

    async write(
      { records }: Parameters<NdefReader['write']>[0],
      { signal }: { readonly signal: AbortSignal },
    ): Promise<void> {
      const thing = await field.found(signal);
      const [record] = records;
      if (thing.command === undefined || record === undefined) throw gone();
      await thing.command(record.data);
      if (signal.aborted || field.only() !== thing) throw gone();
    }
  };
}

function gone(): DOMException {
  return new DOMException(t('till.counter.problem.no_card'), 'NetworkError');
}
