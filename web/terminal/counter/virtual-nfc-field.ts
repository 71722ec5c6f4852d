import { contentOf, type NdefRecord, recordsOf } from '../../data/ndef.ts';
import { t } from '../../ui/text/t.ts';
import type { NdefReader, ReadRecord } from '../reader/read-nfc.ts';

export interface Thing {
  /** Returns the item's NDEF message, or `null` for a card without one, such as a bank card. */
  message(): Uint8Array | null;
  /**
   * Sends a command to the chip, whose next message is the response. Absent if the item is no chip.
   */
  command?(bytes: Uint8Array): Promise<void>;
  /** Called when the item leaves the field: its chip loses power and forgets the last command. */
  leave?(): void;
}

function readRecord(record: NdefRecord): ReadRecord {
  const content = contentOf(record);
  if (content === null) return { recordType: 'unknown', data: viewOf(record.payload) };
  const recordType = record.type === 'U' ? 'url' : 'text';
  return { recordType, encoding: 'utf-8', data: viewOf(new TextEncoder().encode(content)) };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The time that a real reader takes to detect an item. */
export const FOUND_MS = 30;

/** The few centimeters in front of an antenna. Notifies every scanning reader of items in it. */
export class Field {
  readonly #scanning = new Set<EventTarget>();
  readonly #held = new Set<Thing>();

  /** Puts an item into the field until `take`. */
  hold(thing: Thing): void {
    this.#held.add(thing);
    for (const reader of this.#scanning) this.tell(reader);
  }

  take(thing: Thing): void {
    if (this.#held.delete(thing)) thing.leave?.();
  }

  /** Returns the item if it is alone in the field: two items disturb each other. */
  only(): Thing | null {
    const [thing = null] = this.#held;
    return this.#held.size === 1 ? thing : null;
  }

  /** Waits for an item, as a real reader does before it writes. */
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
    // Also detects an item that is already in the field, after the antenna's usual delay.
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

/**
 * Returns a Web NFC driver for the field. Everything above the driver is the code for real readers.
 */
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
