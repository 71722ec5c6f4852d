import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '#db/database.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { caller, type Reply } from '#testkit/apis/api-client.ts';
import { mountSmallDisk } from '#testkit/fixtures/core/small-disk.ts';
import {
  openFilesLimit,
  openIdleConnections,
  resourcesOf,
} from '#testkit/network/idle-connections.ts';
import { spawnNetwork } from '#testkit/network/spawn-network.ts';
import { openChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import { chaosEnv } from '#testkit/simulation/chaos/chaos-process.ts';
import { checkInvariants } from '#testkit/simulation/invariants/invariants.ts';

/** The smallest pool that the service accepts. */
const POOL = 4;
const IDLE_WANTED = 10_000;
/** Other open files of a process: databases, chains, logs, outgoing connections. */
const OTHER_FILES = 500;
const FILES_LIMIT = openFilesLimit();
const IDLE_CONNECTIONS = Math.min(IDLE_WANTED, FILES_LIMIT - OTHER_FILES);
/** Memory budget for idle connections. Measured: 11 kB each, and the heap grows in steps. */
const IDLE_MEGABYTES = 400;
const SLOW_CLIENTS = 200;
/** Requests sent at one byte per second. `undefined` for a client that never sends anything. */
const SLOW_BEGINNINGS = [
  'GET /api/v1/payment_intents HTTP/1.1\r\nHost: x\r\nX-Slow: ',
  'POST /api/v1/payment_intents HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n',
  undefined,
];
/** A request waits up to 5 s for a database connection and up to 30 s in all. */
const ANSWERED_MS = 31_000;
const RECOVERED_MS = 30_000;
const TAPS = 30;
/** Longer than a request waits for a connection. */
const BLOCKED_MS = 6_500;

type Stage = Awaited<ReturnType<typeof openStage>>;

async function openStage(env: Record<string, string> = {}) {
  const ground = await openChaosGround();
  const dataDir = path.join(ground.folder, 'first');
  const network = await spawnNetwork({ dataDir, env: { ...chaosEnv(ground), ...env } });
  const db = openDatabase({ url: ground.database.url, maxConnections: 4 });
  const { base_url, test: mode } = network.sandbox;
  return {
    ground,
    network,
    db,
    merchant: caller(`${base_url}/v1`, mode.secret_key),
    close: async () => {
      await network.stop();
      await db.close();
      await ground.close();
    },
  };
}

function create(stage: Stage, key: string): Promise<Reply> {
  const body = { amount: 1_000_000, terminal: stage.network.sandbox.test.terminal };
  return stage.merchant.post('/payment_intents', body, key);
}

async function recovers(stage: Stage): Promise<void> {
  const well = () => create(stage, randomUUID()).then(({ status }) => status === 201);
  assert.ok(await waitUntil(() => well().catch(() => false), RECOVERED_MS), 'no recovery');
}

/** Checks that every key has exactly one intent and always returns the same response. */
async function completesOnce(stage: Stage, keys: readonly string[]): Promise<void> {
  const ids = new Set<unknown>();
  for (const key of keys) {
    const first = await create(stage, key);
    assert.equal(first.status, 201, JSON.stringify(first.body));
    assert.equal((await create(stage, key)).body.id, first.body.id);
    ids.add(first.body.id);
  }
  assert.equal(ids.size, keys.length);
  assert.deepEqual(await checkInvariants({ db: stage.db }, { atRest: false }), []);
}

/** Creates intents one at a time. @returns the slowest response in milliseconds. */
async function slowestCreate(stage: Stage, count: number): Promise<number> {
  let slowest = 0;
  for (let requests = 0; requests < count; requests++) {
    const began = performance.now();
    assert.equal((await create(stage, randomUUID())).status, 201);
    slowest = Math.max(slowest, performance.now() - began);
  }
  return slowest;
}

describe('when a resource is exhausted', () => {
  let stage: Stage;

  before(async () => {
    stage = await openStage({ DATABASE_CONNECTIONS: String(POOL) });
  });

  after(() => stage?.close());

  it('answers 503 in time while all database connections are taken, and recovers', async () => {
    const blocker = await stage.db.connect();
    await blocker.query('begin');
    await blocker.query('select 1 from account_modes for update');
    const keys = Array.from({ length: 40 }, () => randomUUID());
    const began = performance.now();
    // A create that runs for the whole batch holds a connection while it waits for the row. The
    // others queue behind it.
    const answers = Promise.all(keys.map((key) => create(stage, key)));
    await sleep(300);
    const reads = await Promise.all(
      Array.from({ length: 20 }, () => stage.merchant.get('/payment_intents?limit=1')),
    );
    const readMs = performance.now() - began;
    assert.ok(readMs < ANSWERED_MS, `reads took ${readMs} ms`);
    for (const { status } of reads) assert.ok(status === 200 || status === 503, `${status}`);
    await sleep(Math.max(0, BLOCKED_MS - readMs));
    await blocker.query('rollback');
    await blocker.end();
    for (const { status, body } of await answers) {
      assert.ok(status === 201 || status === 503, JSON.stringify(body));
    }
    assert.ok(performance.now() - began < ANSWERED_MS);
    await recovers(stage);
    await completesOnce(stage, keys);
  });

  it(`serves others while ${IDLE_CONNECTIONS} connections idle, and forgets them`, async (t) => {
    const pid = stage.network.process.pid ?? 0;
    const { port } = new URL(stage.network.sandbox.web_url);
    if (IDLE_CONNECTIONS < IDLE_WANTED) {
      t.diagnostic(`not ${IDLE_WANTED}, since a process may open ${FILES_LIMIT} files here`);
    }
    const before = await resourcesOf(pid);
    const began = performance.now();
    const idle = await openIdleConnections(Number(port), IDLE_CONNECTIONS);
    const openedMs = performance.now() - began;
    const during = await resourcesOf(pid);
    const worst = await slowestCreate(stage, 30);
    assert.ok(worst < 5_000, `the slowest of 30 creates took ${worst} ms`);
    assert.equal(await idle.askEvery(100), Math.ceil(IDLE_CONNECTIONS / 100));
    assert.equal(idle.lost(), 0);
    await idle.close();
    t.diagnostic(`opened in ${Math.round(openedMs)} ms, slowest create ${Math.round(worst)} ms`);
    if (before !== null && during !== null) {
      t.diagnostic(`the server: ${JSON.stringify({ before, during })}`);
      assert.ok(during.files > IDLE_CONNECTIONS, 'the server did not hold all of them');
      const megabytes = during.megabytes - before.megabytes;
      assert.ok(megabytes < IDLE_MEGABYTES, `they take ${megabytes} MB`);
      const forgotten = async () =>
        ((await resourcesOf(pid))?.files ?? 0) < before.files + OTHER_FILES;
      assert.ok(await waitUntil(forgotten, RECOVERED_MS), 'the server holds on to them');
    }
    const after = await slowestCreate(stage, 10);
    assert.ok(after < 5_000, `the slowest of 10 creates took ${after} ms`);
    assert.deepEqual(await checkInvariants({ db: stage.db }, { atRest: false }), []);
  });

  it('serves others while clients send a byte at a time or nothing, and ends those', async () => {
    const { port } = new URL(stage.network.sandbox.web_url);
    let ended = 0;
    const slow = Array.from({ length: SLOW_CLIENTS }, (_, number) => {
      const socket = connect(Number(port), '127.0.0.1').resume();
      socket.on('error', () => {});
      socket.once('close', () => ended++);
      const beginning = SLOW_BEGINNINGS[number % SLOW_BEGINNINGS.length];
      if (beginning === undefined) return socket;
      socket.write(beginning);
      const drip = setInterval(() => socket.write('a'), 1_000);
      socket.once('close', () => clearInterval(drip));
      return socket;
    });
    assert.ok((await slowestCreate(stage, 20)) < 5_000);
    const gone = await waitUntil(() => ended === SLOW_CLIENTS, 60_000);
    for (const socket of slow) socket.destroy();
    assert.ok(gone, `${ended} of ${SLOW_CLIENTS} slow clients were ended`);
  });
});

const small = await mountSmallDisk(220);
const reason = small === null ? 'no right to mount a small file system' : false;

describe('when the disk of PostgreSQL is full', { skip: reason }, () => {
  let stage: Stage;
  const folderBefore = process.env.TMPDIR;

  before(async () => {
    process.env.TMPDIR = small?.path;
    stage = await openStage();
  });

  after(async () => {
    await stage?.close();
    if (folderBefore === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = folderBefore;
    await small?.unmount();
  });

  it('refuses in time, leaves no partial data, and continues when there is space', async () => {
    const { base_url, test: mode } = stage.network.sandbox;
    const till = caller(`${base_url}/device/v1`, mode.device_key);
    const intents: unknown[] = [];
    for (let n = 0; n < TAPS; n++) intents.push((await create(stage, randomUUID())).body.id);
    const free = await small?.fill();
    const keys: string[] = [];
    let refused = 0;
    for (let requests = 0; requests < 400 && refused < 5; requests++) {
      const key = randomUUID();
      keys.push(key);
      const began = performance.now();
      const { status, body } = await create(stage, key);
      assert.ok(performance.now() - began < ANSWERED_MS);
      assert.ok(status === 201 || status === 503, JSON.stringify(body));
      if (status === 503) refused++;
    }
    assert.ok(refused > 0, 'the disk was not full');
    const credential = { type: 'nfc_id', value: mode.passes.ok };
    // Sends the taps in parallel, so that they share batches, and every statement of a batch hits
    // the full disk.
    const taps = await Promise.all(
      intents.map((id) => till.post(`/payment_intents/${id}/tap`, { credential })),
    );
    for (const { status, body, headers } of taps) {
      assert.ok(
        status === 200 || status === 503,
        `${JSON.stringify(body)}\n${stage.network.logs()}`,
      );
      assert.equal(status === 503, headers.get('retry-after') !== null);
    }
    await free?.();
    // A server that cannot write its WAL stops, and its supervisor restarts it.
    await stage.ground.database.start();
    await recovers(stage);
    await completesOnce(stage, keys.slice(-20));
  });
});
