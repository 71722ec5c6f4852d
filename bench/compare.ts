import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { earlierRelease } from '#testkit/fixtures/core/earlier-release.ts';
import { startFlags } from '#testkit/network/spawn-network.ts';
import { hear } from './child-processes.ts';
import { interval, type Loaded, load, openGround } from './grounds.ts';
import { type BenchLine, median, printTable, RESULTS } from './report.ts';

/**
 * `node bench/compare.ts <commit>`: compares this working tree with an earlier commit. Each round
 * measures both with the same load on the same machine, in alternating order, because the machine's
 * speed drifts. The table shows the median of the rounds' ratios (this tree / the earlier one) with
 * its 95 % interval.
 */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 10);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 4);
const TAP_ROUNDS = Number(process.env.BENCH_TAP_ROUNDS ?? ROUNDS);
const TAP_RATES = (process.env.BENCH_RATES ?? '100').split(',').map(Number);
/** Creates per second at the fixed rate, at which the 99th percentile should be at most 30 ms. */
const STEADY_RATE = 500;
/** Where earlier trees have the modules that the journey imports, newest first. */
const CHAOS_FOLDERS = ['testkit/simulation/chaos/', 'src/testing/chaos/'];

/**
 * Copies this tree's journey into the earlier tree, where test modules may be in another folder or
 * take the database as an argument.
 */
async function copyJourney(root: string): Promise<void> {
  const text = await readFile(path.join(import.meta.dirname, 'journey.ts'), 'utf8');
  const folder = CHAOS_FOLDERS.find((one) => existsSync(path.join(root, one))) ?? 'src/testing/';
  const world = path.join(root, folder, 'chaos-world.ts');
  const isThird = (await readFile(world, 'utf8')).includes('  db: Database,\n  of: {');
  const fitting = text
    .replaceAll('#testkit/simulation/chaos/', `#${folder.replace(/^src./, '')}`)
    .replace('fillWorld(place,', isThird ? 'fillWorld(ground, db,' : 'fillWorld(place,');
  await writeFile(path.join(root, 'bench/journey.ts'), fitting);
}

/**
 * Starts a journey on a real chain, with all code from that tree. It measures each time it receives
 * a rate.
 */
async function openJourney(root: string): Promise<ChildProcess> {
  const child = fork(path.join(root, 'bench/journey.ts'), ['--serve'], {
    cwd: root,
    env: { ...process.env, BENCH_SECONDS: String(SECONDS) },
    execArgv: startFlags(),
  });
  await hear(child);
  return child;
}

/** The median and the 95th percentile of a measurement. */
interface Spread {
  readonly p50Ms: number;
  readonly p95Ms: number;
}

function spreadOf({ p50Ms = Number.NaN, p95Ms = Number.NaN }: BenchLine): Spread {
  return { p50Ms, p95Ms };
}

/** Times and costs of complete sales at a given number of taps per second. */
interface Sales {
  /** Milliseconds from a tap's block to its response; `inAll` counts from the tap itself. */
  readonly afterBlock: Spread;
  readonly inAll: Spread;
  /** Processor time per sale in milliseconds, of the service and PostgreSQL together. */
  readonly cpuMs: number;
}

async function sell(journey: ChildProcess, perSecond: number): Promise<Sales> {
  journey.send(perSecond);
  const [line, total, cpu] = await hear<BenchLine[]>(journey);
  if (line?.failures !== 0 || total === undefined) {
    throw new Error(`taps failed: ${JSON.stringify(line)}`);
  }
  const cpuMs = cpu?.p50Ms ?? Number.NaN;
  return { afterBlock: spreadOf(line), inAll: spreadOf(total), cpuMs };
}

function toLine(work: string, ratios: readonly number[]): BenchLine {
  const [low, high] = interval(ratios);
  const shown = `${low.toFixed(2)} to ${high.toFixed(2)} over ${ratios.length} rounds`;
  return { work, ratio: median(ratios), value: shown, target: 'lower end >= 0.95' };
}

/** The results of this tree and of the earlier one. */
interface Both<T> {
  readonly now: T;
  readonly before: T;
}

/** Measures both sides. The order alternates from round to round. */
async function pair<T>(
  round: number,
  here: () => Promise<T>,
  there: () => Promise<T>,
): Promise<Both<T>> {
  if (round % 2 === 0) return { now: await here(), before: await there() };
  const before = await there();
  return { now: await here(), before };
}

