import { statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Files with a process each, because they measure it, or mostly wait for networks, chains and
 * compilers that they start. All others share processes, each as its own suite with its own
 * `before` and `after`: 26 files of `src/apis` take 81 s of CPU time in two processes, and 167 s in
 * one each, on imports and JIT warm-up.
 */
const ALONE = /^((cli|x402|contracts|test\/(faults|journeys|packages))\/|test\/memory-limits)/;
/** More files per process save little and leave the last processes running alone. */
const MOST_IN_ONE = 16;
/** Fewest processes, so that a short run uses all cores. */
const LEAST_PROCESSES = 12;

/** Divides the files into lists, each of which runs in one process: neighbors share imports. */
function divide(files: readonly string[]): string[][] {
  const most = Math.max(1, Math.min(MOST_IN_ONE, Math.floor(files.length / LEAST_PROCESSES)));
  const roomOf = (file: string) => (ALONE.test(file) ? file : file.split('/')[0]);
  return [...Map.groupBy(files, roomOf).values()].flatMap((inside) => {
    const count = Math.ceil(inside.length / most);
    const bound = (n: number) => Math.round((n * inside.length) / count);
    return Array.from({ length: count }, (_, n) => inside.slice(bound(n), bound(n + 1)));
  });
}

/**
 * Orders the processes: those with most text first, so that none runs alone at the end, and the
 * waiting ones evenly between those that use the CPU.
 */
function inOrder(processes: readonly string[][]): string[][] {
  const textOf = (files: readonly string[]) =>
    files.reduce((sum, file) => sum + statSync(file).size, 0);
  const sorted = processes.toSorted((a, b) => textOf(b) - textOf(a));
  const kinds = Map.groupBy(sorted, ([file = '']) => ALONE.test(file) || file.startsWith('web/'));
  return [...kinds.values()]
    .flatMap((kind) => kind.map((files, n) => ({ files, position: (n + 0.5) / kind.length })))
    .toSorted((a, b) => a.position - b.position)
    .map(({ files }) => files);
}

/**
 * Writes one entry file per process into the folder, which imports its tests. Node runs files in
 * alphabetical order, so the names begin with the position.
 */
export async function writeProcesses(files: readonly string[], folder: string): Promise<string[]> {
  return Promise.all(
    inOrder(divide(files)).map(async (inside, index) => {
      const suites = inside.map((file) => {
        const url = JSON.stringify(pathToFileURL(path.resolve(file)).href);
        return `describe(${JSON.stringify(file)}, async () => { await import(${url}); });\n`;
      });
      const [first = ''] = inside;
      const name = inside.length === 1 ? first : path.dirname(first);
      const position = String(index).padStart(3, '0');
      // Not `.test.ts`: a failure with that name is one of a suite (failed-files.ts).
      const entry = `${position}-${name.replaceAll('/', '-').replace(/\.test\.ts$/, '')}.mjs`;
      const target = path.join(folder, entry);
      await writeFile(target, `import { describe } from 'node:test';\n${suites.join('')}`);
      return target;
    }),
  );
}
