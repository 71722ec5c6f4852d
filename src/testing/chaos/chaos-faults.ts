import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosGround } from '#testing/chaos/chaos-ground.ts';
import type { Journal } from '#testing/chaos/chaos-journal.ts';
import type { ChaosProcess } from '#testing/chaos/chaos-process.ts';
import type { Timetable } from '#testing/chaos/chaos-schedule.ts';
import { BEHAVIORS, type BehaviorName } from '#testing/provider-behaviors.ts';
import type { PauseMs, Random } from '#testing/random.ts';

/** The targets of faults, and the parts that must be notified of them. */
interface Field {
  readonly ground: ChaosGround;
  readonly processes: readonly ChaosProcess[];
  readonly journal: Pick<Journal, 'copied' | 'restored'>;
  readonly settleWithinMs: number;
  readonly reach: Reach;
  /** Only faults whose name contains this; all if empty. */
  readonly only: string;
}

/**
 * short: faults of a few seconds. long: also those that take a minute. nightly: also losses. soak:
 * also machines whose clocks step and whose disks fill up, and every feature in use.
 */
export type Reach = 'short' | 'long' | 'nightly' | 'soak';

export interface FaultsOptions extends Field {
  readonly random: Random;
  /** The pause between two faults. */
  readonly pauseMs: PauseMs;
  readonly timetable: Pick<Timetable, 'strike'>;
  readonly log: (line: string) => void;
}

/** The random choices of one fault: its targets, and how it strikes. */
interface Plan {
  readonly targets: readonly ChaosProcess[];
  /** Causes the fault, and repairs what does not recover on its own. */
  readonly strike: (targets: readonly ChaosProcess[]) => Promise<void>;
}

interface Fault {
  readonly name: string;
  /** Its frequency relative to the other faults. */
  readonly weight: number;
  /**
   * True if blocks may be lost. Such faults are left out on a chain whose blocks are final at once.
   */
  readonly undoesBlocks?: true;
  /** Makes all random choices before the fault, because a replay may wait in between. */
  readonly plan: (random: Random) => Plan;
}

/** Excluded from short runs: an address that has served another chain is unused for a minute. */
const TOO_LONG: BehaviorName = 'has become one of another chain';
const BEHAVIOR_NAMES = (Object.keys(BEHAVIORS) as BehaviorName[]).filter(
  (name) => name !== TOO_LONG,
);
/**
 * Pause after a request for a recovery, which takes seconds, so that the next fault sometimes
 * strikes during it.
 */
const RECOVERED_MS = 3_000;
/** The largest step of a clock: two minutes. */
const CLOCK_STEP_MS = 120_000;

function workersOf(processes: readonly ChaosProcess[]): ChaosProcess[] {
  return processes.filter(({ role }) => role === 'worker');
}

function processFaults(processes: readonly ChaosProcess[]): Fault[] {
  return [
    {
      name: 'kill -9 of a process',
      weight: 30,
      plan: (random) => ({
        targets: [random.pick(processes)],
        strike: async (targets) => {
          for (const process of targets) process.kill();
        },
      }),
    },
    {
      name: 'kill -9 of two processes at once',
      weight: 8,
      plan: (random) => ({
        targets: [random.pick(processes), random.pick(processes)],
        strike: async (targets) => {
          for (const process of targets) process.kill();
        },
      }),
    },
    {
      name: 'SIGTERM to a process',
      weight: 8,
      plan: (random) => ({
        targets: [random.pick(processes)],
        strike: async (targets) => {
          for (const process of targets) process.terminate();
        },
      }),
    },
    {
      // Lasts until a worker's leases have expired while it still believes that it holds them.
      name: 'a process stands still',
      weight: 8,
      plan: (random) => {
        const targets = [random.pick(processes)];
        const ms = random.between(2_000, 12_000);
        return {
          targets,
          strike: async (frozen) => {
            await Promise.all(frozen.map((process) => process.freeze(ms)));
          },
        };
      },
    },
  ];
}

