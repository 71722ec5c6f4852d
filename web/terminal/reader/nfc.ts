import { signCommand } from './chip-commands.ts';
import { type Read, readText } from './credential.ts';

/** Web NFC, as far as it is used here (https://w3c.github.io/web-nfc/). */
export interface ReadRecord {
  readonly recordType: string;
  readonly data?: DataView;
  readonly encoding?: string;
}

interface Signals {
  readonly signal: AbortSignal;
}

export interface NdefReader extends EventTarget {
  scan(options: Signals): Promise<void>;
  write(
    message: {
      readonly records: readonly {
        readonly recordType: string;
        readonly data: Uint8Array<ArrayBuffer>;
      }[];
    },
    options: Signals,
  ): Promise<void>;
}

interface NdefReadingEvent extends Event {
  readonly message: { readonly records: readonly ReadRecord[] };
}

/** The browser's own, or the virtual counter's. */
export type NdefDriver = new () => NdefReader;

/** A card of the HaLo family: it signs what is written to it, and is read for the signature. */
export interface Chip {
  /** Uncompressed, as 130 hex digits. */
  readonly publicKey: string;
  /**
   * @param proof of the chip's PIN, where it wants one.
   * @returns the signature as DER, or why there is none.
   * @throws whatever the driver throws once the card is gone.
   */
  sign(digest: Uint8Array, signal: AbortSignal, proof?: Uint8Array): Promise<Uint8Array>;
  /** It is not there already: somebody has to press and hold it once more. */
  readonly byPress?: true;
}

const PUBLIC_KEY = /^04[0-9a-f]{128}$/i;
/** In the list of keys, before each: its length. */
const KEY_LENGTH = '41';

function driver(): NdefDriver | null {
  return 'NDEFReader' in window ? (window.NDEFReader as NdefDriver) : null;
}

export function hasNfc(): boolean {
  return driver() !== null;
}

function textOf({ recordType, data, encoding }: ReadRecord): string | null {
  if (data === undefined) return null;
  if (recordType !== 'text' && recordType !== 'url' && recordType !== 'absolute-url') return null;
  return new TextDecoder(encoding ?? 'utf-8').decode(data);
}

function textsOf(event: Event): readonly string[] {
  const { records } = (event as NdefReadingEvent).message;
  return records.map((record) => textOf(record) ?? '');
}

/** The parameters of a chip's address: its keys, and `res` after a command. */
function chipParameters(texts: readonly string[]): URLSearchParams | null {
  const [first = ''] = texts;
  if (!URL.canParse(first)) return null;
  const { searchParams } = new URL(first);
  return publicKeyIn(searchParams) === null && !searchParams.has('res') ? null : searchParams;
}

/** Newer chips name each key; older ones have a list of them. */
function publicKeyIn(parameters: URLSearchParams): string | null {
  const key = parameters.get('pk1');
  if (key === null) return firstKeyOf(parameters.get('static') ?? '');
  return PUBLIC_KEY.test(key) ? key.toLowerCase() : null;
}

/** Of a list of keys in hex digits. */
export function firstKeyOf(listed: string): string | null {
  const key = listed.startsWith(KEY_LENGTH) ? listed.slice(2, 132) : '';
  return PUBLIC_KEY.test(key) ? key.toLowerCase() : null;
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
}

/** What a chip answered: every error has two bytes, of which the first is 0xe1. */
function answerIn(parameters: URLSearchParams | null): Uint8Array | null {
  const answer = bytesOf(parameters?.get('res') ?? '');
  return answer.length === 0 ? null : answer;
}

/** The commands of a chip are written to it; what is read next is its answer. */
async function sendToChip(
  Driver: NdefDriver,
  command: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const reader = new Driver();
  await reader.write({ records: [{ recordType: 'unknown', data: command }] }, { signal });
  const answered = new Promise<Uint8Array>((resolve, reject) => {
    const onReading = (event: Event) => {
      const answer = answerIn(chipParameters(textsOf(event)));
      if (answer !== null) resolve(answer);
    };
    reader.addEventListener('reading', onReading, { signal });
    reader.addEventListener('readingerror', () => reject(new Error('the card left')), { signal });
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  // What the driver refuses ends this; an answer may come before it says that it reads.
  await Promise.all([reader.scan({ signal }), answered]);
  return answered;
}

/** What is held against the till. null: the answer to a command, which somebody waits for. */
function readEvent(event: Event, Driver: NdefDriver): Read | null {
  const texts = textsOf(event);
  const parameters = chipParameters(texts);
  const publicKey = parameters === null ? null : publicKeyIn(parameters);
  if (parameters?.has('res')) return null;
  if (publicKey !== null) {
    const sign: Chip['sign'] = (digest, signal, proof) =>
      sendToChip(Driver, signCommand(digest, proof ?? null), signal);
    return { is: 'chip', chip: { publicKey, sign } };
  }
  // The first of the texts that says something here.
  return texts.map(readText).find(({ is }) => is !== 'no_pass') ?? { is: 'no_pass' };
}

/**
 * Reads passes and cards until the signal ends it. The first call asks for permission and has to
 * come from a press of a button.
 *
 * @returns whether it reads.
 */
export async function readNfc(
  onRead: (read: Read) => void,
  signal: AbortSignal,
  Driver: NdefDriver | null = driver(),
): Promise<boolean> {
  if (Driver === null) return false;
  const reader = new Driver();
  const onReading = (event: Event) => {
    const read = readEvent(event, Driver);
    if (read !== null) onRead(read);
  };
  reader.addEventListener('reading', onReading, { signal });
  reader.addEventListener('readingerror', () => onRead({ is: 'unreadable' }), { signal });
  return reader.scan({ signal }).then(
    () => true,
    () => false,
  );
}
