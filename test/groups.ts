import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Files that share processes, each as its own suite with its own `before` and `after`. A process
 * per file would spend two seconds of CPU on imports and JIT warm-up that its neighbors repeat.
 */
const SHARES = /^(src|web|test\/(api|docs|doors)|(reader|sdk)\/test)\//;
/** More files per process save little and leave the last processes running alone. */
const MOST_IN_ONE = 16;
/** Fewest processes, so that a short run uses all cores. */
const LEAST_PROCESSES = 12;

/**
 * Files that mostly wait for a browser, a chain or a process to start, the longest first. All
 * others use the CPU.
 */
const WAITING = [
  ...['test/faults/', 'contracts/', 'reader/', 'test/journeys/', 'src/ops/'],
  ...['src/settlement/', 'cli/', 'x402/', 'web/', 'test/'],
];
/** Exceptions in those folders: they use the CPU. */
const WORKING = ['test/api/', 'test/doors/', 'test/tidy', 'src/settlement/contract/'];

function rank(group: readonly string[]): number {
  const [file = ''] = group;
  if (WORKING.some((prefix) => file.startsWith(prefix))) return WAITING.length;
  const place = WAITING.findIndex((prefix) => file.startsWith(prefix));
  return place < 0 ? WAITING.length + 1 : place;
}

/**
 * Returns a key that is equal for files that may share a process. Files in `src` have similar
 * imports; browser tests are long.
 */
function roomOf(file: string): string {
  const folder = path.dirname(file);
  if (!SHARES.test(file)) return file;
  return file.startsWith('src/') ? `src ${rank([file])}` : folder;
}

/**
 * Divides the files into lists, each of which runs in one process. Files that may share a process
 * keep their order.
 */
export function groupFiles(files: readonly string[]): string[][] {
  const most = Math.max(1, Math.min(MOST_IN_ONE, Math.floor(files.length / LEAST_PROCESSES)));
  const groups: string[][] = [];
  for (const inside of Map.groupBy(files, roomOf).values()) {
    const count = Math.ceil(inside.length / most);
    // Divides the files evenly: nine become five and four.
    for (let n = 0; n < count; n++) {
      const bounds = [n, n + 1].map((at) => Math.round((at * inside.length) / count));
      groups.push(inside.slice(bounds[0], bounds[1]));
    }
  }
  return groups;
}

/**
 * Spreads waiting files evenly over CPU-bound ones, so that all cores stay busy throughout the run.
 * Within each kind the longest come first, so that no file runs alone at the end. A group's length
 * is estimated by its amount of text (10 to 120 s in `src`).
 */
export function inGoodOrder(
  groups: readonly string[][],
  lengthOf: (file: string) => number,
): string[][] {
  const textOf = (group: readonly string[]) => group.reduce((sum, file) => sum + lengthOf(file), 0);
  const sorted = groups.toSorted((a, b) => rank(a) - rank(b) || textOf(b) - textOf(a));
  const waiting = sorted.filter((group) => rank(group) < WAITING.length);
  const working = sorted.filter((group) => rank(group) >= WAITING.length);
  const placed = [waiting, working].flatMap((kind) =>
    kind.map((group, n) => ({ group, place: (n + 0.5) / kind.length })),
  );
  return placed.sort((a, b) => a.place - b.place).map(({ group }) => group);
}

/**
 * Writes one entry file per group, which imports its tests. Node runs files in alphabetical order,
 * so the names begin with the position.
 */
export async function writeGroups(
  groups: readonly (readonly string[])[],
  folder: string,
): Promise<string[]> {
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
  const what = group.length === 1 ? first.replace(/(\.slow)?\.test\.ts$/, '') : path.dirname(first);
  const place = String(index).padStart(3, '0');
  const target = path.join(folder, `${place}-${what.replaceAll(path.sep, '-')}.mjs`);
  await writeFile(target, `import { describe } from 'node:test';\n${suites.join('')}`);
  return target;
}