function databaseFaults({ ground, processes }: Field): Fault[] {
  const { database, chains } = ground;
  return [
    {
      name: 'everything dies at once',
      weight: 4,
      undoesBlocks: true,
      plan: () => ({
        targets: processes,
        strike: async () => {
          for (const process of processes) process.kill();
          const all = [database, ...chains];
          await Promise.all(all.map((one) => one.kill()));
          await Promise.all(all.map((one) => one.start()));
        },
      }),
    },
    {
      name: 'PostgreSQL stopped immediately',
      weight: 24,
      plan: (random) => {
        const ms = random.below(2_000);
        return {
          targets: processes,
          strike: async () => {
            await database.kill();
            await sleep(ms);
            await database.start();
          },
        };
      },
    },
  ];
}

/** Returns the faults of one network's node, chosen by the seed. */
function nodeFaults({ ground: { chains }, processes }: Field): Fault[] {
  const targets = workersOf(processes);
  return [
    {
      name: 'a chain node killed',
      weight: 8,
      undoesBlocks: true,
      plan: (random) => {
        const chain = random.pick(chains);
        const ms = random.below(2_500);
        return {
          targets,
          strike: async () => {
            await chain.kill();
            await sleep(ms);
            await chain.start();
          },
        };
      },
    },
    {
      name: 'a chain node hangs',
      weight: 6,
      plan: (random) => {
        const chain = random.pick(chains);
        const ms = random.between(1_000, 6_000);
        return {
          targets,
          strike: async () => {
            chain.freeze();
            await sleep(ms);
            chain.thaw();
          },
        };
      },
    },
  ];
}

function chainFaults(field: Field): Fault[] {
  const { chains } = field.ground;
  const targets = workersOf(field.processes);
  return [
    ...nodeFaults(field),
    {
      name: 'a reorganization of a chain',
      weight: 10,
      undoesBlocks: true,
      plan: (random) => {
        const chain = random.pick(chains);
        const blocks = random.between(1, 4);
        // A node that was just started may have too few blocks.
        return { targets, strike: () => chain.reorganize(blocks).catch(() => {}) };
      },
    },
    {
      name: 'a provider limits, lies or loses for a while',
      weight: 12,
      plan: (random) => {
        const provider = random.pick(chains.flatMap((chain) => chain.provider ?? []));
        const behavior = BEHAVIORS[random.pick(BEHAVIOR_NAMES)];
        const ms = random.between(2_000, 8_000);
        return {
          targets,
          strike: async () => {
            provider.behavior = behavior();
            await sleep(ms);
            provider.behavior = null;
          },
        };
      },
    },
  ];
}

/** Returns faults that take longer than a short run. */
function longFaults(field: Field): Fault[] {
  const { processes, ground, settleWithinMs } = field;
  const workers = workersOf(processes);
  return [
    {
      // Payments and refunds continue meanwhile. A refused refund is retried after a minute.
      name: 'USDC paused and unpaused',
      weight: 8,
      plan: (random) => {
        const chain = random.pick(ground.chains);
        const ms = random.between(2_000, 8_000);
        return {
          targets: workers,
          strike: async () => {
            await chain.pauseToken(true);
            await sleep(ms);
            await chain.pauseToken(false);
          },
        };
      },
    },
    {
      name: 'no worker for longer than a payment may take',
      weight: 6,
      plan: (random) => {
        const ms = settleWithinMs + random.between(1_000, 6_000);
        return {
          targets: workers,
          strike: async (targets) => {
            await Promise.all(targets.map((worker) => worker.freeze(ms)));
          },
        };
      },
    },
    {
      // Strikes one worker or both. A worker with open transactions must refuse to start.
      name: 'a relayer key taken out early, and put back',
      weight: 8,
      plan: (random) => {
        const { config } = random.pick(ground.chains);
        const name = `CHAIN_${config.network.toUpperCase()}_RELAYER_KEYS`;
        const out = random.pick(config.relayerKeys);
        const left = config.relayerKeys.filter((key) => key !== out);
        const some = random.chance(50) ? workers : [random.pick(workers)];
        const ms = random.between(4_000, 12_000);
        return {
          targets: some,
          strike: async (targets) => {
            for (const worker of targets) worker.tell({ [name]: left.join() });
            for (const worker of targets) worker.kill();
            await sleep(ms);
            for (const worker of targets) worker.tell(null);
            for (const worker of targets) worker.kill();
          },
        };
      },
    },
  ];
}

