import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosGround } from '#testing/chaos/chaos-ground.ts';
import type { Journal } from '#testing/chaos/chaos-journal.ts';
import type { ChaosProcess } from '#testing/chaos/chaos-process.ts';
import type { Random } from '#testing/chaos/chaos-random.ts';
import { BEHAVIOURS, type BehaviourName } from '#testing/provider-behaviours.ts';

/** What can be struck, and what has to know of it. */
interface Field {
  readonly ground: ChaosGround;
  readonly processes: readonly ChaosProcess[];
  readonly journal: Pick<Journal, 'copied' | 'restored'>;
  readonly settleWithinMs: number;
  readonly reach: Reach;
}

/** short: faults of a few seconds. long: also those that take a minute. nightly: also losses. */
export type Reach = 'short' | 'long' | 'nightly';

export interface FaultsOptions extends Field {
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

/** An address of another chain is left for a minute, which is longer than a short run can wait. */
const TOO_LONG: BehaviourName = 'has become one of another chain';
const BEHAVIOUR_NAMES = (Object.keys(BEHAVIOURS) as BehaviourName[]).filter(
  (name) => name !== TOO_LONG,
);
/** A recovery takes seconds: the next fault may strike while it goes on, but not always. */
const RECOVERED_MS = 3_000;
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

function databaseFaults({ ground, processes }: Field): Fault[] {
  const { database, chains } = ground;
  return [
    {
      name: 'everything dies at once',
      weight: 4,
      strike: async () => {
        for (const process of processes) process.kill();
        const all = [database, ...chains];
        await Promise.all(all.map((one) => one.kill()));
        await Promise.all(all.map((one) => one.start()));
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
  ];
}

/** Of either network: the seed says which. */
function chainFaults({ ground: { chains } }: Field): Fault[] {
  return [
    {
      name: 'a chain node killed',
      weight: 8,
      strike: async (random) => {
        const chain = random.pick(chains);
        await chain.kill();
        await sleep(random.below(2_500));
        await chain.start();
      },
    },
    {
      name: 'a chain node hangs',
      weight: 6,
      strike: async (random) => {
        const chain = random.pick(chains);
        chain.freeze();
        await sleep(random.between(1_000, 6_000));
        chain.thaw();
      },
    },
    {
      name: 'a reorganisation of a chain',
      weight: 10,
      // A node that was just started may have too few blocks to replace.
      strike: (random) =>
        random
          .pick(chains)
          .reorganise(random.between(1, 4))
          .catch(() => {}),
    },
    {
      name: 'a provider limits, lies or loses for a while',
      weight: 12,
      strike: async (random) => {
        const provider = random.pick(chains.flatMap((chain) => chain.provider ?? []));
        provider.behaviour = BEHAVIOURS[random.pick(BEHAVIOUR_NAMES)]();
        await sleep(random.between(2_000, 8_000));
        provider.behaviour = null;
      },
    },
  ];
}

/** Each takes longer than a short run has. */
function longFaults(field: Field): Fault[] {
  const { processes, ground, settleWithinMs } = field;
  const workers = processes.filter(({ url }) => url === null);
  return [
    {
      // Payments and refunds go on; a refund that the token refuses is tried again in a minute.
      name: 'USDC paused and unpaused',
      weight: 8,
      strike: async (random) => {
        const chain = random.pick(ground.chains);
        await chain.pauseToken(true);
        await sleep(random.between(2_000, 8_000));
        await chain.pauseToken(false);
      },
    },
    {
      name: 'no worker for longer than a payment lives',
      weight: 6,
      strike: async (random) => {
        const ms = settleWithinMs + random.between(1_000, 6_000);
        await Promise.all(workers.map((worker) => worker.freeze(ms)));
      },
    },
    {
      // At one worker, or at both: who still has transactions on their way must not start.
      name: 'a relayer key taken out early, and put back',
      weight: 8,
      strike: async (random) => {
        const { config } = random.pick(ground.chains);
        const name = `CHAIN_${config.network.toUpperCase()}_RELAYER_KEYS`;
        const out = random.pick(config.relayerKeys);
        const left = config.relayerKeys.filter((key) => key !== out);
        const some = random.chance(50) ? workers : [random.pick(workers)];
        for (const worker of some) worker.tell({ [name]: left.join() });
        for (const worker of some) worker.kill();
        await sleep(random.between(4_000, 12_000));
        for (const worker of some) worker.tell(null);
        for (const worker of some) worker.kill();
      },
    },
  ];
}

/** What was written between the copy and its return is lost; the chains go on. */
function losses({ ground: { database }, journal }: Field): Fault[] {
  return [
    {
      name: 'PostgreSQL restored to an earlier copy',
      weight: 10,
      strike: async (random) => {
        journal.copied();
        await database.copy('earlier');
        await sleep(random.between(4_000, 12_000));
        const promote = random.chance(50);
        await database.putBack('earlier', { promote, whileAway: journal.restored });
        await sleep(RECOVERED_MS);
      },
    },
    {
      name: 'a replica takes over without a loss',
      weight: 5,
      strike: async () => database.failOver(),
    },
  ];
}

function allFaults(field: Field): Fault[] {
  const { reach } = field;
  return [
    ...processFaults(field.processes),
    ...databaseFaults(field),
    ...chainFaults(field),
    ...(reach === 'short' ? [] : longFaults(field)),
    ...(reach === 'nightly' ? losses(field) : []),
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
  const { ground, random, log } = options;
  const faults = allFaults(options);
  // A chain that lost its newest blocks may have forgotten that transfers are allowed again.
  const mend = () => Promise.all(ground.chains.map((chain) => chain.pauseToken(false)));
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
