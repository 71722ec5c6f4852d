/**
 * The frames of ZVT (PA00P015, revisions 13.x): a control field of two bytes, a length, and data
 * with fields ("BMPs") and a TLV container. TCP adds no envelope. Decoding never throws: all bytes
 * give a value or a refusal.
 */

export interface Frame {
  /** Class and instruction, for example 0x0601. */
  readonly control: number;
  readonly data: Uint8Array;
}

export interface Tlv {
  readonly tag: number;
  readonly value: Uint8Array;
}

export interface Fields {
  readonly status: 'read';
  /** The fields by number. If a number occurs twice, the last one counts. */
  readonly values: ReadonlyMap<number, Uint8Array>;
  /** The data objects in field 06, including containers, in order. */
  readonly tlv: readonly Tlv[];
}

export interface Refused {
  readonly status: 'refused';
  readonly reason: string;
  /** Where a field begins that is not in the list; `null` if the data is damaged. */
  readonly unknownAt: number | null;
}

/** The length byte that means that two more follow, low byte first. */
const EXTENDED = 0xff;
const SHORT_HEADER = 3;
const LONG_HEADER = 5;
/** Maximum nesting of TLV containers. The documentation uses three levels. */
const DEEPEST = 8;

const TLV_FIELD = 0x06;
/** Bits of a tag: "contains objects", and "more tag bytes follow". */
const CONSTRUCTED = 0x20;
const LONG_TAG = 0x1f;

/**
 * The kind of length: a fixed number of bytes, 2 or 3 digits before the value (F0 to F9), or TLV.
 */
type FieldLength = number | 'LL' | 'LLL' | 'TLV';

/** The fields that a register or a terminal may send. */
const FIELD_LENGTHS: ReadonlyMap<number, FieldLength> = new Map(
  (
    [
      [1, [0x01, 0x02, 0x03, 0x05, 0x19, 0x27, 0x8a, 0x8c, 0xa0, 0xd0, 0xd2, 0xd3]],
      [1, [0xe0, 0xe9, 0xea, 0xf0, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd]],
      [2, [0x0d, 0x0e, 0x17, 0x3a, 0x49, 0x87]],
      [3, [0x0b, 0x0c, 0x37, 0x3d, 0x88, 0xaa]],
      [4, [0x29]],
      [5, [0xba]],
      [6, [0x04]],
      [8, [0x3b, 0xeb]],
      [15, [0x2a]],
      ['LL', [0x22, 0x23, 0x2d, 0x8b, 0xa7, 0xd1]],
      ['LL', [0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8]],
      ['LL', [0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8]],
      ['LLL', [0x24, 0x2e, 0x3c, 0x60, 0x9a, 0xaf]],
      ['TLV', [TLV_FIELD]],
    ] as const
  ).flatMap(([length, fields]) => fields.map((field) => [field, length] as const)),
);

/** Takes the first frame from the received bytes. @returns `null` until it is complete. */
export function readFrame(bytes: Uint8Array): { frame: Frame; length: number } | null {
  const short = bytes[2];
  if (short === undefined) return null;
  const isLong = short === EXTENDED;
  const low = bytes[3];
  const high = bytes[4];
  if (isLong && (low === undefined || high === undefined)) return null;
  const size = isLong ? (low ?? 0) + (high ?? 0) * 256 : short;
  const header = isLong ? LONG_HEADER : SHORT_HEADER;
  if (bytes.length < header + size) return null;
  const control = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0);
  return { frame: { control, data: bytes.slice(header, header + size) }, length: header + size };
}

export function frameBytes({ control, data }: Frame): Uint8Array {
  const size =
    data.length < EXTENDED ? [data.length] : [EXTENDED, data.length & 0xff, data.length >> 8];
  return Uint8Array.from([control >> 8, control & 0xff, ...size, ...data]);
}

/** Reads the fields of a data block. @param start Bytes before the first field. */
export function readFields(data: Uint8Array, start = 0): Fields | Refused {
  const values = new Map<number, Uint8Array>();
  let tlv: readonly Tlv[] = [];
  let at = start;
  while (at < data.length) {
    const field = data[at] ?? 0;
    const length = FIELD_LENGTHS.get(field);
    if (length === undefined) return refused(`unknown field ${field.toString(16)}`, at);
    const size = sizeOf(data, at + 1, length);
    if (size === null) return refused(`field ${field.toString(16)} has no length`);
    const value = data.subarray(size.from, size.from + size.length);
    if (value.length < size.length) return refused(`field ${field.toString(16)} is cut off`);
    if (field === TLV_FIELD) {
      const objects = readTlv(value);
      if (objects === null) return refused('the container is not TLV');
      tlv = objects;
    }
    values.set(field, value);
    at = size.from + size.length;
  }
  return { status: 'read', values, tlv };
}

