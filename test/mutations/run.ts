// Plants one bug at a time in a copy of the tree and shows that a test detects it.
//
//   npm run mutations                          all manual ones and those of the seed
//   npm run mutations -- --seed 7              other generated ones
//   npm run mutations -- --only facts,refunds  those in matching files, in this order
//
// Bounded and resumable: results are stored in results.json, and a mutation is judged again only if
// the code of its file has changed. Exits with 1 if a mutation survives without a proof.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startThrowawayPostgres } from '#testkit/fixtures/db/throwaway-postgres.ts';
import { proofOf } from './equivalent.ts';
import { FILES, GENERATED_INTO } from './files.ts';
import { generate } from './generate.ts';
import { openPlot, type Plot } from './judge.ts';
import {
  codeOf,
  digest,
  lineOf,
  type Mutation,
  mutationId,
  type Result,
  readResults,
  writeResults,
} from './mutation.ts';
import { MUTATIONS } from './mutation-list.ts';
import { writeTable } from './table.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const RESULTS = path.join(import.meta.dirname, 'results.json');
const README = path.join(import.meta.dirname, 'README.md');
/** Contains the rule that promises in a transaction must be awaited. */
const HOUSE_RULES = 'test/tidy.test.ts';
const SEED = 20261120;
/**
 * One, because tests have time limits: with two mutants in parallel on two cores, a slow test could
 * count as a detection.
 */
const WORKERS = 1;

interface Task {
  readonly id: string;
  readonly origin: Result['origin'];
  readonly mutation: Mutation;
  readonly source: string;
}

/** Ignores comments, which do not change the program. */
function taskId(mutation: Mutation, source: string): string {
  const { offset } = mutation;
  const place = offset === undefined ? {} : { offset: codeOf(source, offset).length };
  return mutationId({ ...mutation, ...place }, digest(codeOf(source)));
}

function toTask(origin: Result['origin'], mutation: Mutation): Task {
  const source = readFileSync(path.join(ROOT, mutation.file), 'utf8');
  return { id: taskId(mutation, source), origin, mutation, source };
}

/** Alternates both lists, so that an interrupted run has judged equally many of each. */
function inTurns(some: readonly Task[], others: readonly Task[]): Task[] {
  const length = Math.max(some.length, others.length);
  return Array.from({ length }, (_, i) => [some[i] ?? [], others[i] ?? []].flat()).flat();
}

function testsOf({ name, file, by }: Mutation): string[] {
  const tests = FILES[file];
  if (tests === undefined) throw new Error(`${file} is not in files.ts`);
  const rules = name === 'await' ? [HOUSE_RULES] : [];
  return [...new Set([...(by === undefined ? [] : [by]), ...rules, ...tests])];
}

async function judgeOne(plot: Plot, task: Task): Promise<Result> {
  const started = performance.now();
  const { id, origin, mutation, source } = task;
  const { name, file, from, to } = mutation;
  const judged = await plot.judge(mutation, testsOf(mutation));
  const proof = proofOf(mutation, source);
  const equivalent = judged.verdict === 'survived' && proof !== undefined;
  return {
    ...{ id, origin, name, file, line: lineOf(source, mutation), from, to },
    verdict: equivalent ? 'equivalent' : judged.verdict,
    by: equivalent ? proof : judged.by,
    seconds: Math.round((performance.now() - started) / 1000),
    fileHash: digest(codeOf(source)),
  };
}

/**
 * Judges the remaining tasks and writes each result immediately, so that an interrupted run can
 * resume.
 */
async function work(tasks: readonly Task[], done: Map<string, Result>): Promise<void> {
  // Judges survivors again, because a test for them may exist by now.
  const isLeft = ({ id }: Task) => (done.get(id)?.verdict ?? 'survived') === 'survived';
  const queue = tasks.filter(isLeft);
  console.log(`${tasks.length} mutations, ${tasks.length - queue.length} judged before`);
  if (queue.length === 0) return;
  const postgres = await startThrowawayPostgres();
  const worker = async () => {
    const plot = openPlot(ROOT, postgres.url);
    try {
      for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
        const result = await judgeOne(plot, task);
        done.set(result.id, result);
        writeResults(RESULTS, [...done.values()]);
        const place = `${result.file}:${result.line}`;
        console.log(`${result.verdict}: ${place} ${result.name} (${result.by})`);
      }
    } finally {
      plot.remove();
    }
  };
  try {
    await Promise.all(Array.from({ length: WORKERS }, worker));
  } finally {
    await postgres.stop();
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { seed: { type: 'string' }, only: { type: 'string' } },
  });
  const seed = Number(values.seed ?? SEED);
  const generated = GENERATED_INTO.flatMap((group) => generate({ root: ROOT, seed, ...group }));
  const tasks = inTurns(
    generated.map((mutation) => toTask('generated', mutation)),
    MUTATIONS.map((mutation) => toTask('hand', mutation)),
  );
  const names = (values.only ?? '').split(',');
  const named = names.flatMap((name) =>
    tasks.filter(({ mutation }) => mutation.file.includes(name)),
  );
  const wanted = [...new Set(named)];
  const done = readResults(RESULTS);
  await work(wanted, done);
  const results = tasks.flatMap(({ id }) => done.get(id) ?? []);
  writeTable(README, results, { seed, left: tasks.length - results.length });
  return results.some(({ verdict }) => verdict === 'survived') ? 1 : 0;
}

process.exit(await main());
