import { type Read, readText } from './credential.ts';

/** Web NFC, as far as it is used here (https://w3c.github.io/web-nfc/). */
interface NdefRecord {
  readonly recordType: string;
  readonly data?: DataView;
  readonly encoding?: string;
}

interface NdefReader extends EventTarget {
  scan(options: { readonly signal: AbortSignal }): Promise<void>;
}

interface NdefReadingEvent extends Event {
  readonly message: { readonly records: readonly NdefRecord[] };
}

function readerClass(): (new () => NdefReader) | null {
  return 'NDEFReader' in window ? (window.NDEFReader as new () => NdefReader) : null;
}

export function hasNfc(): boolean {
  return readerClass() !== null;
}

function textOf({ recordType, data, encoding }: NdefRecord): string | null {
  if (data === undefined) return null;
  if (recordType !== 'text' && recordType !== 'url' && recordType !== 'absolute-url') return null;
  return new TextDecoder(encoding ?? 'utf-8').decode(data);
}

/** The first of the texts that says something here. */
function readTexts(texts: readonly (string | null)[]): Read {
  const all = texts.map((text) => readText(text ?? ''));
  return all.find(({ is }) => is !== 'no_pass') ?? { is: 'no_pass' };
}

/**
 * Reads passes and cards until the signal ends it. The first call asks for permission and has to
 * come from a press of a button.
 *
 * @returns whether it reads.
 */
export async function readNfc(onRead: (read: Read) => void, signal: AbortSignal): Promise<boolean> {
  const Reader = readerClass();
  if (Reader === null) return false;
  const reader = new Reader();
  const onReading = (event: Event) =>
    onRead(readTexts((event as NdefReadingEvent).message.records.map(textOf)));
  reader.addEventListener('reading', onReading, { signal });
  reader.addEventListener('readingerror', () => onRead({ is: 'no_pass' }), { signal });
  return reader.scan({ signal }).then(
    () => true,
    () => false,
  );
}
