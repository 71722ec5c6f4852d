import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateKeyAccount } from 'viem/accounts';
import { freePort, waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { setLimits } from '#testkit/apis/offline-sales.ts';
import { createRandom, SEED } from '#testkit/fixtures/core/random.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';
import { spawnNetwork, temporaryDataDir } from '#testkit/network/spawn-network.ts';
import { startTcpProxy, type TcpProxy } from '#testkit/network/tcp-proxy.ts';
import { checkInvariants } from '#testkit/simulation/invariants/invariants.ts';
import { nonceIn, signRequest } from '../testing/offline.ts';
import { type BrowserTill, openBrowserTill } from '../testing/outage/browser-till.ts';
import { judge } from '../testing/outage/judge.ts';
import { openProcessTill, type ProcessTill } from '../testing/outage/process-till.ts';
import type { OutageTill } from '../testing/outage/till.ts';
import { fundedAccount } from '../testing/payer.ts';
import { addTestTerminal } from '../testing/till.ts';
import { isFinal } from './offline/held-sales.ts';

/**
 * Cuts the network while four tills sell: two till pages in separate browsers, and two terminals
 * without a browser. Kills tills at random. Then restores the network, but loses some requests and
 * responses, and kills the service while it accepts the queued sales.
 */

const OUTAGE_MS = Number(process.env.OUTAGE_MINUTES ?? 0.5) * 60_000;
/** Time after the outage during which the network still loses messages. */
const BAD_LINE_MS = 30_000;
/** Time limit for deciding every sale: an hour's queue takes some minutes. */
const DECIDED_MS = 120_000 + OUTAGE_MS / 2;
const RICH = 24;
const POOR = 4;
/** Enough for a few sales; the others bounce. */
const POOR_USDC = 8_000_000n;
const RICH_USDC = 1_000_000_000_000n;
const SHARED_EVERY = 20;
/** High enough that an hour of sales cannot reach them. */
const LIMITS = {
  per_payment: 10_000_000,
  per_card_per_day: 1_000_000_000_000,
  total: 1_000_000_000_000,
  count: 1_000_000,
  hours: 24,
};

const random = createRandom(SEED, 'outage');

/** Starts the service behind a line that can be cut. */
async function openService() {
  const [folder, database, port] = [
    await temporaryDataDir(),
    await testDatabase(),
    await freePort(),
  ];
  const line = await startTcpProxy(port);
  const env = {
    ...{ DATABASE_URL: database.url, PORT: String(port), RATE_LIMIT: '1000/1' },
    TAPLINE_PUBLIC_URL: `http://127.0.0.1:${line.port}`,
  };
  const start = () => spawnNetwork({ dataDir: path.join(folder.path, 'network'), env });
  let network = await start();
  const { sandbox } = network;
  const at = (address: string): SandboxFile => ({
    ...sandbox,
    web_url: address,
    base_url: `${address}/api`,
  });
  return {
    folder: folder.path,
    db: database.db,
    line,
    /** The address that tills use, through the line. */
    sandbox: at(env.TAPLINE_PUBLIC_URL),
    /** The address that the merchant's server uses. */
    direct: at(`http://127.0.0.1:${port}`),
    kill: async () => {
      await network.kill();
      network = await start();
    },
    close: async () => {
      await network.stop();
      await line.close();
      await database.close();
      await folder.remove();
    },
  };
}

type Service = Awaited<ReturnType<typeof openService>>;

interface Tills {
  readonly all: readonly OutageTill[];
  readonly browsers: readonly BrowserTill[];
  readonly processes: readonly ProcessTill[];
}

async function openTills({ folder, sandbox, db }: Service, isCut: () => boolean): Promise<Tills> {
  const place = async (label: string) => {
    const terminal = await addTestTerminal(sandbox, label);
    await setLimits({ store: { db, terminalId: terminal.id } }, LIMITS);
    const own = path.join(folder, label);
    await mkdir(own);
    return { terminal, folder: own };
  };
  const browsers: BrowserTill[] = [];
  const processes: ProcessTill[] = [];
  for (const label of ['page 1', 'page 2']) {
    const { terminal, folder: own } = await place(label);
    browsers.push(await openBrowserTill(terminal, { folder: own, sandbox, isCut }));
  }
  for (const label of ['process 1', 'process 2']) {
    const { terminal, folder: own } = await place(label);
    processes.push(await openProcessTill(terminal, { folder: own, baseUrl: sandbox.base_url }));
  }
  return { all: [...browsers, ...processes], browsers, processes };
}

interface Course {
  /** Nonces of the sales that a till reported as accepted. */
  readonly accepted: Set<string>;
  /** How often each till was killed. */
  readonly kills: Map<OutageTill, number>;
  /** Promises that resolve once a killed till runs again. */
  readonly restarts: Map<OutageTill, Promise<void>>;
  isOver: boolean;
}

const killsOf = ({ kills }: Course, till: OutageTill) => kills.get(till) ?? 0;

/** Sells until the outage ends. A call that fails because the till was killed counts as no sale. */
async function sellAt(till: OutageTill, course: Course, wallets: readonly PrivateKeyAccount[]) {
  while (!course.isOver) {
    await course.restarts.get(till);
    const started = performance.now();
    const kills = killsOf(course, till);
    try {
      const request = await till.request(random.between(10, 500) * 10_000);
      await till.answer(await signRequest(random.pick(wallets), request));
      course.accepted.add(nonceIn(request));
    } catch (error) {
      if (killsOf(course, till) === kills) throw error;
    }
    await sleep(Math.max(0, till.paceMs - (performance.now() - started)));
  }
}

/** Kills one till after the other, at random, until the signal aborts. */
async function killTills(tills: readonly OutageTill[], course: Course, signal: AbortSignal) {
  while (!signal.aborted) {
    await sleep(random.between(5_000, 15_000), null, { signal }).catch(() => {});
    if (signal.aborted) return;
    const till = random.pick(tills);
    course.kills.set(till, killsOf(course, till) + 1);
    const restart = till.restart();
    course.restarts.set(till, restart);
    await restart;
  }
}

/**
 * Copies one till's sales to the other. Each must settle once, whichever till forwards it first.
 */
async function shareSales([one, other]: readonly ProcessTill[], accepted: Course['accepted']) {
  assert.ok(one !== undefined && other !== undefined);
  const sales = (await one.sales()).filter(({ nonce }) => accepted.has(nonce));
  const shared = sales.filter((_, at) => at % SHARED_EVERY === 0);
  for (const sale of shared) await other.hold(sale);
  assert.ok(shared.length > 0, 'no sale is held twice');
  return shared.length;
}

function cut(line: TcpProxy): void {
  line.onClientBytes = () => 'cut';
  line.cutAll();
}

/** Forwards the tills' requests, but loses some of them, and loses the responses to some others. */
async function badLine(line: TcpProxy): Promise<void> {
  line.onClientBytes = () => random.pick(['pass', 'pass', 'pass', 'pass_and_cut', 'cut']);
  await sleep(BAD_LINE_MS);
  line.onClientBytes = () => 'pass';
}

/**
 * Kills the service twice while it is receiving sales.
 * @returns how many sales it had stored at each kill.
 */
async function killService({ db, kill }: Service): Promise<readonly bigint[]> {
  const taken: bigint[] = [];
  for (let time = 0; time < 2; time++) {
    let count = 0n;
    const isTaken = await waitUntil(async () => {
      const [row] = await db.query<{ all: bigint; open: bigint }>(
        `select count(*) "all", count(*) filter (where status = 'processing') open
         from offline_payments`,
      );
      count = row?.all ?? 0n;
      return (row?.open ?? 0n) > 0n && count > (taken.at(-1) ?? 0n);
    }, DECIDED_MS);
    assert.ok(isTaken, `${count} sales had arrived, none of them is on its way`);
    await kill();
    taken.push(count);
  }
  return taken;
}

/** Waits until every till reports the result of all its sales. */
async function decided(tills: readonly OutageTill[]) {
  let held: Awaited<ReturnType<OutageTill['sales']>>[] = [];
  const done = await waitUntil(async () => {
    held = await Promise.all(tills.map((till) => till.sales()));
    await sleep(1_000);
    return held.flat().every(isFinal);
  }, DECIDED_MS);
  const open = held.map((sales) =>
    sales.filter((sale) => !isFinal(sale)).map(({ state }) => state),
  );
  assert.ok(done, `undecided: ${JSON.stringify(open.map((states) => states.slice(0, 3)))}`);
  return held;
}

/** Sells at all tills while the line is cut, and kills them. */
async function outage(service: Service, tills: Tills, course: Course): Promise<void> {
  const { sandbox } = service;
  const funded = (count: number, usdc: bigint) =>
    Promise.all(Array.from({ length: count }, () => fundedAccount(sandbox, usdc)));
  const wallets = [...(await funded(RICH, RICH_USDC)), ...(await funded(POOR, POOR_USDC))];
  cut(service.line);
  for (const till of tills.browsers) await till.seesOutage();
  const end = new AbortController();
  const killing = killTills(tills.all, course, end.signal);
  // Not an unhandled rejection: the seller that waits for the restart fails with the same error.
  killing.catch(() => {});
  const selling = tills.all.map((till) => sellAt(till, course, wallets));
  const over = sleep(OUTAGE_MS, null, { signal: end.signal }).then(
    () => {
      course.isOver = true;
    },
    () => {},
  );
  try {
    await Promise.all([...selling, over]);
  } finally {
    course.isOver = true;
    end.abort();
  }
  await killing;
}

async function drain(service: Service, tills: Tills, course: Course) {
  const end = new AbortController();
  const killing = killTills(tills.all, course, end.signal);
  const [taken] = await Promise.all([killService(service), badLine(service.line)]);
  end.abort();
  await killing;
  return { taken, held: await decided(tills.all) };
}

test('after an outage every accepted sale is settled once or listed as bounced', async (t) => {
  const course: Course = {
    accepted: new Set(),
    kills: new Map(),
    restarts: new Map(),
    isOver: false,
  };
  const service = await openService();
  const { db, direct, line } = service;
  const tills = await openTills(service, () => !course.isOver);
  try {
    await outage(service, tills, course);
    const shared = await shareSales(tills.processes, course.accepted);
    const { taken, held } = await drain(service, tills, course);
    const terminals = tills.all.map(({ terminal }) => terminal);
    const { paid, bounced, sum } = await judge({ sandbox: direct, db, terminals, held });
    const nonces = new Set<string>(held.flat().map(({ nonce }) => nonce));
    const lost = [...course.accepted].filter((nonce) => !nonces.has(nonce));
    assert.deepEqual(lost, [], 'a till lost a sale that it had accepted');
    assert.ok(bounced > 0, 'no wallet was empty');
    assert.deepEqual(await checkInvariants({ db }, { atRest: true }), []);
    report(t, { course, tills, shared, taken, paid, bounced, sum });
  } finally {
    line.onClientBytes = () => 'pass';
    for (const till of tills.all) await till.close().catch(() => {});
    await service.close();
  }
});

interface Measured {
  readonly course: Course;
  readonly tills: Tills;
  readonly shared: number;
  readonly taken: readonly bigint[];
  readonly paid: number;
  readonly bounced: number;
  readonly sum: bigint;
}

function report(t: TestContext, measured: Measured): void {
  const { course, tills, shared, taken, paid, bounced, sum } = measured;
  const kills = tills.all.map((till) => killsOf(course, till)).join(', ');
  t.diagnostic(
    `${OUTAGE_MS / 60_000} minutes without a line, seed ${SEED}: ${course.accepted.size} sales ` +
      `accepted, ${paid} settled once (${Number(sum) / 1e6} USDC), ${bounced} bounced; ` +
      `${shared} held by two tills; tills killed ${kills} times, ` +
      `the service at ${taken.join(' and ')} sales`,
  );
}
