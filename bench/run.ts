import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { startFlags } from '#testkit/network/spawn-network.ts';
import { type BenchLine, printTable, RESULTS, report } from './report.ts';

/**
 * `npm run bench [-- names…]`: runs every benchmark in turn, each in its own process, so that none
 * affects another's memory. Then prints one table of all results and writes it to
 * `bench/results/all.json`. Settings are environment variables (bench/README.md), which all
 * programs inherit.
 */
const PROGRAMS = [
  'start',
  'young',
  'api',
  'lists',
  'charts',
  'pickup',
  'terminal',
  'counter',
  'journey',
  'settlement',
  'webhooks',
  'streams',
  'wallets',
  'growth',
  'sizing',
  'reader',
  'nodes',
] as const;
/**
 * Time limit of one benchmark, so that a hanging one does not stop the run. The longest takes six
 * minutes.
 */
const LIMIT_MS = 1_200_000;

async function run(name: string): Promise<readonly BenchLine[]> {
  const file = path.join(RESULTS, `${name}.json`);
  await rm(file, { force: true });
  console.log(`\n${name}`);
  // Passes the service's flags, because some programs run part of the service in their own process.
  const args = [...startFlags(), path.join(import.meta.dirname, `${name}.ts`)];
  const child = spawn(process.execPath, args, { stdio: 'inherit', timeout: LIMIT_MS });
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  if (code !== 0) return [{ work: name, value: `failed (${code})` }];
  try {
    return (JSON.parse(await readFile(file, 'utf8')) as { lines: BenchLine[] }).lines;
  } catch {
    return [{ work: name, value: 'left no results' }];
  }
}

const request = process.argv.slice(2);
const unknown = request.filter((name) => !PROGRAMS.some((known) => known === name));
if (unknown.length > 0) throw new Error(`unknown benchmark ${unknown}: ${PROGRAMS.join(', ')}`);
const all: BenchLine[] = [];
for (const name of request.length > 0 ? request : PROGRAMS) all.push(...(await run(name)));
console.log('\nall');
if (request.length > 0) printTable(all);
else await report('all', all);
