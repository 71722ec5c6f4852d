import assert from 'node:assert/strict';
import { inflateRawSync } from 'node:zlib';

const END = 0x06054b50;
const ENTRY = 0x02014b50;

/** Extracts an archive, whose files may be compressed. */
export function unzip(bytes: Buffer): Map<string, Buffer> {
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  assert.equal(bytes.readUInt32LE(end), END);
  const files = new Map<string, Buffer>();
  let entry = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    assert.equal(bytes.readUInt32LE(entry), ENTRY);
    const isDeflated = bytes.readUInt16LE(entry + 10) === 8;
    const [size, name, extra, comment] = [20, 28, 30, 32].map((offset, i) =>
      i === 0 ? bytes.readUInt32LE(entry + offset) : bytes.readUInt16LE(entry + offset),
    ) as [number, number, number, number];
    const local = bytes.readUInt32LE(entry + 42);
    const data = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const fileName = bytes.subarray(entry + 46, entry + 46 + name).toString();
    const content = bytes.subarray(data, data + size);
    files.set(fileName, isDeflated ? inflateRawSync(content) : content);
    entry += 46 + name + extra + comment;
  }
  return files;
}
