// Plants one bug at a time into a copy of the tree and shows that a test notices.
//
//   npm run mutations                          all hand-made ones and 40 generated ones
//   npm run mutations -- --seed 7 --count 60   other generated ones
//   npm run mutations -- --only settle.ts      those in files with this in their names
//
// Bounded and resumable: results are kept in results.json, and what was judged is not judged again
// while its file is the same. Exits with 1 when a mutation survives that has no proof.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startThrowawayPostgres } from '#sandbox/postgres.ts';
import { PROOFS } from './equivalent.ts';
import { FILES } from './files.ts';
import { generate } from './generate.ts';
import { openPlot, type Plot } from './judge.ts';
import { digest, lineOf, type Mutation, mutationId, type Result } from './mutation.ts';
import { MUTATIONS } from './mutation-list.ts';
import { writeTable } from './table.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const RESULTS = path.join(import.meta.dirname, 'results.json');
/** As many as are made by hand, or more. */
const GENERATED = 40;
const SEED = 20261120;
/** Two cores. */
const WORKERS = 2;

interface Task {
  readonly id: string;
  readonly origin: Result['origin'];
  readonly mutation: Mutation;
  readonly source: string;
}

function toTask(origin: Result['origin'], mutation: Mutation): Task {
  const source = readFileSync(path.join(ROOT, mutation.file), 'utf8');
  return { id: mutationId(mutation, digest(source)), origin, mutation, source };
}

function testsOf(file: string): string[] {
  const patterns = FILES[file];
  if (patterns === undefined) throw new Error(`${file} is not in files.ts`);
  return patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).sort();
}

async function judgeOne(plot: Plot, task: Task): Promise<Result> {
  const started = performance.now();
  const { id, origin, mutation, source } = task;
  const { name, file, from, to } = mutation;
  const judged = await plot.judge(mutation, testsOf(file));
  const proof = PROOFS[id];
  const equivalent = judged.verdict === 'survived' && proof !== undefined;
  return {
    ...{ id, origin, name, file, line: lineOf(source, mutation), from, to },
    verdict: equivalent ? 'equivalent' : judged.verdict,
    by: equivalent ? proof : judged.by,
    seconds: Math.round((performance.now() - started) / 1000),
    fileHash: digest(source),
  };
}

function readResults(): Map<string, Result> {
  const results = JSON.parse(readFileSync(RESULTS, 'utf8')) as Result[];
  return new Map(results.map((result) => [result.id, result]));
}

/** Judges what is left, and writes each result as it comes, so that a stopped run goes on. */
async function work(tasks: readonly Task[], done: Map<string, Result>): Promise<void> {
  const queue = tasks.filter(({ id }) => !done.has(id));
  console.log(`${tasks.length} mutations, ${tasks.length - queue.length} judged before`);
  const postgres = await startThrowawayPostgres();
  const worker = async () => {
    const plot = openPlot(ROOT, postgres.url);
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
      const result = await judgeOne(plot, task);
      done.set(result.id, result);
      writeFileSync(RESULTS, `${JSON.stringify([...done.values()], null, 2)}\n`);
      console.log(`${result.verdict}: ${result.file}:${result.line} ${result.name} (${result.by})`);
    }
    plot.remove();
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  await postgres.stop();
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { seed: { type: 'string' }, count: { type: 'string' }, only: { type: 'string' } },
  });
  const seed = Number(values.seed ?? SEED);
  const count = Number(values.count ?? GENERATED);
  const generated = generate({ root: ROOT, files: Object.keys(FILES), seed, count });
  const tasks = [
    ...MUTATIONS.map((mutation) => toTask('hand', mutation)),
    ...generated.map((mutation) => toTask('generated', mutation)),
  ].filter(({ mutation }) => mutation.file.includes(values.only ?? ''));
  const done = readResults();
  await work(tasks, done);
  const results = tasks.flatMap(({ id }) => done.get(id) ?? []);
  if (values.only === undefined) writeTable(results, seed);
  return results.some(({ verdict }) => verdict === 'survived') ? 1 : 0;
}

process.exit(await main());