function refused(reason: string, unknownAt: number | null = null): Refused {
  return { status: 'refused', reason, unknownAt };
}

interface Size {
  /** Offset at which the value begins. */
  readonly from: number;
  readonly length: number;
}

function sizeOf(data: Uint8Array, at: number, length: FieldLength): Size | null {
  if (typeof length === 'number') return { from: at, length };
  if (length === 'TLV') return tlvSize(data, at);
  let total = 0;
  for (let digit = 0; digit < length.length; digit++) {
    const byte = data[at + digit];
    if (byte === undefined || (byte & 0xf0) !== 0xf0 || (byte & 0x0f) > 9) return null;
    total = total * 10 + (byte & 0x0f);
  }
  return { from: at + length.length, length: total };
}

function tlvSize(data: Uint8Array, at: number): Size | null {
  const first = data[at];
  if (first === undefined) return null;
  if (first < 0x80) return { from: at + 1, length: first };
  const one = data[at + 1];
  const two = data[at + 2];
  if (first === 0x81 && one !== undefined) return { from: at + 2, length: one };
  if (first === 0x82 && one !== undefined && two !== undefined) {
    return { from: at + 3, length: one * 256 + two };
  }
  return null;
}

/** Reads a TLV container and everything inside it. @returns `null` if it is malformed. */
export function readTlv(data: Uint8Array, depth = 0): readonly Tlv[] | null {
  if (depth > DEEPEST) return null;
  const items: Tlv[] = [];
  let at = 0;
  while (at < data.length) {
    const first = data[at] ?? 0;
    let tag = first;
    at += 1;
    if ((first & LONG_TAG) === LONG_TAG) {
      let more = true;
      for (let bytes = 0; more; bytes++) {
        const next = data[at];
        if (next === undefined || bytes > 1) return null;
        tag = tag * 256 + next;
        at += 1;
        more = (next & 0x80) !== 0;
      }
    }
    const size = tlvSize(data, at);
    if (size === null || data.length < size.from + size.length) return null;
    const value = data.subarray(size.from, size.from + size.length);
    items.push({ tag, value });
    if ((first & CONSTRUCTED) !== 0) {
      const inner = readTlv(value, depth + 1);
      if (inner === null) return null;
      items.push(...inner);
    }
    at = size.from + size.length;
  }
  return items;
}

function tlvLengthBytes(length: number): readonly number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

export function tlvBytes({ tag, value }: Tlv): Uint8Array {
  const tagBytes = tag > 0xffff ? [tag >> 16, (tag >> 8) & 0xff, tag & 0xff] : twoOrOne(tag);
  return Uint8Array.from([...tagBytes, ...tlvLengthBytes(value.length), ...value]);
}

function twoOrOne(tag: number): readonly number[] {
  return tag > 0xff ? [tag >> 8, tag & 0xff] : [tag];
}

/** The value must have the length of that field. */
export function fieldBytes(field: number, value: Uint8Array): Uint8Array {
  const length = FIELD_LENGTHS.get(field);
  if (length === 'TLV') {
    return Uint8Array.from([field, ...tlvLengthBytes(value.length), ...value]);
  }
  if (typeof length === 'number') {
    if (length !== value.length) throw new RangeError(`field ${field} has ${length} bytes`);
    return Uint8Array.from([field, ...value]);
  }
  if (length === undefined) throw new RangeError(`field ${field} is unknown`);
  const digits = String(value.length).padStart(length.length, '0');
  if (digits.length > length.length) throw new RangeError(`field ${field} is too long`);
  return Uint8Array.from([field, ...Array.from(digits, (digit) => 0xf0 + Number(digit)), ...value]);
}

/** Reads packed decimal digits. @returns `null` if a half byte is not a digit. */
export function fromBcd(bytes: Uint8Array): number | null {
  let value = 0;
  for (const byte of bytes) {
    if (byte >> 4 > 9 || (byte & 0x0f) > 9) return null;
    value = value * 100 + (byte >> 4) * 10 + (byte & 0x0f);
  }
  return Number.isSafeInteger(value) ? value : null;
}

/** Writes as many of a number's last digits as fit into this many bytes. */
export function toBcd(value: number, bytes: number): Uint8Array {
  const digits = String(value)
    .padStart(bytes * 2, '0')
    .slice(-bytes * 2);
  return Uint8Array.from(Buffer.from(digits, 'hex'));
}