/** Returns faults that lose the writes between a copy and its restore. The chains continue. */
function losses({ ground: { database }, journal, processes }: Field): Fault[] {
  return [
    {
      name: 'PostgreSQL restored to an earlier copy',
      weight: 10,
      plan: (random) => {
        const ms = random.between(4_000, 12_000);
        const promote = random.chance(50);
        return {
          targets: processes,
          strike: async () => {
            journal.copied();
            await database.copy('earlier');
            await sleep(ms);
            await database.putBack('earlier', { promote, whileAway: journal.restored });
            await sleep(RECOVERED_MS);
          },
        };
      },
    },
    {
      name: 'a replica takes over without a loss',
      weight: 5,
      plan: () => ({ targets: processes, strike: () => database.failOver() }),
    },
  ];
}

/** Returns faults of the machines below the processes and the database. */
function machineFaults({ ground: { database, disk }, processes }: Field): Fault[] {
  const full: Fault = {
    name: 'the disk of the database is full',
    weight: 6,
    plan: (random) => {
      const ms = random.between(1_000, 6_000);
      return {
        targets: processes,
        strike: async () => {
          const free = await disk?.fill();
          await sleep(ms);
          await free?.();
          // A database that cannot write its log stops, and its supervisor starts it again.
          await database.kill().catch(() => {});
          await database.start();
        },
      };
    },
  };
  const step: Fault = {
    name: 'the clock of a process steps, and back',
    weight: 10,
    plan: (random) => {
      const targets = [random.pick(processes)];
      const offMs = random.between(-CLOCK_STEP_MS, CLOCK_STEP_MS);
      const ms = random.between(2_000, 10_000);
      return {
        targets,
        strike: async (stepped) => {
          await Promise.all(stepped.map((process) => process.stepClock(offMs)));
          await sleep(ms);
          await Promise.all(stepped.map((process) => process.stepClock(null)));
        },
      };
    },
  };
  return disk === null ? [step] : [step, full];
}

function allFaults(field: Field): Fault[] {
  const { reach, only } = field;
  const all = [
    ...processFaults(field.processes),
    ...databaseFaults(field),
    ...chainFaults(field),
    ...(reach === 'short' ? [] : longFaults(field)),
    ...(reach === 'nightly' || reach === 'soak' ? losses(field) : []),
    ...(reach === 'soak' ? machineFaults(field) : []),
  ];
  const isFinal = field.ground.testnet.config.profile.finality === 'deterministic';
  const faults = all.filter(
    ({ name, undoesBlocks = false }) => name.includes(only) && !(isFinal && undoesBlocks),
  );
  if (faults.length === 0) throw new Error(`no fault of this run is named ${only}`);
  return faults;
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

/** Causes one fault after the other until it is stopped; then everything is repaired. */
export function startFaults(options: FaultsOptions): {
  readonly struck: ReadonlyMap<string, number>;
  stop(): Promise<void>;
} {
  const { ground, random, timetable, log, pauseMs } = options;
  const faults = allFaults(options);
  // Resumes transfers, because a chain that lost its newest blocks may have forgotten that.
  const mend = () => Promise.all(ground.chains.map((chain) => chain.pauseToken(false)));
  const struck = new Map<string, number>();
  const stopping = new AbortController();
  const run = async () => {
    while (!stopping.signal.aborted) {
      const ms = random.between(pauseMs.low, pauseMs.high);
      await sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      const fault = choose(faults, random);
      log(fault.name);
      struck.set(fault.name, (struck.get(fault.name) ?? 0) + 1);
      await timetable.strike({ fault: fault.name, all: options.processes, ...fault.plan(random) });
      if (options.reach !== 'short') await mend();
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
