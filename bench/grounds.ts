import { type ChildProcess, fork } from 'node:child_process';
import path from 'node:path';
import { present } from '#core/assert.ts';
import { createRandom } from '#testkit/fixtures/core/random.ts';
import { startFlags } from '#testkit/network/spawn-network.ts';
import { hear, runLoad } from './child-processes.ts';
import { cpuSeconds } from './cpu.ts';
import { STORED_INTENTS, storedId } from './floors.ts';
import type { Job, Result } from './http-load.ts';
import { median } from './report.ts';

/**
 * Measures several versions of the service in turn, each with its own PostgreSQL
 * (compare-ground.ts).
 */
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 1;
const RESAMPLES = 10_000;
const READ_TARGETS = Array.from({ length: 20_000 }, (_, i) =>
  storedId((i * 7919) % STORED_INTENTS),
);

export interface Ground {
  readonly child: ChildProcess;
  readonly port: number;
  readonly key: string;
  readonly terminal: string;
  /** URL of this process's PostgreSQL database. */
  readonly databaseUrl: string;
}

export async function openGround(root: string): Promise<Ground> {
  const child = fork(path.join(root, 'bench/compare-ground.ts'), startFlags(), { cwd: root });
  return { child, ...(await hear<Omit<Ground, 'child'>>(child)) };
}

/**
 * Requests per second, the 99th percentile of their duration, and their cost for the service and
 * its PostgreSQL.
 */
export interface Loaded {
  readonly perSecond: number;
  readonly p99Ms: number;
  /** Processor time per request. */
  readonly cpuMs: number;
}

export async function load(
  ground: Ground,
  work: Pick<Job, 'kind' | 'sale' | 'perSecond'> & {
    readonly seconds: number;
    readonly connections?: number;
  },
): Promise<Loaded> {
  // Makes PostgreSQL flush earlier changes now, and not while the other service is being measured.
  ground.child.send('checkpoint');
  await hear(ground.child);
  const { port, key, terminal } = ground;
  const job: Job = {
    connections: CONNECTIONS,
    ...{ port, key, terminal, ...work },
    warmUpSeconds: WARM_UP_SECONDS,
    targets: work.kind === 'get' ? READ_TARGETS : [],
  };
  const pids = [present(ground.child.pid, 'process id')];
  const before = await cpuSeconds(pids);
  const { failures, requests, perSecond, p99Ms } = await runLoad<Result>('http-load.ts', job);
  if (failures > 0) throw new Error(`${failures} requests failed`);
  // Includes the warm-up requests, because their cost was measured, too.
  const done = (requests * (work.seconds + WARM_UP_SECONDS)) / work.seconds;
  return { perSecond, p99Ms, cpuMs: ((await cpuSeconds(pids)) - before) * (1000 / done) };
}

/**
 * Returns the 95 % bootstrap interval of the median: the 2.5th and 97.5th percentiles over
 * resamples.
 */
export function interval(ratios: readonly number[]): readonly [number, number] {
  const random = createRandom(1, 'bootstrap');
  const medians = Array.from({ length: RESAMPLES }, () =>
    median(ratios.map(() => random.pick(ratios))),
  ).sort((a, b) => a - b);
  return [medians[Math.floor(RESAMPLES * 0.025)] ?? 0, medians[Math.floor(RESAMPLES * 0.975)] ?? 0];
}
