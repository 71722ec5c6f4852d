import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createRandom } from '#testing/chaos/chaos-random.ts';
import { earlierRelease } from '#testing/earlier-release.ts';
import { startFlags } from '#testing/start-flags.ts';
import { STORED_INTENTS, storedId } from './floors.ts';
import type { Job, Result } from './http-load.ts';
import { type BenchLine, median, printTable, RESULTS } from './report.ts';

/**
 * `node bench/compare.ts <commit>`: this tree beside an earlier one, in turn on one machine, whose
 * speed drifts. Each round measures both with the same load, in an order that changes. The table
 * holds the median of the rounds' ratios (this tree / the earlier one) and its 95 % interval.
 */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 10);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 4);
const TAP_ROUNDS = Number(process.env.BENCH_TAP_ROUNDS ?? ROUNDS);
const TAP_RATES = (process.env.BENCH_RATES ?? '100').split(',').map(Number);
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 1;
const RESAMPLES = 10_000;
const READ_TARGETS = Array.from({ length: 20_000 }, (_, i) =>
  storedId((i * 7919) % STORED_INTENTS),
);

type Kind = 'create' | 'get';

interface Ground {
  readonly child: ChildProcess;
  readonly port: number;
  readonly key: string;
  readonly terminal: string;
}

/** The next message. @throws when the process ends instead: nobody would hear of it. */
async function hear<T>(child: ChildProcess): Promise<T> {
  const heard = new AbortController();
  const { signal } = heard;
  const ended = async () => {
    const [code] = await once(child, 'exit', { signal });
    throw new Error(`a process of the measurement ended with ${code}`);
  };
  try {
    const [message] = await Promise.race([once(child, 'message', { signal }), ended()]);
    return message as T;
  } finally {
    heard.abort();
  }
}

async function openGround(root: string): Promise<Ground> {
  const child = fork(path.join(root, 'bench/compare-ground.ts'), { cwd: root });
  return { child, ...(await hear<Omit<Ground, 'child'>>(child)) };
}

async function load(ground: Ground, kind: Kind): Promise<number> {
  // What was written before is written out now, and not during the measurement of the other.
  ground.child.send('checkpoint');
  await hear(ground.child);
  const child = fork(path.join(import.meta.dirname, 'http-load.ts'));
  const { port, key, terminal } = ground;
  const job: Job = {
    ...{ port, key, terminal, kind },
    connections: CONNECTIONS,
    seconds: SECONDS,
    warmUpSeconds: WARM_UP_SECONDS,
    targets: kind === 'get' ? READ_TARGETS : [],
  };
  child.send(job);
  const result = await hear<Result>(child);
  child.disconnect();
  if (result.failures > 0) throw new Error(`${result.failures} requests failed`);
  return result.perSecond;
}

/**
 * This tree's journey. Its test parts lay in another folder once, and before that the database was
 * an argument of its own.
 */
async function copyJourney(root: string): Promise<void> {
  const text = await readFile(path.join(import.meta.dirname, 'journey.ts'), 'utf8');
  const inFolder = existsSync(path.join(root, 'src/testing/chaos'));
  const folder = inFolder ? '#testing/chaos/' : '#testing/';
  const world = path.join(root, 'src', folder.slice(1), 'chaos-world.ts');
  const isThird = (await readFile(world, 'utf8')).includes('  db: Database,\n  of: {');
  const fitting = text
    .replaceAll('#testing/chaos/', folder)
    .replace('fillWorld(place,', isThird ? 'fillWorld(ground, db,' : 'fillWorld(place,');
  await writeFile(path.join(root, 'bench/journey.ts'), fitting);
}

/** Payments on a real chain, all of that tree: it measures whenever it is sent a rate. */
async function openJourney(root: string): Promise<ChildProcess> {
  const child = fork(path.join(root, 'bench/journey.ts'), ['--serve'], {
    cwd: root,
    env: { ...process.env, BENCH_SECONDS: String(SECONDS) },
    execArgv: startFlags(),
  });
  await hear(child);
  return child;
}

