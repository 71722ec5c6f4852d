import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { present } from '#core/assert.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { walletKey } from '#sandbox/derive-wallets.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import type { ProfileName } from '#settlement/chain-profiles.ts';
import { type Caller, caller } from '#testkit/apis/api-client.ts';
import { createRandom, type PauseMs } from '#testkit/fixtures/core/random.ts';
import { startTcpProxy } from '#testkit/network/tcp-proxy.ts';
import type { ChaosChain } from '#testkit/simulation/chaos/chaos-chain.ts';
import { scenesOf } from '#testkit/simulation/chaos/chaos-clients.ts';
import { chaosFaults, type Reach } from '#testkit/simulation/chaos/chaos-faults.ts';
import { countUses, endTheDay, useEverything } from '#testkit/simulation/chaos/chaos-features.ts';
import { type ChaosGround, openChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import { type Journal, openJournal } from '#testkit/simulation/chaos/chaos-journal.ts';
import {
  type ChaosOwner,
  enrolOwner,
  ownerSteps,
  signInEverywhere,
} from '#testkit/simulation/chaos/chaos-owner.ts';
import {
  type ChaosProcess,
  type ChaosRole,
  makeDemo,
  startChaosProcess,
} from '#testkit/simulation/chaos/chaos-process.ts';
import {
  type ChaosReceiver,
  startChaosReceiver,
  TEMPERS,
} from '#testkit/simulation/chaos/chaos-receivers.ts';
import {
  openTimetable,
  type Strike,
  type Timetable,
} from '#testkit/simulation/chaos/chaos-schedule.ts';
import {
  type ChaosWorld,
  fillWorld,
  type WorldSize,
} from '#testkit/simulation/chaos/chaos-world.ts';
import { openProcessWires } from '#testkit/simulation/chaos/process-wires.ts';
import { type History, type HistoryReport, playHistory } from '#testkit/simulation/history.ts';
import { comeToRest } from '#testkit/simulation/invariants/invariants.ts';
import { NOT_EXPIRED } from '#testkit/simulation/invariants/ledger-invariants.ts';
import { type OutsideWallets, outsideWallets } from '#testkit/simulation/ways/outside-wallets.ts';
import { addPayers, type PayersGround } from '#testkit/simulation/ways/payers.ts';
import { allowOffline } from '#testkit/simulation/ways/shops.ts';
import { WAYS } from '#testkit/simulation/ways/ways.ts';

export interface ChaosOptions {
  readonly seed: number;
  /** The shortest command that repeats the run. */
  readonly repeat: string;
  /** Duration of the clients and faults in seconds. */
  readonly seconds: number;
  readonly clients: number;
  readonly size: WorldSize;
  readonly reach: Reach;
  /** Runs only faults whose name contains this text; default: all. */
  readonly only?: string;
  /** The block interval of both chains; default: a second. */
  readonly blockMs?: number;
  /** The network profile of both chains. The deterministic profile never loses a block. */
  readonly profile?: ProfileName;
  readonly log: (line: string) => void;
  /** Time limit for everything to settle at the end; default: {@link REST_MS}. */
  readonly restMs?: number;
  /**
   * Time for which everything keeps running after a violation, so that a developer can inspect it;
   * default: 0.
   */
  readonly lingerMs?: number;
  /**
   * Faults of an earlier run with the same seed. Each waits for the message at which it struck
   * then.
   */
  readonly strikes?: readonly Strike[];
}

/** The tables whose rows a report counts. */
type Table = 'payments' | 'refunds' | 'withdrawals' | 'events' | 'deliveries';

export interface ChaosReport extends HistoryReport, Readonly<Record<Table, number>> {
  readonly seed: number;
  readonly repeat: string;
  /** True if the database had its own disk, which one of the faults fills. */
  readonly hasOwnDisk: boolean;
  /** Number of uses of each way to pay and of each other feature. */
  readonly uses: Readonly<Record<string, number>>;
  readonly starts: Readonly<Record<string, number>>;
  readonly answers: Readonly<Record<string, number>>;
  /** Number of error lines in the processes' logs, by message. */
  readonly errors: Readonly<Record<string, number>>;
  /** The last log lines about each intent, refund and payout named in a violation. */
  readonly lastLines: readonly string[];
  /** The faults with their moments. They reproduce the run, together with its options. */
  readonly strikes: readonly Strike[];
  /** In a replay, how many faults had a recorded moment, and how many struck at it. */
  readonly replayed: { readonly hits: number; readonly of: number };
}

interface Pace {
  /** A client's pause between two scenes; `null` for no pause. */
  readonly sceneMs: PauseMs | null;
  readonly faultMs: PauseMs;
  /** The owner's pause between two withdrawals. */
  readonly withdrawalMs: PauseMs;
  /** Interval between checks of the rules that hold at any time, even while faults strike. */
  readonly checkEveryMs: number;
}

const FAST: Pace = {
  sceneMs: null,
  faultMs: { low: 1_500, high: 5_000 },
  withdrawalMs: { low: 300, high: 2_500 },
  checkEveryMs: 10_000,
};
/**
 * The pace of a small shop: eight clients each sell every two seconds, so that several soaks can
 * share a machine.
 */
const SLOW: Pace = {
  sceneMs: { low: 6_000, high: 22_000 },
  faultMs: { low: 15_000, high: 45_000 },
  withdrawalMs: { low: 10_000, high: 60_000 },
  checkEveryMs: 60_000,
};

const paceOf = ({ reach }: ChaosOptions) => (reach === 'soak' ? SLOW : FAST);

/** On an idle machine, everything must settle within this time after the last fault. */
const REST_MS = 150_000;
/** The error of one process's clock: one minute. */
const CLOCK_OFF_MS = 60_000;
/**
 * The shortest settlement time-out that the service accepts, so that payments that cannot settle
 * expire within the run.
 */
const SETTLE_WITHIN_S = 30;
/** Base size of the database's own disk in a soak. A run needs another megabyte for each second. */
const DISK_MEGABYTES = 1_500;
/** Number of clients on the test network for each client on the live network. */
const TEST_WORLDS = 3;

type Endpoint = ChaosReceiver & { readonly id: string };

/**
 * The event types of each webhook endpoint. Clients disable and re-enable the last endpoint during
 * the run.
 */
const ENABLED_EVENTS = [
  ['*'],
  ['payment.*', 'refund.*'],
  ['payment_intent.succeeded'],
  ['payment.succeeded', 'refund.succeeded'],
  ['payment.*'],
];

async function addEndpoints(merchant: Caller, seed: number): Promise<Endpoint[]> {
  const endpoints: Endpoint[] = [];
  for (const [number, enabled_events] of ENABLED_EVENTS.entries()) {
    const temper = TEMPERS[number % TEMPERS.length] ?? 'good';
    const random = createRandom(seed, `receiver ${number}`);
    const receiver = await startChaosReceiver(temper, random);
    const url = `${receiver.url}/${temper}`;
    const answer = await merchant.post('/webhook_endpoints', { url, enabled_events });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    endpoints.push({ ...receiver, id: String(answer.body.id) });
  }
  return endpoints;
}

/**
 * Returns the watchtower's settings. It pauses the contract if any amount is unexplained, so a
 * false alarm would stop the run's payments.
 */
function watchEnv({ chains, secret }: ChaosGround): Record<string, string> {
  return Object.fromEntries(
    chains.flatMap(({ config: { network } }) => {
      const prefix = `CHAIN_${network.toUpperCase()}_WATCHER`;
      return [
        [`${prefix}_KEY`, walletKey(secret, `${network} watcher`)],
        [`${prefix}_PAUSE_FROM`, '0'],
      ];
    }),
  );
}

async function startProcesses(
  ground: ChaosGround,
  {
    timetable,
    env,
    steps,
  }: {
    readonly timetable: Timetable;
    readonly env: Readonly<Record<string, string>>;
    /** True if a fault steps the processes' clocks. */
    readonly steps: boolean;
  },
): Promise<ChaosProcess[]> {
  // `undefined` keeps the real clock. A replaced clock costs processor time, so only processes
  // whose clock is wrong or steps get one.
  const right = steps ? 0 : undefined;
  const start = async (name: string, role: ChaosRole, clockOffMs: number | undefined = right) => {
    const wires = await openProcessWires(ground, name, timetable);
    const own = role === 'watch' ? { ...env, ...watchEnv(ground) } : env;
    return startChaosProcess(ground, { name, role, clockOffMs, env: own, wires });
  };
  const starting = await Promise.allSettled([
    start('api-1', 'api'),
    start('api-2', 'api', -CLOCK_OFF_MS),
    start('worker-1', 'worker'),
    start('worker-2', 'worker', CLOCK_OFF_MS),
    start('watch-1', 'watch'),
  ]);
  const started = starting.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = starting.find((one) => one.status === 'rejected');
  if (failed === undefined) return started;
  await Promise.all(started.map((process) => process.close()));
  throw failed.reason;
}

/** Makes retries, expiries and confirmation deadlines due now rather than in a minute or later. */
async function hurry(db: Database): Promise<void> {
  await db.query(`update webhook_due set due_at = '-infinity' where due_at > now()`);
  await db.query(`update webhook_endpoint_leases set not_before = '-infinity'`);
  await db.query(
    `update payment_intents set expires_at = now() where status = 'requires_payment_method'`,
  );
  await db.query(`update payment_intents set confirm_by = now() where status = 'requires_action'`);
}

async function countRows(db: Database): Promise<Record<Table, number>> {
  const [counts] = await db.query<Record<Table, number>>(
    `select (select count(*)::int from payments) as payments,
       (select count(*)::int from refunds) as refunds,
       (select count(*)::int from withdrawals) as withdrawals,
       (select count(*)::int from events) as events,
       (select count(*)::int from webhook_deliveries) as deliveries`,
  );
  return present(counts, 'row of counts');
}

/** Matches log messages that the run's own faults cause. */
const EXPECTED = new RegExp(
  'cannot be reached|no node|RpcUnavailable|could not be asked|the connection broke while commit' +
    '|ended: (SIGKILL|SIGTERM|0)',
);

/** Counts error lines that no fault explains. */
function countErrors(processes: readonly ChaosProcess[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { name, logs } of processes) {
    for (const line of logs().split('\n')) {
      if (!/"level":"error"|Error|tapline:|\(.* ended/.test(line) || EXPECTED.test(line)) continue;
      const text = line
        .replace(/"time":"[^"]*",?/, '')
        .replace(/[a-z]+_[0-9A-Za-z]{22}|0x[0-9a-f]+|\b\d+\b/g, '…');
      const key = `${name.slice(0, -2)} ${text}`.slice(0, 300);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return Object.fromEntries([...counts].sort((a, b) => b[1] - a[1]).slice(0, 60));
}

/** Returns the crashes. No failure of the network, a node or the database may crash a process. */
function crashesOf(processes: readonly ChaosProcess[]): string[] {
  return processes.flatMap(({ name, crashes }) =>
    crashes().map((lines) => `${name} ended by itself: ${lines}`),
  );
}

/** Number of log lines that a report shows for each process and object. */
const LAST_LINES = 3;

function lastLinesAbout(
  broken: readonly string[],
  processes: readonly ChaosProcess[],
): readonly string[] {
  const ids = new Set(broken.flatMap((one) => one.match(/\b(pi|re|wdr)_[0-9A-Za-z]{22}/g) ?? []));
  return [...ids].flatMap((id) =>
    processes.flatMap(({ name, logs }) => {
      const lines = logs().split('\n');
      const named = lines.filter((line) => line.includes(id)).slice(-LAST_LINES);
      return named.map((line) => `${name}: ${line}`);
    }),
  );
}

interface Stage {
  readonly ground: ChaosGround;
  readonly db: Database;
  readonly worlds: readonly ChaosWorld[];
  readonly outside: readonly OutsideWallets[];
  readonly owner: ChaosOwner;
  readonly processes: readonly ChaosProcess[];
  readonly endpoints: readonly Endpoint[];
  readonly timetable: Timetable;
}

/** Repairs what only this module can repair. */
async function mend({ endpoints, outside, db }: Stage): Promise<void> {
  for (const receiver of endpoints) receiver.heal();
  // A worker keeps resending a booked payment until its payer can pay it, so give the payers back
  // their lost funds and wallets.
  await Promise.all(outside.map((one) => one.sendAgain()));
  // A database that was killed repeatedly has no statistics and makes bad plans, so analyze its
  // tables.
  await db.query('analyze').catch(() => {});
}

/**
 * An x402 token is valid for a minute, but one process's clock is a minute off, and others step by
 * two minutes.
 */
const EXPIRED = new RegExp(`^${NOT_EXPIRED}: `);

/** Creates the clients, the owner and the faults, all from the seed. */
function historyOf(stage: Stage, options: ChaosOptions, journal: Journal): History {
  const { seed, repeat, log, reach, only = '', seconds, clients } = options;
  const { restMs: limitMs = REST_MS } = options;
  const { ground, db, processes, worlds, outside, endpoints, timetable } = stage;
  const pace = paceOf(options);
  const settleWithinMs = SETTLE_WITHIN_S * 1000;
  const field = { ground, processes, journal, settleWithinMs, reach, only, timetable };
  const shop = {
    ...{ urls: urlsOf(processes), worlds, journal, everything: reach === 'soak' },
    ...{ endpoints: endpoints.slice(-1).map(({ id }) => id), pauseMs: pace.sceneMs },
  };
  const scenes = (number: number) =>
    scenesOf({ ...shop, random: createRandom(seed, `client ${number}`) }, number);
  return {
    ground: {
      ...{ db, journal, chains: ground.chains.map(({ config }) => config) },
      // Excludes the last endpoint: it was disabled for a while, and the events that it missed are
      // not sent later.
      endpoints: endpoints.slice(0, -1),
      ...{ limitMs, hurry: () => hurry(db), ...(reach === 'soak' ? { except: EXPIRED } : {}) },
    },
    clients: [
      ownerSteps(stage.owner, createRandom(seed, 'owner'), journal),
      ...Array.from({ length: clients }, (_, number) => scenes(number)),
    ],
    faults: chaosFaults({
      ...{ ...field, random: createRandom(seed, 'faults'), pauseMs: pace.faultMs, outside, log },
    }),
    ...{ seconds, checkEveryMs: pace.checkEveryMs, ended: () => mend(stage), log, repeat },
  };
}

/** Ends the account's day, and checks the files that the service then creates. */
async function endDay(stage: Stage, options: ChaosOptions, history: History) {
  const { db, worlds, owner, processes } = stage;
  const { chains = [], journal = openJournal() } = history.ground;
  const [first] = worlds;
  const also = await endTheDay(caller(`${urlsOf(processes)[0]}/v1`, first?.secretKey ?? ''), db);
  const files = {
    accountId: owner.account,
    people: await signInEverywhere(owner, createRandom(options.seed, 'files'), journal),
    folders: processes.map(({ dataDir }) => dataDir),
    chains,
  };
  return comeToRest({ ...history.ground, files }, { ...history.ground, also });
}

function urlsOf(processes: readonly ChaosProcess[]): string[] {
  return processes.flatMap(({ url }) => (url === null ? [] : [url]));
}

/** Fills the test network, where most clients sell, and the live network. */
async function fillWorlds(
  ground: Pick<Stage, 'ground' | 'db'> & Pick<PayersGround, 'publicUrl' | 'facilitators'>,
  shop: { readonly sandbox: SandboxFile; readonly size: WorldSize },
): Promise<Pick<Stage, 'worlds' | 'outside'>> {
  const { db, publicUrl, facilitators } = ground;
  const { secret, testnet, mainnet } = ground.ground;
  const kinds = WAYS.map(({ payer }) => payer);
  const fill = async ({ config: network }: ChaosChain) => {
    const world = await fillWorld({ db, secret, network }, shop);
    for (const { id } of world.terminals) await allowOffline(db, id);
    const outside = await outsideWallets(network);
    const payers = { db, secret, network, publicUrl, outside, facilitators };
    return { world: { ...world, payers: await addPayers(payers, kinds, 'ways') }, outside };
  };
  const [test, live] = await Promise.all([fill(testnet), fill(mainnet)]);
  const worlds = [...Array.from({ length: TEST_WORLDS }, () => test.world), live.world];
  return { worlds, outside: [test.outside, live.outside] };
}

/**
 * Starts everything that a run needs. Adds each part to `stops` right after its start, so that a
 * failed set-up can be undone.
 */
async function setStage(options: ChaosOptions, stops: (() => Promise<unknown>)[]): Promise<Stage> {
  const { seed, log, blockMs = 1_000, profile = 'custom' } = options;
  const isSoak = options.reach === 'soak';
  const disk = isSoak ? { diskMegabytes: DISK_MEGABYTES + options.seconds } : {};
  const ground = await openChaosGround({ providers: 'first', blockMs, profile, ...disk });
  stops.push(ground.close);
  log('ground is up');
  const first = await makeDemo(ground);
  const db = openDatabase({ url: ground.database.url, maxConnections: 6 });
  stops.push(db.close);
  const { sandbox } = first;
  const { base_url, account, dashboard: person } = sandbox;
  const front = await startTcpProxy(0);
  const facilitators: PayersGround['facilitators'] = [];
  stops.push(async () => {
    for (const facilitator of facilitators) facilitator.close();
    await front.close();
  });
  const publicUrl = `http://127.0.0.1:${front.port}`;
  const { size } = options;
  const filled = await fillWorlds({ ground, db, publicUrl, facilitators }, { sandbox, size });
  const endpoints = await addEndpoints(caller(`${base_url}/v1`, sandbox.test.secret_key), seed);
  stops.push(() => Promise.all(endpoints.map((receiver) => receiver.close())));
  const { secret, client } = await enrolOwner(base_url, person);
  const features = isSoak ? await useEverything(client, account) : null;
  if (features !== null) stops.push(features.close);
  await first.stop();
  const timetable = openTimetable(options.strikes ?? null);
  const env = {
    SETTLEMENT_TIMEOUT_SECONDS: String(SETTLE_WITHIN_S),
    TAPLINE_PUBLIC_URL: publicUrl,
    ...features?.env,
  };
  const processes = await startProcesses(ground, { timetable, env, steps: isSoak });
  front.targetPort = Number(new URL(urlsOf(processes)[0] ?? '').port);
  stops.push(() => Promise.all(processes.map((process) => process.close())));
  log('five processes are up');
  const pauseMs = paceOf(options).withdrawalMs;
  const owner = { urls: urlsOf(processes), account, person, secret, pauseMs };
  return { ground, db, ...filled, owner, processes, endpoints, timetable };
}

/** Prints how to inspect a failure, and keeps everything running for a while. */
async function linger({ ground, processes }: Stage, { lingerMs = 0, log }: ChaosOptions) {
  if (lingerMs === 0) return;
  for (const { name, logs } of processes) {
    await writeFile(path.join(tmpdir(), `tapline-faults-${name}.log`), logs());
  }
  const nodes = ground.chains.map(({ config }) => config.rpcUrls.at(-1));
  log(`broken; up for ${lingerMs / 1000} s: ${[ground.database.url, ...nodes].join(' ')}`);
  await sleep(lingerMs);
}

async function perform(options: ChaosOptions, stage: Stage): Promise<ChaosReport> {
  const journal = openJournal();
  const { db, processes } = stage;
  const history = historyOf(stage, options, journal);
  const { broken: result, faults, secondsToRest } = await playHistory(history);
  const goesOn = options.reach === 'soak' && result.length === 0;
  const last = goesOn ? await endDay(stage, options, history) : [];
  const broken = [...result, ...last, ...crashesOf(processes)];
  if (broken.length > 0) await linger(stage, options);
  return {
    seed: options.seed,
    repeat: options.repeat,
    broken,
    ...(await countRows(db)),
    hasOwnDisk: stage.ground.disk !== null,
    uses: await countUses(db),
    faults,
    starts: Object.fromEntries(processes.map(({ name, starts }) => [name, starts()])),
    answers: Object.fromEntries([...journal.counts].sort()),
    errors: countErrors(processes),
    lastLines: lastLinesAbout(broken, processes),
    secondsToRest,
    strikes: stage.timetable.strikes,
    replayed: stage.timetable.met(),
  };
}

/** The seed determines all choices; only the timing varies between runs. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    return await perform(options, await setStage(options, stops));
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}
