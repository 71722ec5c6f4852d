import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';

/** Smaller files are not compressed, because that would save less than the header costs. */
const LEAST_BYTES = 512;
/** Takes 0.1 s for all apps; a first start waits for it. */
export const FAST = 5;
/** A tenth smaller, but takes 1.8 s of a core, half as long as the build. */
export const SMALLEST = zlib.BROTLI_MAX_QUALITY;

/** Not compressed: fonts already are, and pages are completed before they are sent. */
const UNPACKED = /\.(html|woff2|br|gz)$/;

/** Writes a file as readable as the original, in one step, because another process may read it. */
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
 * Writes the compressed forms of built files beside them, each file in one step.
 * @param quality of Brotli; gzip forms are made with {@link FAST} only.
 */
export async function compressFiles(folder: string, quality: number): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !UNPACKED.test(entry.name));
  await Promise.all(files.map((file) => compress(path.join(file.parentPath, file.name), quality)));
}
