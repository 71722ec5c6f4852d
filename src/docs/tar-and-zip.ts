import { promisify } from 'node:util';
import { crc32, gzip } from 'node:zlib';
import { assert } from '#core/assert.ts';

/**
 * A file in an archive. This module builds archives for package managers. The same files give the
 * same bytes on any machine and any day, so that checksums can be compared. `npm pack` is not used:
 * an image that runs the service has no npm, and a workspace's bundled packages are in another
 * folder.
 */
export interface Entry {
  /** Relative, with slashes. */
  readonly name: string;
  readonly bytes: Buffer;
  readonly executable?: boolean;
}

const BLOCK = 512;
/** The date that npm writes into all archives, because some programs reject the year 1970. */
const WRITTEN_AT_S = 499_162_500;
/** Maximum length of a name in a header without extensions. Our names are far shorter. */
const LONGEST_NAME = 100;

function octal(value: number, length: number): string {
  return `${value.toString(8).padStart(length - 1, '0')}\0`;
}

function headerOf({ name, bytes, executable = false }: Entry): Buffer {
  assert(Buffer.byteLength(name) <= LONGEST_NAME, `${name} is too long for an archive`);
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0);
  header.write(octal(executable ? 0o755 : 0o644, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(bytes.length, 12), 124);
  header.write(octal(WRITTEN_AT_S, 12), 136);
  // The format computes the checksum with spaces in the checksum's own field.
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** Creates a gzipped tar archive, which npm can install. */
export async function tarball(entries: readonly Entry[]): Promise<Buffer> {
  const blocks = entries.flatMap((entry) => {
    const rest = (BLOCK - (entry.bytes.length % BLOCK)) % BLOCK;
    return [headerOf(entry), entry.bytes, Buffer.alloc(rest)];
  });
  const zipped = await promisify(gzip)(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), {
    level: 9,
  });
  // The byte for the operating system; 255 means "unknown".
  zipped[9] = 255;
  return zipped;
}

/** January 1, 1980: the first day of the zip format. */
const ZIP_DATE = 0x0021;

function zipFields({ name, bytes }: Entry): Buffer {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(ZIP_DATE, 8);
  fields.writeUInt32LE(crc32(bytes), 10);
  fields.writeUInt32LE(bytes.length, 14);
  fields.writeUInt32LE(bytes.length, 18);
  fields.writeUInt16LE(Buffer.byteLength(name), 22);
  return fields;
}

/** Creates an uncompressed zip archive, which pip can install as a wheel. */
export function zip(entries: readonly Entry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const entry of entries) {
    const name = Buffer.from(entry.name);
    const fields = zipFields(entry);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, name, entry.bytes]);
    const attributes = Buffer.alloc(14);
    // The Unix mode: readable by everyone, writable by the owner.
    attributes.writeUInt32LE((0o100644 << 16) >>> 0, 6);
    attributes.writeUInt32LE(at, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x03'), fields, attributes, name);
    parts.push(local);
    at += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, listed, end]);
}
