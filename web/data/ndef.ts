/** Reads and writes NDEF messages (NFC Forum), the content of an NFC tag. */

export interface NdefRecord {
  /** Type name format: 1 for the Forum's well-known types, such as `U` and `T`. */
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
/**
 * Maximum number of records. The service's tags have one or two, so a tag with more than this is
 * broken.
 */
const MOST_RECORDS = 64;

/**
 * URI prefixes by their NDEF code. Later codes, such as `tel:`, are left out, because no tag needs
 * them.
 */
const PREFIXES = ['', 'http://www.', 'https://www.', 'http://', 'https://'];
/** Longest prefix first, so that the tag needs the fewest bytes. */
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

/** Encodes a URL, which a phone opens when held to the tag. */
export function addressMessage(url: string): Uint8Array<ArrayBuffer> {
  const prefix = BY_LENGTH.find((one) => url.startsWith(one)) ?? '';
  const rest = new TextEncoder().encode(url.slice(prefix.length));
  return record('U', Uint8Array.from([PREFIXES.indexOf(prefix), ...rest]));
}

/** Encodes an English text, as on the stickers and cards of passes. */
export function textMessage(text: string): Uint8Array<ArrayBuffer> {
  const language = [2, ...new TextEncoder().encode('en')];
  return record('T', Uint8Array.from([...language, ...new TextEncoder().encode(text)]));
}

/** Decodes a message. @returns `null` if the bytes are not a complete message. */
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

/** Returns the URL or text of a record, or `null` for other types. */
export function contentOf({ tnf, type, payload }: NdefRecord): string | null {
  if (tnf !== WELL_KNOWN || payload.length === 0) return null;
  const [first = 0] = payload;
  if (type === 'U') {
    const prefix = PREFIXES[first];
    return prefix === undefined ? null : prefix + new TextDecoder().decode(payload.subarray(1));
  }
  if (type !== 'T') return null;
  // The status byte holds the length of the language code and a flag for UTF-16.
  const text = payload.subarray(1 + (first & 0x3f));
  return new TextDecoder((first & 0x80) === 0 ? 'utf-8' : 'utf-16be').decode(text);
}
