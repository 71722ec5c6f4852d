import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '#core/log.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { openChain } from '#settlement/chain.ts';
import { type Caller, caller } from '#testing/api-client.ts';
import { startClients } from '#testing/chaos-clients.ts';
import { startFaults } from '#testing/chaos-faults.ts';
import { type ChaosGround, openChaosGround } from '#testing/chaos-ground.ts';
import { type Journal, openJournal } from '#testing/chaos-journal.ts';
import { type ChaosProcess, makeDemo, startChaosProcess } from '#testing/chaos-process.ts';
import { createRandom } from '#testing/chaos-random.ts';
import { type ChaosReceiver, startChaosReceiver, TEMPERS } from '#testing/chaos-receivers.ts';
import { type ChaosWorld, fillWorld, type WorldSize } from '#testing/chaos-world.ts';
import { checkDeliveries, checkInvariants } from '#testing/invariants.ts';
import { checkAgainstChain } from '#testing/invariants-chain.ts';
import { checkPromises } from '#testing/invariants-journal.ts';

export interface ChaosOptions {
  readonly seed: number;
  /** How long clients and faults go on. */
  readonly seconds: number;
  readonly clients: number;
  readonly size: WorldSize;
  readonly log: (line: string) => void;
}

export interface ChaosReport {
  readonly seed: number;
  /** Broken promises: empty is success. */
  readonly broken: readonly string[];
  readonly payments: number;
  readonly refunds: number;
  readonly events: number;
  readonly deliveries: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly starts: Readonly<Record<string, number>>;
  readonly answers: Readonly<Record<string, number>>;
  /** Lines that the processes logged as errors, by message. */
  readonly errors: Readonly<Record<string, number>>;
  readonly secondsToRest: number;
}

/** While faults strike, the rules that hold at any moment are checked this often. */
const CHECK_EVERY_MS = 10_000;
/** After the last fault everything comes to rest by itself within this. */
const REST_MS = 90_000;
const REST_POLL_MS = 500;
/** One process's machine has a clock that is wrong by a minute. */
const CLOCK_OFF_MS = 60_000;

interface Endpoint {
  readonly id: string;
  readonly receiver: ChaosReceiver;
  readonly accepted: ReadonlySet<string>;
}

/** What each endpoint asks for; the last one is switched off and on. */
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
    endpoints.push({ id: String(answer.body.id), receiver, accepted: receiver.accepted });
  }
  return endpoints;
}

async function startProcesses(ground: ChaosGround): Promise<ChaosProcess[]> {
  const starting = await Promise.allSettled([
    startChaosProcess(ground, { name: 'api-1', role: 'api' }),
    startChaosProcess(ground, { name: 'api-2', role: 'api', clockOffMs: -CLOCK_OFF_MS }),
    startChaosProcess(ground, { name: 'worker-1', role: 'worker' }),
    startChaosProcess(ground, { name: 'worker-2', role: 'worker', clockOffMs: CLOCK_OFF_MS }),
  ]);
  const started = starting.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = starting.find((one) => one.status === 'rejected');
  if (failed === undefined) return started;
  await Promise.all(started.map((process) => process.close()));
  throw failed.reason;
}

/** The rules that hold at any moment, again and again, while the database answers. */
function watchInvariants(db: Database, log: (line: string) => void) {
  const broken: string[] = [];
  let checks = 0;
  const timer = setInterval(() => {
    checkInvariants(db, { atRest: false }).then(
      (found) => {
        checks++;
        if (found.length > 0) log(`broken: ${found.join('; ')}`);
        broken.push(...found);
      },
      () => {}, // The database is down: the next check sees what it has become.
    );
  }, CHECK_EVERY_MS);
  return {
    broken,
    checks: () => checks,
    stop: () => clearInterval(timer),
  };
}

/** Retries, expiries and confirmations are a minute and more away: let them be due now. */
async function hurry(db: Database): Promise<void> {
  await db.query(`update webhook_due set due_at = '-infinity' where due_at > now()`);
  await db.query(`update webhook_lanes set not_before = '-infinity'`);
  await db.query(
    `update payment_intents set expires_at = now() where status = 'requires_payment_method'`,
  );
  await db.query(`update payment_intents set confirm_by = now() where status = 'requires_action'`);
}

/** Waits until all rules hold. @returns what is still broken when the time is up. */
async function comeToRest(db: Database): Promise<{ broken: string[]; seconds: number }> {
  const started = performance.now();
  // A database that was killed again and again has no statistics, and plans badly without.
  await db.query('analyze').catch(() => {});
  for (;;) {
    const broken = await checkInvariants(db, { atRest: true }).catch((error) => [String(error)]);
    const seconds = (performance.now() - started) / 1000;
    if (broken.length === 0 || seconds * 1000 > REST_MS) return { broken, seconds };
    await hurry(db).catch(() => {});
    await sleep(REST_POLL_MS);
  }
}

