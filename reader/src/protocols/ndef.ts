import { ProtocolError } from './apdu.ts';

/** One record of an NDEF message (NFC Forum). These protocols never use chunked records. */
export interface NdefRecord {
  readonly tnf: number;
  readonly type: string;
  readonly id: string;
  readonly payload: Uint8Array;
}

export const WELL_KNOWN = 0x01;
export const EXTERNAL = 0x04;

const MESSAGE_BEGIN = 0x80;
const MESSAGE_END = 0x40;
const CHUNKED = 0x20;
const SHORT = 0x10;
const HAS_ID = 0x08;
const TNF_MASK = 0x07;
/**
 * Limit: messages of these protocols have a handful of records, so more are an attack or a broken
 * card.
 */
const MOST_RECORDS = 64;

export function externalRecord(type: string, ...parts: readonly Uint8Array[]): NdefRecord {
  return { tnf: EXTERNAL, type, id: '', payload: Buffer.concat(parts) };
}

export function encodeMessage(...records: readonly NdefRecord[]): Uint8Array {
  return Buffer.concat(
    records.map((record, index) => {
      const { payload } = record;
      const type = Buffer.from(record.type, 'latin1');
      const id = Buffer.from(record.id, 'latin1');
      const short = payload.length < 256;
      const flags =
        (index === 0 ? MESSAGE_BEGIN : 0) |
        (index === records.length - 1 ? MESSAGE_END : 0) |
        (short ? SHORT : 0) |
        (id.length > 0 ? HAS_ID : 0) |
        record.tnf;
      const length = Buffer.alloc(short ? 1 : 4);
      length.writeUIntBE(payload.length, 0, length.length);
      const idLength = id.length > 0 ? Buffer.from([id.length]) : Buffer.alloc(0);
      return Buffer.concat([
        Buffer.from([flags, type.length]),
        length,
        idLength,
        type,
        id,
        payload,
      ]);
    }),
  );
}

export function decodeMessage(bytes: Uint8Array): readonly NdefRecord[] {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const records: NdefRecord[] = [];
  let at = 0;
  const take = (count: number): Buffer => {
    if (at + count > view.length) throw new ProtocolError('a record is longer than its message');
    at += count;
    return view.subarray(at - count, at);
  };
  while (at < view.length) {
    if (records.length === MOST_RECORDS) throw new ProtocolError('too many records');
    const flags = take(1).readUInt8();
    if ((flags & CHUNKED) !== 0) throw new ProtocolError('a chunked record');
    const typeLength = take(1).readUInt8();
    const payloadLength = (flags & SHORT) === 0 ? take(4).readUInt32BE() : take(1).readUInt8();
    const idLength = (flags & HAS_ID) === 0 ? 0 : take(1).readUInt8();
    const type = take(typeLength).toString('latin1');
    const id = take(idLength).toString('latin1');
    records.push({
      tnf: flags & TNF_MASK,
      type,
      id,
      payload: Uint8Array.from(take(payloadLength)),
    });
    if ((flags & MESSAGE_END) !== 0) break;
  }
  return records;
}

export function findRecord(records: readonly NdefRecord[], type: string): Uint8Array | undefined {
  return records.find((record) => record.type === type)?.payload;
}

/** URI prefixes by their code (NFC Forum RTD URI). */
const URI_PREFIXES = ['', 'http://www.', 'https://www.', 'http://', 'https://'];

/** Returns the first URL or text of a message, if there is one. */
export function findContent(records: readonly NdefRecord[]): string | undefined {
  for (const { tnf, type, payload } of records) {
    if (tnf !== WELL_KNOWN) continue;
    if (type === 'U') return addressOf(payload);
    if (type === 'T') return textOf(payload);
  }
  return undefined;
}

function addressOf(payload: Uint8Array): string | undefined {
  const prefix = URI_PREFIXES[payload[0] ?? -1];
  return prefix === undefined ? undefined : prefix + utf8(payload.subarray(1));
}

/** Decodes a text record. The status byte holds the length of the language code before the text. */
function textOf(payload: Uint8Array): string {
  return utf8(payload.subarray(1 + ((payload[0] ?? 0) & 0x3f)));
}

function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}
