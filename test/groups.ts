import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * A process per file spends a second of a core on imports that its neighbour has just made. So
 * neighbours share one: each file is a suite of its own, with its own `before` and `after`.
 */
const SHARES = /^(src|web|test\/(api|doors))\//;
/** More in one process save little, and the last processes of a run would work alone. */
const MOST_IN_ONE = 8;
/** A short run keeps all cores busy rather than few processes. */
const LEAST_PROCESSES = 12;

/** Each list is run by one process. Files keep their order; those of one folder are together. */
export function groupFiles(files: readonly string[]): string[][] {
  const most = Math.max(1, Math.min(MOST_IN_ONE, Math.floor(files.length / LEAST_PROCESSES)));
  const groups: string[][] = [];
  for (const [folder, inside] of Map.groupBy(files, (file) => path.dirname(file))) {
    const size = SHARES.test(`${folder}/`) ? most : 1;
    const count = Math.ceil(inside.length / size);
    // Of the same length: a folder of nine is five and four.
    for (let n = 0; n < count; n++) {
      const bounds = [n, n + 1].map((at) => Math.round((at * inside.length) / count));
      groups.push(inside.slice(bounds[0], bounds[1]));
    }
  }
  return groups;
}

/** What Node is to run: the file itself, or a written one that imports those of its group. */
export async function writeGroups(
  groups: readonly (readonly string[])[],
  folder: string,
): Promise<string[]> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  return Promise.all(groups.map((group, index) => writeGroup(group, folder, index)));
}

async function writeGroup(
  group: readonly string[],
  folder: string,
  index: number,
): Promise<string> {
  const [first = '', ...others] = group;
  if (others.length === 0) return first;
  const suites = group.map((file) => {
    const url = JSON.stringify(pathToFileURL(path.resolve(file)).href);
    return `describe(${JSON.stringify(file)}, async () => { await import(${url}); });\n`;
  });
  const name = `${path.dirname(first).replaceAll(path.sep, '-')}-${index}.mjs`;
  const target = path.join(folder, name);
  await writeFile(target, `import { describe } from 'node:test';\n${suites.join('')}`);
  return target;
}
