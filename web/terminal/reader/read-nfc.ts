import { type Chip, signCommand } from './chip-commands.ts';
import { type Read, readText } from './read-credential.ts';

/** The part of Web NFC that the till uses (https://w3c.github.io/web-nfc/). */
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

/** The browser's own driver, or the virtual counter's. */
export type NdefDriver = new () => NdefReader;

const PUBLIC_KEY = /^04[0-9a-f]{128}$/i;
/** Prefix of each key in a key list: the key's length in bytes, in hex. */
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

/** Returns the parameters in a chip's URL: its keys, and `res` after a command. */
function chipParameters(texts: readonly string[]): URLSearchParams | null {
  const [first = ''] = texts;
  if (!URL.canParse(first)) return null;
  const { searchParams } = new URL(first);
  return publicKeyIn(searchParams) === null && !searchParams.has('res') ? null : searchParams;
}

/** Newer chips have one parameter per key; older ones list all keys in one. */
function publicKeyIn(parameters: URLSearchParams): string | null {
  const key = parameters.get('pk1');
  if (key === null) return firstKeyOf(parameters.get('static') ?? '');
  return PUBLIC_KEY.test(key) ? key.toLowerCase() : null;
}

/**
 * Returns the first public key in a hex string of length-prefixed keys; `null` if there is none.
 */
export function firstKeyOf(listed: string): string | null {
  const key = listed.startsWith(KEY_LENGTH) ? listed.slice(2, 132) : '';
  return PUBLIC_KEY.test(key) ? key.toLowerCase() : null;
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
}

/** Decodes a chip's response. An error has two bytes, the first of which is 0xe1. */
function answerIn(parameters: URLSearchParams | null): Uint8Array | null {
  const answer = bytesOf(parameters?.get('res') ?? '');
  return answer.length === 0 ? null : answer;
}

/** Writes a command to a chip; the next read returns its response. */
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
  // A driver error rejects this promise. The response may arrive before `scan` resolves.
  await Promise.all([reader.scan({ signal }), answered]);
  return answered;
}

/** Classifies an item that was read. @returns `null` for the answer to a pending command. */
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
  // Return the first text that is a known item.
  return texts.map(readText).find(({ is }) => is !== 'no_pass') ?? { is: 'no_pass' };
}

/**
 * Reads passes and cards until the signal aborts. The first call asks for permission, so it must
 * come from a click.
 *
 * @returns true if reading has started.
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
