import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * A process per file spends a second of a core on imports that its neighbour has just made. So
 * neighbours share one: each file is a suite of its own, with its own `before` and `after`.
 */
const SHARES = /^(src|web|test\/(api|doors))\//;
/** More in one process save little, and the last processes of a run would work alone. */
const MOST_IN_ONE = 12;
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

/** Beside these, all others are short. */
const LONGEST_FIRST = ['contracts/', 'test/faults/', 'src/ops/', 'src/settlement/', 'test/'];

function rank(group: readonly string[]): number {
  const place = LONGEST_FIRST.findIndex((prefix) => group[0]?.startsWith(prefix));
  return place < 0 ? LONGEST_FIRST.length : place;
}

/**
 * Long ones first, so that none runs alone at the end; those that wait for a browser most of the
 * time beside those that start processes and work.
 */
export function inGoodOrder(groups: readonly string[][]): string[][] {
  const isBrowser = (group: readonly string[]) => group[0]?.startsWith('web/') ?? false;
  const waiting = groups.filter(isBrowser);
  const working = groups.filter((group) => !isBrowser(group)).sort((a, b) => rank(a) - rank(b));
  const pairs = working.flatMap((group, n) => [...waiting.slice(n, n + 1), group]);
  return [...pairs, ...waiting.slice(working.length)];
}

/**
 * What Node is to run: written files that import those of their group. Node runs files in the
 * order of their names, so these begin with their place.
 */
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
  const suites = group.map((file) => {
    const url = JSON.stringify(pathToFileURL(path.resolve(file)).href);
    return `describe(${JSON.stringify(file)}, async () => { await import(${url}); });\n`;
  });
  const [first = ''] = group;
  const what = group.length === 1 ? first.replace(/\.test\.ts$/, '') : path.dirname(first);
  const place = String(index).padStart(3, '0');
  const target = path.join(folder, `${place}-${what.replaceAll(path.sep, '-')}.mjs`);
  await writeFile(target, `import { describe } from 'node:test';\n${suites.join('')}`);
  return target;
}
