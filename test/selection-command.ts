import { globSync } from 'node:fs';
import path from 'node:path';
import { createReach, isSlow, selectTests, testFiles } from './reached.ts';

/**
 * Prints how many test files `npm test -- --changed` runs after a change of one product file, over
 * all product files, and which files are on the way from most tests to most sources.
 */
const ROOT = path.join(import.meta.dirname, '..');
const SHOWN = 20;

export function testsAndSources(): { readonly tests: string[]; readonly sources: string[] } {
  const tests = testFiles(ROOT);
  const sources = globSync('src/**/*.ts', { cwd: ROOT }).sort();
  return { tests, sources: sources.filter((file) => !tests.includes(file)) };
}

function main(): void {
  const { tests, sources } = testsAndSources();
  const reach = createReach(ROOT);
  const counts = sources
    .map((file) => selectTests([file], tests, ROOT, reach).run.length)
    .sort((a, b) => a - b);
  const at = (share: number) => counts[Math.floor(share * (counts.length - 1))];
  console.log(`${sources.length} sources, ${tests.length} tests`);
  console.log(`first quartile ${at(0.25)}, median ${at(0.5)}, third ${at(0.75)}, most ${at(1)}`);
  const known = new Set(sources);
  const users = new Map<string, number>();
  const below = (file: string) => [...reach(file).keys()].filter((one) => known.has(one)).length;
  for (const test of tests.filter((one) => !isSlow(one))) {
    for (const file of reach(test).keys()) users.set(file, (users.get(file) ?? 0) + 1);
  }
  const costs = [...users]
    .map(([file, count]) => ({ file, count, sources: below(file) }))
    .sort((a, b) => b.count * b.sources - a.count * a.sources);
  console.log('tests × sources');
  for (const { file, ...cost } of costs.slice(0, SHOWN)) {
    console.log(`${String(cost.count).padStart(5)} × ${String(cost.sources).padStart(4)}  ${file}`);
  }
}

if (import.meta.main) main();
