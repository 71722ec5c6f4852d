import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { openChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import { compareSnapshots } from './heap-snapshot.ts';
import { type BenchLine, median, report } from './report.ts';
import { type Bench, load, residentMb, withBench } from './shop.ts';

/**
 * Measures what grows in the service's process over many sales: its memory every minute and, with
 * `BENCH_SNAPSHOTS=1`, heap snapshots before the first sale, after a third of them, and after all.
 * Node collects garbage before a snapshot. Whatever each sale leaves behind grows between the last
 * two, too; caches that only fill do not. A snapshot itself takes memory that the process keeps,
 * so the memory of such a run says nothing.
 */
const SALES = Number(process.env.BENCH_SALES ?? 30_000);
const PER_SECOND = Number(process.env.BENCH_RATE ?? 25);
const TAKES_SNAPSHOTS = process.env.BENCH_SNAPSHOTS !== undefined;
const ROUND_SECONDS = 60;
const SNAPSHOT_MS = 120_000;
/** By the tenth minute, every kind of work has run, and its caches are full. */
const BASE_MINUTE = 10;
/** Deliveries and clean-up may still run when the last tap was answered. */
const REST_MS = 30_000;

/** Makes the process write a snapshot. @returns its JSON */
async function snapshot(folder: string, pid: number, origin: string): Promise<string> {
  const known = await readdir(folder);
  process.kill(pid, 'SIGUSR2');
  const find = async () => (await readdir(folder)).find((name) => !known.includes(name));
  if (!(await waitUntil(async () => (await find()) !== undefined, SNAPSHOT_MS)))
    throw new Error('the process wrote no snapshot');
  // It answers nothing until the file is complete.
  await fetch(`${origin}/livez`);
  return readFile(path.join(folder, (await find()) ?? ''), 'utf8');
}

async function measure(bench: Bench, pid: number, folder: string): Promise<BenchLine[]> {
  const minutes: number[] = [];
  let failures = 0;
  const sell = async (sales: number) => {
    for (let left = sales; left > 0; left -= PER_SECOND * ROUND_SECONDS) {
      const { taps } = await load(bench, PER_SECOND, Math.min(left, PER_SECOND * ROUND_SECONDS));
      failures += taps.filter(({ status }) => status !== 'succeeded').length;
      minutes.push(await residentMb(pid));
      const p50Ms = median(taps.map(({ at, done }) => done - at)).toFixed(0);
      console.log(`minute ${minutes.length}: ${minutes.at(-1)?.toFixed(0)} MB, p50 ${p50Ms} ms`);
    }
    await sleep(REST_MS);
    return TAKES_SNAPSHOTS ? snapshot(folder, pid, bench.origin) : '';
  };
  const third = Math.round(SALES / 3);
  const [before, early, late] = [await sell(0), await sell(third), await sell(SALES - third)];
  const base = minutes[BASE_MINUTE - 1] ?? Number.NaN;
  const rested = await residentMb(pid);
  const growth = (((minutes.at(-1) ?? 0) / base - 1) * 100).toFixed(1);
  const lines: BenchLine[] = [
    { work: `memory in minute ${BASE_MINUTE}`, value: `${base.toFixed(0)} MB`, failures },
    { work: `in minute ${minutes.length}`, value: `${growth} % more`, target: '<= 5 %' },
    { work: 'after a rest', value: `${rested.toFixed(0)} MB` },
  ];
  if (!TAKES_SNAPSHOTS) return lines;
  const [filled, grown] = [compareSnapshots(before, early), compareSnapshots(early, late)];
  console.log(`from 0 to ${third} sales`);
  console.table(filled.constructors);
  console.log(`from ${third} to ${SALES} sales`);
  console.table(grown.constructors);
  const mb = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`;
  return [
    { work: 'heap before', value: mb(filled.before), failures },
    { work: `heap after ${third} sales`, value: mb(filled.after) },
    { work: `heap after ${SALES} sales`, value: mb(grown.after) },
  ];
}

const folder = await mkdtemp(path.join(tmpdir(), 'tapline-memory-'));
if (TAKES_SNAPSHOTS)
  process.env.NODE_OPTIONS = `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${folder}`;
const ground = await openChaosGround({ providers: 'none', blockMs: 1000 });
const [rpcUrl = ''] = ground.testnet.config.rpcUrls;
try {
  const lines = await withBench(ground, rpcUrl, (bench, pid) => measure(bench, pid ?? 0, folder));
  await report('memory', lines);
} finally {
  await ground.close();
  await rm(folder, { recursive: true });
}
