// Inserts one bug at a time into a copy of the contracts and requires a forge test to fail.
//   node contracts/mutations.ts hand-made bugs, and as many generated ones
//   node contracts/mutations.ts --seed 7 --count 60 other generated bugs
//   node contracts/mutations.ts --only Refunds,Merchants bugs in these files, in this order
//   node contracts/mutations.ts --limit 20 at most 20 in this run
// A mutation takes about 15 s of one core. The test that detected the bug in an earlier version of
// the contract runs first. Results are kept in mutations/results.json: a stopped run continues
// where it stopped, and a mutation is judged again only if it survived or its file has changed.
// Exits with 1 if a mutation survives and mutations/equivalent-mutants.ts does not explain why.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { proofOf } from '../test/mutations/equivalent.ts';
import {
  digest,
  lineOf,
  type Mutation,
  mutationId,
  type Result,
  readResults,
  writeResults,
} from '../test/mutations/mutation.ts';
import { writeTable } from '../test/mutations/table.ts';
import { contractsFolder } from './forge.ts';
import { PROOFS } from './mutations/equivalent-mutants.ts';
import { generate, SOURCES } from './mutations/generate.ts';
import { judge } from './mutations/judge-mutant.ts';
import { MUTATIONS } from './mutations/list.ts';

const RESULTS = join(contractsFolder, 'mutations', 'results.json');
const README = join(contractsFolder, 'mutations', 'README.md');
const SEED = 20261120;

type Origin = Result['origin'];

interface Task {
  readonly id: string;
  readonly origin: Origin;
  readonly mutation: Mutation;
}

function readSource(file: string): string {
  return readFileSync(join(contractsFolder, file), 'utf8');
}

/** Identifies the same change wherever it is in its file. */
function changeOf({ name, from, to }: Pick<Mutation, 'name' | 'from' | 'to'>): string {
  return [name, from, to].join('\n');
}

async function judgeOne(
  { id, origin, mutation }: Task,
  likelyKiller: string | undefined,
): Promise<Result> {
  const started = performance.now();
  const source = readSource(mutation.file);
  const { name, file, from, to } = mutation;
  const judged = await judge(mutation, likelyKiller);
  const proof = proofOf(mutation, source, PROOFS);
  const equivalent = judged.verdict === 'survived' && proof !== undefined;
  return {
    ...{ id, origin, name, file, line: lineOf(source, mutation), from, to },
    verdict: equivalent ? 'equivalent' : judged.verdict,
    by: equivalent ? proof : judged.by,
    seconds: Math.round((performance.now() - started) / 1000),
    fileHash: digest(source),
  };
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      ...{ seed: { type: 'string' }, count: { type: 'string' } },
      ...{ only: { type: 'string' }, limit: { type: 'string' } },
    },
  });
  const seed = Number(values.seed ?? SEED);
  const count = Number(values.count ?? MUTATIONS.length);
  const generated = generate({ root: contractsFolder, seed, count });
  const all = Array.from({ length: Math.max(generated.length, MUTATIONS.length) }, (_, i) => [
    ...generated.slice(i, i + 1).map((mutation) => ({ origin: 'generated' as Origin, mutation })),
    ...MUTATIONS.slice(i, i + 1).map((mutation) => ({ origin: 'hand' as Origin, mutation })),
  ]).flat();
  // Generated bugs are in SOURCES. Hand-made ones may be in other files, too.
  const files = new Set([...SOURCES, ...MUTATIONS.map(({ file }) => file)]);
  const hashes = new Map([...files].map((file) => [file, digest(readSource(file))]));
  const tasks = all.map(({ origin, mutation }) => {
    const id = mutationId(mutation, hashes.get(mutation.file) ?? '');
    return { id, origin, mutation };
  });
  const names = (values.only ?? '').split(',');
  const done = readResults(RESULTS);
  const caught = [...done.values()].filter(({ verdict }) => verdict === 'caught');
  const killers = new Map(caught.map((result) => [changeOf(result), result.by]));
  let room = Number(values.limit ?? tasks.length);
  const open = new Set(tasks.map(({ mutation }) => changeOf(mutation)));
  for (const task of tasks) {
    const { id, mutation } = task;
    if (!names.some((name) => mutation.file.includes(name))) continue;
    // A mutation that survived is judged again, because a test may exist by now.
    if ((done.get(id)?.verdict ?? 'survived') !== 'survived') continue;
    if (room-- <= 0) break;
    const result = await judgeOne(task, killers.get(changeOf(mutation)));
    done.set(id, result);
    open.delete(changeOf(mutation));
    // A result for an older version of its file is kept until the mutation is judged again, because
    // it names the test that is likely to detect the bug.
    const kept = [...done.values()].filter(
      (one) => one.fileHash === hashes.get(one.file) || open.has(changeOf(one)),
    );
    writeResults(RESULTS, kept);
    console.log(`${result.verdict}: ${result.file}:${result.line} ${result.name} (${result.by})`);
  }
  const results = tasks.flatMap(({ id }) => done.get(id) ?? []);
  writeTable(README, results, { seed, left: tasks.length - results.length });
  return results.some(({ verdict }) => verdict === 'survived') ? 1 : 0;
}

process.exit(await main());
