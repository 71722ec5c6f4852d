import { readFile } from 'node:fs/promises';
import { spawnNetwork, temporaryDataDir } from '#testkit/network/spawn-network.ts';
import { type BenchLine, median, report } from './report.ts';

/**
 * Measures how long `npm start` takes until a first request would succeed, and its memory at that
 * point.
 */
const RESTARTS = 3;

async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const started = performance.now();
  const result = await work();
  return { result, ms: performance.now() - started };
}

async function main(): Promise<void> {
  const folder = await temporaryDataDir();
  const start = () => timed(() => spawnNetwork({ dataDir: folder.path }));
  const first = await start();
  await first.result.stop();
  const again: number[] = [];
  const afterKill: number[] = [];
  let memory = Number.NaN;
  for (let round = 0; round < RESTARTS; round++) {
    const clean = await start();
    again.push(clean.ms);
    await clean.result.kill();
    const killed = await start();
    afterKill.push(killed.ms);
    memory = await residentMb(killed.result.process.pid ?? 0);
    await killed.result.stop();
  }
  await folder.remove();
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const lines: BenchLine[] = [
    { work: 'first start: database, chains, contracts, demo data', value: seconds(first.ms) },
    { work: 'start after a stop', value: seconds(median(again)) },
    { work: 'start after kill -9', value: seconds(median(afterKill)) },
    { work: 'memory after the start', value: `${memory.toFixed(0)} MB` },
  ];
  await report('start', lines);
}

await main();
