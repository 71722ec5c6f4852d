/** What is on an NFC tag: records of a message (NFC Forum NDEF), as bytes. */

export interface NdefRecord {
  /** The kind of name that `type` is: 1 for the Forum's own, such as `U` and `T`. */
  readonly tnf: number;
  readonly type: string;
  readonly payload: Uint8Array;
}

const WELL_KNOWN = 1;
const BEGIN = 0x80;
const END = 0x40;
const CHUNKED = 0x20;
const SHORT = 0x10;
const HAS_ID = 0x08;
const TNF = 0x07;
/** What pays here has one or two; more is a broken card. */
const MOST_RECORDS = 64;

/** What the first byte of an address stands for. Later ones are of phone numbers and the like. */
const PREFIXES = ['', 'http://www.', 'https://www.', 'http://', 'https://'];
/** The longer prefix first, so that the tag holds the fewest bytes. */
const BY_LENGTH = PREFIXES.toSorted((a, b) => b.length - a.length);

function record(type: string, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const isShort = payload.length < 256;
  const head = new Uint8Array(isShort ? 4 : 7);
  head[0] = BEGIN | END | (isShort ? SHORT : 0) | WELL_KNOWN;
  head[1] = 1;
  if (isShort) head[2] = payload.length;
  else new DataView(head.buffer).setUint32(2, payload.length);
  head[head.length - 1] = type.charCodeAt(0);
  const bytes = new Uint8Array(head.length + payload.length);
  bytes.set(head);
  bytes.set(payload, head.length);
  return bytes;
}

/** A message that holds one address: what a phone opens that is held to the tag. */
export function addressMessage(url: string): Uint8Array<ArrayBuffer> {
  const prefix = BY_LENGTH.find((one) => url.startsWith(one)) ?? '';
  const rest = new TextEncoder().encode(url.slice(prefix.length));
  return record('U', Uint8Array.from([PREFIXES.indexOf(prefix), ...rest]));
}

/** A message that holds one text in English: what the stickers and cards of passes say. */
export function textMessage(text: string): Uint8Array<ArrayBuffer> {
  const language = [2, ...new TextEncoder().encode('en')];
  return record('T', Uint8Array.from([...language, ...new TextEncoder().encode(text)]));
}

/** @returns null for bytes that are no message, or only a part of one. */
export function recordsOf(bytes: Uint8Array): readonly NdefRecord[] | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const records: NdefRecord[] = [];
  let at = 0;
  while (at + 3 <= bytes.length && records.length < MOST_RECORDS) {
    const flags = view.getUint8(at);
    const typeLength = view.getUint8(at + 1);
    const isShort = (flags & SHORT) !== 0;
    const afterSizes = at + (isShort ? 3 : 6) + ((flags & HAS_ID) === 0 ? 0 : 1);
    if ((flags & CHUNKED) !== 0 || afterSizes > bytes.length) return null;
    const length = isShort ? view.getUint8(at + 2) : view.getUint32(at + 2);
    const idLength = (flags & HAS_ID) === 0 ? 0 : view.getUint8(afterSizes - 1);
    const start = afterSizes + typeLength + idLength;
    if (start + length > bytes.length) return null;
    const type = String.fromCharCode(...bytes.subarray(afterSizes, afterSizes + typeLength));
    records.push({ tnf: flags & TNF, type, payload: bytes.slice(start, start + length) });
    if ((flags & END) !== 0) return records;
    at = start + length;
  }
  return null;
}

/** The address or text of a record; null for any other kind. */
export function contentOf({ tnf, type, payload }: NdefRecord): string | null {
  if (tnf !== WELL_KNOWN || payload.length === 0) return null;
  const [first = 0] = payload;
  if (type === 'U') {
    const prefix = PREFIXES[first];
    return prefix === undefined ? null : prefix + new TextDecoder().decode(payload.subarray(1));
  }
  if (type !== 'T') return null;
  // The first byte: how long the name of the language is, and whether the text is UTF-16.
  const text = payload.subarray(1 + (first & 0x3f));
  return new TextDecoder((first & 0x80) === 0 ? 'utf-8' : 'utf-16be').decode(text);
}