/** Median milliseconds from a tap's block to its answer, at so many taps a second. */
async function tapMs(journey: ChildProcess, perSecond: number): Promise<number> {
  journey.send(perSecond);
  const [line] = await hear<BenchLine[]>(journey);
  if (line?.failures !== 0) throw new Error(`taps failed: ${JSON.stringify(line)}`);
  return line.p50Ms ?? Number.NaN;
}

/** The 2.5th and 97.5th percentile of the medians of samples drawn with replacement. */
function interval(ratios: readonly number[]): readonly [number, number] {
  const random = createRandom(1, 'bootstrap');
  const medians = Array.from({ length: RESAMPLES }, () =>
    median(ratios.map(() => random.pick(ratios))),
  ).sort((a, b) => a - b);
  return [medians[Math.floor(RESAMPLES * 0.025)] ?? 0, medians[Math.floor(RESAMPLES * 0.975)] ?? 0];
}

function toLine(work: string, ratios: readonly number[]): BenchLine {
  const [low, high] = interval(ratios);
  const shown = `${low.toFixed(2)} to ${high.toFixed(2)} over ${ratios.length} rounds`;
  return { work, ratio: median(ratios), value: shown, target: 'lower end >= 0.95' };
}

/** Measures both sides, the first one first in every other round. */
async function pair<T>(round: number, here: () => Promise<T>, there: () => Promise<T>) {
  if (round % 2 === 0) return { now: await here(), before: await there() };
  const before = await there();
  return { now: await here(), before };
}

async function compareHttp(root: string): Promise<BenchLine[]> {
  const now = await openGround(path.join(import.meta.dirname, '..'));
  const before = await openGround(root);
  const ratios: Record<Kind, number[]> = { create: [], get: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const kind of ['create', 'get'] as const) {
      const both = await pair(
        round,
        () => load(now, kind),
        () => load(before, kind),
      );
      ratios[kind].push(both.now / both.before);
      console.log(kind, round, both.now.toFixed(0), both.before.toFixed(0));
    }
  }
  now.child.disconnect();
  before.child.disconnect();
  return [toLine('create intent', ratios.create), toLine('get intent', ratios.get)];
}

async function compareTaps(root: string, perSecond: number): Promise<BenchLine> {
  const now = await openJourney(path.join(import.meta.dirname, '..'));
  const before = await openJourney(root);
  const ratios: number[] = [];
  for (let round = 0; round < TAP_ROUNDS; round++) {
    const both = await pair(
      round,
      () => tapMs(now, perSecond),
      () => tapMs(before, perSecond),
    );
    // Time, not speed: turned around, so that above 1 is faster for all lines.
    ratios.push(both.before / both.now);
    console.log('tap', round, both.now.toFixed(1), both.before.toFixed(1));
  }
  now.disconnect();
  before.disconnect();
  return toLine(`tap to succeeded less block wait, ${perSecond}/s, p50 (earlier / now)`, ratios);
}

const [commit = ''] = process.argv.slice(2);
const earlier = await earlierRelease(commit);
if (earlier === null) throw new Error(`the repository does not know the commit "${commit}"`);
await copyFile(
  path.join(import.meta.dirname, 'compare-ground.ts'),
  path.join(earlier.root, 'bench/compare-ground.ts'),
);
await copyJourney(earlier.root);
const lines = ROUNDS > 0 ? await compareHttp(earlier.root) : [];
for (const rate of TAP_ROUNDS > 0 ? TAP_RATES : []) {
  lines.push(await compareTaps(earlier.root, rate));
}
printTable(lines);
await mkdir(RESULTS, { recursive: true });
const text = JSON.stringify({ at: new Date(), commit, lines }, null, 2);
await writeFile(path.join(RESULTS, 'compare.json'), `${text}\n`);
await earlier.remove();
