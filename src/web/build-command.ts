import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';
import { build } from 'vite';

/**
 * `node src/web/build-command.ts --out <folder>`: builds the web apps into the folder, each file
 * with its compressed forms beside it. A process of its own, so that the service does not keep
 * the memory that building takes.
 */
const WEB = path.join(import.meta.dirname, '../../web');
/** Not worth a header. */
const LEAST_BYTES = 512;

async function compress(file: string): Promise<void> {
  const plain = await readFile(file);
  if (plain.length < LEAST_BYTES) return;
  const quality = { params: { [zlib.BROTLI_PARAM_QUALITY]: zlib.BROTLI_MAX_QUALITY } };
  await writeFile(`${file}.br`, await promisify(brotliCompress)(plain, quality));
  await writeFile(`${file}.gz`, await promisify(gzip)(plain, { level: 9 }));
}

const { values } = parseArgs({ options: { out: { type: 'string' } } });
if (values.out === undefined) throw new Error('--out <folder> is missing');
const out = path.resolve(values.out);
await build({ root: WEB, build: { outDir: out, emptyOutDir: true } });
const entries = await readdir(out, { recursive: true, withFileTypes: true });
const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.html'));
await Promise.all(files.map((file) => compress(path.join(file.parentPath, file.name))));
