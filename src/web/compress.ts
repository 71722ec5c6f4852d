import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';

/** Smaller files are not compressed: the header would cost more than compression saves. */
const LEAST_BYTES = 512;
/** Brotli quality that takes 0.1 s for all apps, for which a first start waits. */
export const FAST = 5;
/**
 * Brotli quality that makes files a tenth smaller. Takes 1.8 s on one core, half as long as the
 * build.
 */
export const SMALLEST = zlib.BROTLI_MAX_QUALITY;

/** Not compressed: fonts already are, and pages are filled in before they are sent. */
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
 * @param quality For Brotli; gzip forms are made only with {@link FAST}.
 */
export async function compressFiles(folder: string, quality: number): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !UNPACKED.test(entry.name));
  await Promise.all(files.map((file) => compress(path.join(file.parentPath, file.name), quality)));
}
