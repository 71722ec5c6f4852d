import { constants, crc32, deflateRawSync } from 'node:zlib';

/**
 * Writes a ZIP archive as a stream (APPNOTE 6.3.10): each file's sizes and checksum follow its data
 * in a descriptor, so that no file is held in memory. Names must be ASCII.
 */

const LOCAL = 0x04034b50;
const DESCRIPTOR = 0x08074b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
/** ZIP 2.0: folders and deflate. */
const VERSION = 20;
/** Bit 3: sizes and checksum follow the data. */
const FLAGS = 0x0008;
const DEFLATE = 8;
/** 1980-01-01, the earliest date of the format: the same entries give the same bytes. */
const DATE = 0x0021;

/** A part of a file. Parts of one file follow one another. */
export interface ZipPart {
  readonly name: string;
  readonly bytes: Uint8Array;
}

interface Member {
  readonly name: string;
  readonly offset: number;
  crc: number;
  packed: number;
  size: number;
}

/** Concatenates little-endian numbers, given as pairs of a value and its number of bytes. */
function numbers(...fields: readonly (readonly [value: number, bytes: number])[]): Buffer {
  const buffer = Buffer.alloc(fields.reduce((sum, [, bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [value, bytes] of fields) at = buffer.writeUIntLE(value, at, bytes);
  return buffer;
}

function localHeader({ name }: Member): Buffer {
  const fixed = numbers(
    ...([
      [LOCAL, 4],
      [VERSION, 2],
      [FLAGS, 2],
      [DEFLATE, 2],
      [0, 2],
      [DATE, 2],
    ] as const),
    ...([
      [0, 4],
      [0, 4],
      [0, 4],
      [name.length, 2],
      [0, 2],
    ] as const),
  );
  return Buffer.concat([fixed, Buffer.from(name, 'latin1')]);
}

function descriptor({ crc, packed, size }: Member): Buffer {
  return numbers([DESCRIPTOR, 4], [crc, 4], [packed, 4], [size, 4]);
}

function centralHeader({ name, offset, crc, packed, size }: Member): Buffer {
  const fixed = numbers(
    ...([
      [CENTRAL, 4],
      [VERSION, 2],
      [VERSION, 2],
      [FLAGS, 2],
      [DEFLATE, 2],
      [0, 2],
    ] as const),
    ...([
      [DATE, 2],
      [crc, 4],
      [packed, 4],
      [size, 4],
      [name.length, 2],
      [0, 2],
    ] as const),
    ...([
      [0, 2],
      [0, 2],
      [0, 2],
      [0, 4],
      [offset, 4],
    ] as const),
  );
  return Buffer.concat([fixed, Buffer.from(name, 'latin1')]);
}

/** Each part is compressed on its own, so the last block of a file is an empty one. */
const LAST_BLOCK = deflateRawSync(Buffer.alloc(0));

/** Yields the bytes of an archive with these files. */
export async function* zipped(parts: AsyncIterable<ZipPart>): AsyncGenerator<Buffer> {
  const members: Member[] = [];
  let offset = 0;
  let open: Member | undefined;
  const count = (bytes: Buffer) => {
    offset += bytes.length;
    return bytes;
  };
  function* close(member: Member | undefined) {
    if (member === undefined) return;
    member.packed += LAST_BLOCK.length;
    yield count(LAST_BLOCK);
    yield count(descriptor(member));
  }
  for await (const { name, bytes } of parts) {
    if (open?.name !== name) {
      yield* close(open);
      open = { name, offset, crc: 0, packed: 0, size: 0 };
      members.push(open);
      yield count(localHeader(open));
    }
    const packed = deflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, level: 1 });
    open.crc = crc32(bytes, open.crc);
    open.size += bytes.length;
    open.packed += packed.length;
    yield count(packed);
  }
  yield* close(open);
  const start = offset;
  for (const member of members) yield count(centralHeader(member));
  yield numbers(
    ...([
      [END, 4],
      [0, 2],
      [0, 2],
      [members.length, 2],
      [members.length, 2],
    ] as const),
    ...([
      [offset - start, 4],
      [start, 4],
      [0, 2],
    ] as const),
  );
}