const p99Of = (all: readonly Loaded[]) => median(all.map(({ p99Ms }) => p99Ms));

/**
 * Returns the table's lines: requests per second, the cost of each request, and the 99th
 * percentile.
 */
function httpLines(work: string, rounds: readonly Both<Loaded>[]): BenchLine[] {
  const now = rounds.map((both) => both.now);
  const p99 = p99Of(rounds.map(({ before }) => before)).toFixed(1);
  const speed = toLine(
    `${work}, p99 ${p99Of(now).toFixed(1)} (earlier ${p99}) ms`,
    rounds.map((both) => both.now.perSecond / both.before.perSecond),
  );
  const perSecond = median(now.map((one) => one.perSecond));
  const cpu = toLine(
    `${work}, processor time (earlier / now)`,
    rounds.map((both) => both.before.cpuMs / both.now.cpuMs),
  );
  const cpuMs = median(now.map((one) => one.cpuMs)).toFixed(3);
  return [
    { ...speed, perSecond },
    { ...cpu, value: `${cpuMs} ms; ${cpu.value}` },
  ];
}

async function compareHttp(root: string): Promise<BenchLine[]> {
  const now = await openGround(path.join(import.meta.dirname, '..'));
  const before = await openGround(root);
  const jobs = [
    { work: 'create intent', kind: 'create' },
    { work: `create intent, ${STEADY_RATE}/s`, kind: 'create', rate: STEADY_RATE },
    { work: 'get intent', kind: 'get' },
  ] as const;
  const rounds = jobs.map((): Both<Loaded>[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, job] of jobs.entries()) {
      const rate = 'rate' in job ? { perSecond: job.rate } : {};
      const work = { kind: job.kind, seconds: SECONDS, ...rate };
      const both = await pair(
        round,
        () => load(now, work),
        () => load(before, work),
      );
      rounds[index]?.push(both);
      console.log(job.work, round, both);
    }
  }
  now.child.disconnect();
  before.child.disconnect();
  return jobs.flatMap(({ work }, index) => httpLines(work, rounds[index] ?? []));
}

async function compareTaps(root: string, perSecond: number): Promise<BenchLine[]> {
  const now = await openJourney(path.join(import.meta.dirname, '..'));
  const before = await openJourney(root);
  const rounds: Both<Sales>[] = [];
  for (let round = 0; round < TAP_ROUNDS; round++) {
    const both = await pair(
      round,
      () => sell(now, perSecond),
      () => sell(before, perSecond),
    );
    rounds.push(both);
    console.log('tap', round, both);
  }
  now.disconnect();
  before.disconnect();
  // Inverts the ratio of times, so that a value above 1 means faster in every line.
  const taps = (['afterBlock', 'inAll'] as const).flatMap((what) =>
    (['p50Ms', 'p95Ms'] as const).map((which) => {
      const work = what === 'inAll' ? 'in all' : 'less block wait';
      return toLine(
        `tap to succeeded ${work}, ${perSecond}/s, ${which.slice(0, 3)} (earlier / now)`,
        rounds.map(({ before, now }) => before[what][which] / now[what][which]),
      );
    }),
  );
  return [
    ...taps,
    toLine(
      `processor time of a sale, ${perSecond} taps/s (earlier / now)`,
      rounds.map((both) => both.before.cpuMs / both.now.cpuMs),
    ),
  ];
}

const [commit = ''] = process.argv.slice(2);
const earlier = await earlierRelease(commit);
if (earlier === null) throw new Error(`the repository does not know the commit "${commit}"`);
await copyFile(
  path.join(import.meta.dirname, 'compare-ground.ts'),
  path.join(earlier.root, 'bench/compare-ground.ts'),
);
await copyFile(path.join(import.meta.dirname, 'cpu.ts'), path.join(earlier.root, 'bench/cpu.ts'));
await copyJourney(earlier.root);
const lines = ROUNDS > 0 ? await compareHttp(earlier.root) : [];
for (const rate of TAP_ROUNDS > 0 ? TAP_RATES : []) {
  lines.push(...(await compareTaps(earlier.root, rate)));
}
printTable(lines);
await mkdir(RESULTS, { recursive: true });
const text = JSON.stringify({ at: new Date(), commit, lines }, null, 2);
await writeFile(path.join(RESULTS, 'compare.json'), `${text}\n`);
await earlier.remove();
