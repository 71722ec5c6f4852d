import { setTimeout as sleep } from 'node:timers/promises';
import type { PauseMs, Random } from '#testkit/fixtures/core/random.ts';
import { BEHAVIORS, type BehaviorName } from '#testkit/network/provider-behaviors.ts';
import type { ChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import type { Journal } from '#testkit/simulation/chaos/chaos-journal.ts';
import type { ChaosProcess } from '#testkit/simulation/chaos/chaos-process.ts';
import type { Timetable } from '#testkit/simulation/chaos/chaos-schedule.ts';
import type { Fault, FaultSet, Plan } from '#testkit/simulation/history.ts';
import type { OutsideWallets } from '#testkit/simulation/ways/outside-wallets.ts';

/** The targets of faults, and the journal to which faults report. */
interface Field {
  readonly ground: ChaosGround;
  readonly processes: readonly ChaosProcess[];
  readonly journal: Pick<Journal, 'copied' | 'restored'>;
  readonly settleWithinMs: number;
  readonly reach: Reach;
  /** Includes only faults whose name contains this text. An empty string includes all. */
  readonly only: string;
}

/**
 * Which faults a run includes. `short`: faults that take a few seconds. `long`: also those that
 * take a minute. `nightly`: also data loss. `soak`: also stepping clocks, full disks, and every
 * feature of the service.
 */
export type Reach = 'short' | 'long' | 'nightly' | 'soak';

export interface FaultsOptions extends Field {
  readonly random: Random;
  /** The pause between two faults. */
  readonly pauseMs: PauseMs;
  readonly timetable: Pick<Timetable, 'strike'>;
  /** The customers' wallets on each chain. */
  readonly outside: readonly Pick<OutsideWallets, 'sendAgain'>[];
  readonly log: (line: string) => void;
}

/**
 * Excluded from short runs, because the service does not use a provider again for a minute after it
 * served another chain.
 */
const TOO_LONG: BehaviorName = 'has become one of another chain';
const BEHAVIOR_NAMES = (Object.keys(BEHAVIORS) as BehaviorName[]).filter(
  (name) => name !== TOO_LONG,
);
/**
 * Pause after requesting a recovery. Recoveries take seconds, so the next fault sometimes strikes
 * during one.
 */
const RECOVERED_MS = 3_000;
/** The largest step of a clock, in milliseconds: two minutes. */
const CLOCK_STEP_MS = 120_000;

/** A kind of fault. Its plan makes the random choices. */
type ChaosFault = Fault & {
  /** True if the fault may undo blocks. A chain with immediate finality skips such faults. */
  readonly undoesBlocks: boolean;
};

type Act = (targets: readonly ChaosProcess[]) => unknown;

const fault = (weight: number, name: string, plan: Fault['plan'], undoesBlocks = false) => {
  return { weight, name, plan, undoesBlocks };
};

/** A fault that may undo blocks. */
const undoing = (weight: number, name: string, plan: Fault['plan']) =>
  fault(weight, name, plan, true);

/** An outage: `broken` breaks its targets, and `repaired` repairs them after this time. */
function lasting(
  targets: readonly ChaosProcess[],
  ms: number,
  [broken, repaired]: readonly [Act, Act],
): Plan {
  const strike = async (met: readonly ChaosProcess[]) => {
    try {
      await broken(met);
      await sleep(ms);
    } finally {
      await repaired(met);
    }
  };
  return { targets, strike };
}

const each = (act: (process: ChaosProcess) => unknown) => (targets: readonly ChaosProcess[]) =>
  Promise.all(targets.map(act));

const freeze = (targets: readonly ChaosProcess[], ms: number): Plan => {
  return { targets, strike: async (met) => void (await each((one) => one.freeze(ms))(met)) };
};

function workersOf(processes: readonly ChaosProcess[]): ChaosProcess[] {
  return processes.filter(({ role }) => role === 'worker');
}

function processFaults(processes: readonly ChaosProcess[]): ChaosFault[] {
  const signal =
    (count: number, send: (process: ChaosProcess) => void): Fault['plan'] =>
    (random) => {
      const targets = Array.from({ length: count }, () => random.pick(processes));
      return { targets, strike: async (met) => met.forEach(send) };
    };
  const kill = (process: ChaosProcess) => process.kill();
  return [
    fault(30, 'kill -9 of a process', signal(1, kill)),
    fault(8, 'kill -9 of two processes at once', signal(2, kill)),
    fault(
      8,
      'SIGTERM to a process',
      signal(1, (process) => process.terminate()),
    ),
    // Often freezes a worker until its leases have expired, although it still believes that it
    // holds them.
    fault(8, 'a process freezes', (random) =>
      freeze([random.pick(processes)], random.between(2_000, 12_000)),
    ),
  ];
}

function databaseFaults({ ground: { database, chains }, processes }: Field): ChaosFault[] {
  const all = [database, ...chains];
  return [
    undoing(4, 'everything dies at once', () => ({
      targets: processes,
      strike: async () => {
        for (const process of processes) process.kill();
        await Promise.all(all.map((one) => one.kill()));
        await Promise.all(all.map((one) => one.start()));
      },
    })),
    fault(24, 'PostgreSQL stopped immediately', (random) =>
      lasting(processes, random.below(2_000), [() => database.kill(), () => database.start()]),
    ),
  ];
}

/** Returns the faults of a chain's node. The seed chooses the chain. */
function chainFaults({ ground: { chains }, processes }: Field): ChaosFault[] {
  const workers = workersOf(processes);
  return [
    undoing(8, 'a chain node killed', (random) => {
      const chain = random.pick(chains);
      return lasting(workers, random.below(2_500), [() => chain.kill(), () => chain.start()]);
    }),
    fault(6, 'a chain node hangs', (random) => {
      const chain = random.pick(chains);
      const ms = random.between(1_000, 6_000);
      return lasting(workers, ms, [() => chain.freeze(), () => chain.thaw()]);
    }),
    undoing(10, 'a reorganization of a chain', (random) => {
      const chain = random.pick(chains);
      const blocks = random.between(1, 4);
      // Ignores errors, because a node that was just started may have too few blocks.
      return { targets: workers, strike: () => chain.reorganize(blocks).catch(() => {}) };
    }),
    fault(12, 'a provider limits, lies or loses for a while', (random) => {
      const provider = random.pick(chains.flatMap((chain) => chain.provider ?? []));
      const behavior = BEHAVIORS[random.pick(BEHAVIOR_NAMES)];
      const behave = (as: typeof provider.behavior) => () => {
        provider.behavior = as;
      };
      const ms = random.between(2_000, 8_000);
      return lasting(workers, ms, [behave(behavior()), behave(null)]);
    }),
  ];
}

/** Returns faults that take too long for a short run. */
function longFaults({ processes, ground, settleWithinMs }: Field): ChaosFault[] {
  const workers = workersOf(processes);
  return [
    // Sales and refunds continue during the pause. Failed refunds are retried after a minute.
    fault(8, 'USDC paused and unpaused', (random) => {
      const chain = random.pick(ground.chains);
      const pause = (isPaused: boolean) => () => chain.pauseToken(isPaused);
      return lasting(workers, random.between(2_000, 8_000), [pause(true), pause(false)]);
    }),
    fault(6, 'no worker for longer than a payment may take', (random) =>
      freeze(workers, settleWithinMs + random.between(1_000, 6_000)),
    ),
    // Restarts one or all workers without the key. A worker must refuse to start while the key's
    // sender has open transactions.
    fault(8, 'a relayer key taken out early, and put back', (random) => {
      const { config } = random.pick(ground.chains);
      const name = `CHAIN_${config.network.toUpperCase()}_RELAYER_KEYS`;
      const out = random.pick(config.relayerKeys);
      const left = config.relayerKeys.filter((key) => key !== out);
      const restart = (env: Readonly<Record<string, string>> | null) =>
        each((worker) => {
          worker.tell(env);
          worker.kill();
        });
      const some = random.chance(50) ? workers : [random.pick(workers)];
      const ms = random.between(4_000, 12_000);
      return lasting(some, ms, [restart({ [name]: left.join() }), restart(null)]);
    }),
  ];
}

/**
 * Returns faults that lose the data written between a backup of the database and its restore. The
 * chains keep everything.
 */
function losses({ ground: { database }, journal, processes: targets }: Field): ChaosFault[] {
  return [
    fault(10, 'PostgreSQL restored to an earlier copy', (random) => {
      const ms = random.between(4_000, 12_000);
      const promote = random.chance(50);
      const strike = async () => {
        journal.copied();
        await database.copy('earlier');
        await sleep(ms);
        await database.putBack('earlier', { promote, whileAway: journal.restored });
        await sleep(RECOVERED_MS);
      };
      return { targets, strike };
    }),
    fault(5, 'a replica takes over without a loss', () => {
      return { targets, strike: () => database.failOver() };
    }),
  ];
}

/** Returns faults of the machines that run the processes and the database. */
function machineFaults({ ground: { database, disk }, processes }: Field): ChaosFault[] {
  const step = fault(10, 'the clock of a process steps, and back', (random) => {
    const targets = [random.pick(processes)];
    const offMs = random.between(-CLOCK_STEP_MS, CLOCK_STEP_MS);
    const stepTo = (off: number | null) => each((process) => process.stepClock(off));
    return lasting(targets, random.between(2_000, 10_000), [stepTo(offMs), stepTo(null)]);
  });
  if (disk === null) return [step];
  const full = fault(6, 'the disk of the database is full', (random) => {
    let free: (() => Promise<unknown>) | undefined;
    const fill = async () => {
      free = await disk.fill();
    };
    const empty = async () => {
      await free?.();
      // PostgreSQL stops when it cannot write its log. A supervisor would then restart it.
      await database.kill().catch(() => {});
      await database.start();
    };
    return lasting(processes, random.between(1_000, 6_000), [fill, empty]);
  });
  return [step, full];
}

function allFaults(field: Field): ChaosFault[] {
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
    ({ name, undoesBlocks }) => name.includes(only) && !(isFinal && undoesBlocks),
  );
  if (faults.length === 0) throw new Error(`no fault of this run is named ${only}`);
  return faults;
}

/**
 * Creates the set of faults of a run. In a replay, each fault waits for the moment at which it
 * struck before.
 */
export function chaosFaults(options: FaultsOptions): FaultSet {
  const { ground, processes, random, timetable, outside, log, pauseMs, reach } = options;
  // Resumes transfers, because a chain that lost its newest blocks may have the token paused again.
  const resume = () => Promise.all(ground.chains.map((chain) => chain.pauseToken(false)));
  // Sends lost transactions again, as wallets do. Otherwise, a customer's funds would be missing
  // until the end of the run.
  const sendAgain = () => Promise.all(outside.map((one) => one.sendAgain())).catch(() => {});
  return {
    ...{ faults: allFaults(options), when: 'among', random, pauseMs },
    strike: async ({ name }, plan) => {
      log(name);
      await timetable.strike({ fault: name, all: processes, ...plan });
      await Promise.all([sendAgain(), ...(reach === 'short' ? [] : [resume()])]);
    },
  };
}
