import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosGround } from '#testing/chaos-ground.ts';
import type { ChaosProcess } from '#testing/chaos-process.ts';
import type { Random } from '#testing/chaos-random.ts';

export interface FaultsOptions {
  readonly ground: ChaosGround;
  readonly processes: readonly ChaosProcess[];
  readonly random: Random;
  readonly log: (line: string) => void;
}

interface Fault {
  readonly name: string;
  /** How often, beside the others. */
  readonly weight: number;
  /** Strikes, and puts right again what does not come back by itself. */
  readonly strike: (random: Random) => Promise<void>;
}

/** A fault strikes this long after the one before is over. */
const PAUSE = { low: 1_500, high: 5_000 };

function processFaults(processes: readonly ChaosProcess[]): Fault[] {
  return [
    {
      name: 'kill -9 of a process',
      weight: 30,
      strike: async (random) => random.pick(processes).kill(),
    },
    {
      name: 'kill -9 of two processes at once',
      weight: 8,
      strike: async (random) => {
        random.pick(processes).kill();
        random.pick(processes).kill();
      },
    },
    {
      name: 'SIGTERM to a process',
      weight: 8,
      strike: async (random) => random.pick(processes).terminate(),
    },
    {
      // Long enough for every lease of a worker to run out while it still thinks it holds them.
      name: 'a process stands still',
      weight: 8,
      strike: async (random) => random.pick(processes).freeze(random.between(2_000, 12_000)),
    },
  ];
}

function groundFaults(ground: ChaosGround, processes: readonly ChaosProcess[]): Fault[] {
  const { database, testnet } = ground;
  return [
    {
      name: 'everything dies at once',
      weight: 4,
      strike: async () => {
        for (const process of processes) process.kill();
        await Promise.all([database.kill(), testnet.kill()]);
        await Promise.all([database.start(), testnet.start()]);
      },
    },
    {
      name: 'PostgreSQL stopped immediately',
      weight: 24,
      strike: async (random) => {
        await database.kill();
        await sleep(random.below(2_000));
        await database.start();
      },
    },
    {
      name: 'the chain node killed',
      weight: 8,
      strike: async (random) => {
        await testnet.kill();
        await sleep(random.below(2_500));
        await testnet.start();
      },
    },
    {
      name: 'the chain node hangs',
      weight: 6,
      strike: async (random) => {
        testnet.freeze();
        await sleep(random.between(1_000, 6_000));
        testnet.thaw();
      },
    },
    {
      name: 'a reorganisation of the chain',
      weight: 10,
      // A node that was just started may have too few blocks to replace.
      strike: (random) => testnet.reorganise(random.between(1, 4)).catch(() => {}),
    },
  ];
}

function choose(faults: readonly Fault[], random: Random): Fault {
  const total = faults.reduce((sum, { weight }) => sum + weight, 0);
  let rest = random.below(total);
  for (const fault of faults) {
    if (rest < fault.weight) return fault;
    rest -= fault.weight;
  }
  throw new Error('no fault was chosen');
}

/** Breaks one thing after the other until it is stopped; then everything runs. */
export function startFaults(options: FaultsOptions): {
  readonly struck: ReadonlyMap<string, number>;
  stop(): Promise<void>;
} {
  const { ground, processes, random, log } = options;
  const faults = [...processFaults(processes), ...groundFaults(ground, processes)];
  const struck = new Map<string, number>();
  const stopping = new AbortController();
  const run = async () => {
    while (!stopping.signal.aborted) {
      const pauseMs = random.between(PAUSE.low, PAUSE.high);
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      const fault = choose(faults, random);
      log(fault.name);
      struck.set(fault.name, (struck.get(fault.name) ?? 0) + 1);
      await fault.strike(random);
    }
  };
  const done = run();
  return {
    struck,
    stop: async () => {
      stopping.abort();
      await done;
    },
  };
}