async function count(db: Database, table: string): Promise<number> {
  const rows = await db.query<{ n: number }>(`select count(*)::int as n from ${table}`);
  return rows[0]?.n ?? 0;
}

/** What an outage that we made is bound to be logged as. */
const EXPECTED = new RegExp(
  'cannot be reached|no node|RpcUnavailable|could not be asked|the connection broke while commit' +
    '|ended: (SIGKILL|SIGTERM|0)',
);

/** Error lines that no outage explains, alike ones counted. */
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

interface Stage {
  readonly ground: ChaosGround;
  readonly db: Database;
  readonly world: ChaosWorld;
  readonly processes: readonly ChaosProcess[];
  readonly endpoints: readonly Endpoint[];
}

/** Clients and faults, until the time is up; then only what runs by itself. */
async function play(stage: Stage, options: ChaosOptions, journal: Journal) {
  const { seed, log } = options;
  const { ground, db, processes, world, endpoints } = stage;
  const watch = watchInvariants(db, log);
  const clients = startClients({
    urls: processes.flatMap(({ url }) => (url === null ? [] : [url])),
    world,
    journal,
    random: (client) => createRandom(seed, `client ${client}`),
    clients: options.clients,
    endpoints: endpoints.slice(-1).map(({ id }) => id),
  });
  const random = createRandom(seed, 'faults');
  const faults = startFaults({ ground, processes, random, log });
  await sleep(options.seconds * 1000);
  await faults.stop();
  log('no more faults');
  await clients.stop();
  watch.stop();
  log(`clients have stopped; ${watch.checks()} checks were made meanwhile`);
  for (const { receiver } of endpoints) receiver.heal();
  return { during: watch.broken, struck: Object.fromEntries(faults.struck) };
}

async function judge(stage: Stage, journal: Journal): Promise<{ broken: string[]; rest: number }> {
  const { db, ground, endpoints } = stage;
  const { broken, seconds } = await comeToRest(db);
  const chain = await openChain(ground.testnet.config, silentLog);
  // The last endpoint was switched off and on: what it missed is not told again.
  const always = endpoints.slice(0, -1);
  const all = [
    ...broken,
    ...(await checkPromises(db, journal)),
    ...(await checkDeliveries(db, always)),
    ...(await checkAgainstChain(db, chain)),
  ];
  await chain.close();
  return { broken: all, rest: seconds };
}

/** Everything that a run needs, and one way to end all of it, half-way starts included. */
async function setStage(options: ChaosOptions, stops: (() => Promise<unknown>)[]): Promise<Stage> {
  const { seed, log } = options;
  const ground = await openChaosGround();
  stops.push(ground.close);
  log('ground is up');
  const first = await makeDemo(ground);
  const db = openDatabase({ url: ground.database.url, maxConnections: 6 });
  stops.push(db.close);
  const world = await fillWorld(ground, db, { sandbox: first.sandbox, size: options.size });
  const { base_url } = first.sandbox;
  const endpoints = await addEndpoints(caller(`${base_url}/v1`, world.secretKey), seed);
  stops.push(() => Promise.all(endpoints.map(({ receiver }) => receiver.close())));
  await first.stop();
  const processes = await startProcesses(ground);
  stops.push(() => Promise.all(processes.map((process) => process.close())));
  log('four processes are up');
  return { ground, db, world, processes, endpoints };
}

async function perform(options: ChaosOptions, stage: Stage): Promise<ChaosReport> {
  const journal = openJournal();
  const { db, processes } = stage;
  const played = await play(stage, options, journal);
  const judged = await judge(stage, journal);
  return {
    seed: options.seed,
    broken: [...new Set([...played.during, ...judged.broken])],
    payments: await count(db, 'payments'),
    refunds: await count(db, 'refunds'),
    events: await count(db, 'events'),
    deliveries: await count(db, 'webhook_deliveries'),
    faults: played.struck,
    starts: Object.fromEntries(processes.map(({ name, starts }) => [name, starts()])),
    answers: Object.fromEntries([...journal.counts].sort()),
    errors: countErrors(processes),
    secondsToRest: Math.round(judged.rest),
  };
}

/** Plays one chaos run from a seed. Choices repeat with it; the timing of a machine does not. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    return await perform(options, await setStage(options, stops));
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}
