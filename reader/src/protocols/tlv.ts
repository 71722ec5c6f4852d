import { ProtocolError } from './apdu.ts';

/**
 * One tag-length-value element of ISO/IEC 8825-1. `decodeTlv` returns a list rather than a map,
 * because a tag may occur twice.
 */
export interface Tlv {
  readonly tag: number;
  readonly value: Uint8Array;
}

/** Limit with some room: no tag of the protocols here is longer than two bytes. */
const LONGEST_TAG = 4;

export function decodeTlv(bytes: Uint8Array): readonly Tlv[] {
  const items: Tlv[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = readTag(bytes, at);
    const length = readLength(bytes, tag.next);
    const end = length.next + length.value;
    if (end > bytes.length) throw new ProtocolError('a value is longer than its message');
    items.push({ tag: tag.value, value: bytes.subarray(length.next, end) });
    at = end;
  }
  return items;
}

export function findTag(list: readonly Tlv[], tag: number): Uint8Array | undefined {
  return list.find((each) => each.tag === tag)?.value;
}

export function encodeTlv(tag: number, value: Uint8Array): Uint8Array {
  if (value.length > 0xffff) throw new RangeError('a value carries at most 65535 bytes');
  const length =
    value.length < 0x80
      ? [value.length]
      : value.length < 0x100
        ? [0x81, value.length]
        : [0x82, value.length >> 8, value.length & 0xff];
  return Uint8Array.from([...tagBytes(tag), ...length, ...value]);
}

function tagBytes(tag: number): number[] {
  return tag > 0xff ? [tag >> 8, tag & 0xff] : [tag];
}

function readTag(bytes: Uint8Array, from: number): { value: number; next: number } {
  let at = from;
  let value = byteAt(bytes, at++);
  if ((value & 0x1f) !== 0x1f) return { value, next: at };
  for (;;) {
    if (at - from >= LONGEST_TAG) throw new ProtocolError('the tag is longer than four bytes');
    const byte = byteAt(bytes, at++);
    value = value * 256 + byte;
    if ((byte & 0x80) === 0) return { value, next: at };
  }
}

function readLength(bytes: Uint8Array, from: number): { value: number; next: number } {
  const first = byteAt(bytes, from);
  if (first < 0x80) return { value: first, next: from + 1 };
  const count = first & 0x7f;
  if (count === 0 || count > 3) throw new ProtocolError('the length is malformed');
  let value = 0;
  for (let index = 0; index < count; index++) value = value * 256 + byteAt(bytes, from + 1 + index);
  return { value, next: from + 1 + count };
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw new ProtocolError('the message is truncated');
  return byte;
}
