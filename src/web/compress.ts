import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';

/** Minimum size for compression: in smaller files, the header costs more than compression saves. */
const LEAST_BYTES = 512;
/** Brotli quality for the first start, which waits for it. */
export const FAST = 5;
/** Brotli quality that makes files a tenth smaller, at many times the processor time. */
export const SMALLEST = zlib.BROTLI_MAX_QUALITY;

/**
 * Matches files to skip: fonts are already compressed, and pages are filled in before they are
 * sent.
 */
const UNPACKED = /\.(html|woff2|br|gz)$/;

/** Writes a file with default permissions, by rename, because another process may be reading it. */
async function put(file: string, content: Buffer): Promise<void> {
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, content);
  await rename(draft, file);
}

async function compress(file: string, quality: number): Promise<void> {
  const plain = await readFile(file);
  if (plain.length < LEAST_BYTES) return;
  const params = { params: { [zlib.BROTLI_PARAM_QUALITY]: quality } };
  await put(`${file}.br`, await promisify(brotliCompress)(plain, params));
  if (quality === FAST) await put(`${file}.gz`, await promisify(gzip)(plain, { level: 9 }));
}

/**
 * Writes compressed forms next to the built files, each in one step.
 * @param quality for Brotli. With {@link FAST}, gzip forms are written as well.
 */
export async function compressFiles(folder: string, quality: number): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !UNPACKED.test(entry.name));
  await Promise.all(files.map((file) => compress(path.join(file.parentPath, file.name), quality)));
}
