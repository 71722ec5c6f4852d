import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';

/** Writes the lists in a release's folder: `manifest.json` and `SHA256SUMS`. */

export interface ReleaseFile {
  readonly file: string;
  /** A description of the file for the person who publishes it. */
  readonly what: string;
  /** True if the same commit gives the same bytes again on this machine. */
  readonly isReproducible: boolean;
}

interface Listed {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
  readonly what: string;
  readonly reproducible: boolean;
}

async function listed(folder: string, { file, what, isReproducible }: ReleaseFile) {
  const filePath = path.join(folder, file);
  const hash = createHash('sha256');
  await pipeline(createReadStream(filePath), hash);
  const { size } = await stat(filePath);
  const about: Listed = {
    ...{ name: file, size, sha256: hash.digest('hex'), what },
    reproducible: isReproducible,
  };
  return about;
}

export interface About {
  readonly version: string;
  readonly tag: string;
  readonly commit: string;
  /** The programs that made the files. Other versions may produce different bytes. */
  readonly madeBy: Readonly<Record<'node' | 'npm' | 'git' | 'architecture', string>>;
  /** Files that this machine could not make, each with the reason. */
  readonly missing: readonly string[];
}

/** Writes the list of files, and their checksums in the format of `sha256sum --check`. */
export async function listFiles(
  folder: string,
  files: readonly ReleaseFile[],
  about: About,
): Promise<void> {
  const rows: Listed[] = [];
  for (const one of files.toSorted((a, b) => (a.file < b.file ? -1 : 1))) {
    rows.push(await listed(folder, one));
  }
  const manifest = `${JSON.stringify({ ...about, files: rows }, null, 2)}\n`;
  await writeFile(path.join(folder, 'manifest.json'), manifest);
  const own = createHash('sha256').update(manifest).digest('hex');
  const sums = [...rows, { name: 'manifest.json', sha256: own }];
  const lines = sums.map(({ name, sha256 }) => `${sha256}  ${name}\n`);
  await writeFile(path.join(folder, 'SHA256SUMS'), lines.join(''));
}
