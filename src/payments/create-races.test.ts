import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, isRefusal, type Refusal } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import { newId } from '#core/ids.ts';
import { CommitUnknown, DatabaseUnavailable, openDatabase } from '#db/database.ts';
import type { CreateRequest } from '#payments/price-new-intent.ts';
import { underWay, waitingForLocks } from '#testkit/fixtures/core/open-transactions.ts';
import { holdKey } from '#testkit/fixtures/db/idempotency-keys.ts';
import type { CreateIntent } from '#testkit/fixtures/payments/store.ts';
import {
  addPayer,
  bodyOf,
  intentCreator,
  openStore,
  pay,
  playChain,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';
import { addStore, newCreate } from '#testkit/fixtures/payments/store-payments.ts';
import { cancel } from '#testkit/fixtures/payments/store-requests.ts';
import { endpointsOf } from '#testkit/fixtures/webhooks/webhook-endpoints.ts';
import { startTcpProxy } from '#testkit/network/tcp-proxy.ts';
import { countEndpointsLocked, insertEndpoint } from '#webhooks/endpoint-queries.ts';
import { changeEndpoint, removeEndpoint } from '#webhooks/update-endpoint.ts';

const URL_OF_NOBODY = 'http://127.0.0.1:2999/';
let shared: TestStore;
before(async () => {
  shared = await openStore();
});
after(() => shared.close());

/** Opens the same store like a second process, with its own connections and batches. */
function otherNode(t: TestContext, store: TestStore): TestStore {
  const db = openDatabase({ url: store.database.url, maxConnections: 4 });
  t.after(() => db.close());
  return { ...store, db, ctx: { ...store.ctx, db } };
}

/**
 * Time limit of the loop, generous for slow machines. The test fails if there were too few races by
 * then.
 */
const TIMEOUT_MS = 60_000;

/** Returns a function that returns true for `ms`, and afterwards until `isEnough` returns true. */
function goOnFor(ms: number, isEnough: () => boolean): () => boolean {
  const begun = performance.now();
  return () => {
    const spentMs = performance.now() - begun;
    return spentMs < ms || (!isEnough() && spentMs < TIMEOUT_MS);
  };
}

/** Runs this many callers per node, which create intents until they are stopped. */
function keepCreating(nodes: readonly TestStore[], callers: number) {
  let stopped = false;
  const caller = async (create: (request: CreateRequest) => Promise<unknown>, shop: TestStore) => {
    while (!stopped) await create(newCreate(shop));
  };
  const all = nodes.flatMap((node) => {
    const create = intentCreator(node);
    return Array.from({ length: callers }, () => caller(create, node));
  });
  return () => {
    stopped = true;
    return Promise.all(all);
  };
}

test('endpoints created and deleted under load get exactly the events in between', async (t) => {
  const store = await addStore(shared, shared.clock);
  const bench = endpointsOf(store);
  const stop = keepCreating([store, otherNode(t, store)], 6);
  const kept: { id: string; position: bigint }[] = [];
  const ended: string[] = [];
  const goesOn = goOnFor(2_000, () => kept.length > 2 && ended.length > 10);
  for (let n = 0; goesOn(); n++) {
    const id = newId('webhookEndpoint', new Date());
    const position = await store.db.transaction(async (tx) => {
      await countEndpointsLocked(tx, bench.tenant);
      const [row] = await tx.query<{ position: bigint }>(
        'select position from account_modes where account_id = $1',
        [bench.tenant.accountId],
      );
      await insertEndpoint(tx, {
        id,
        account_id: bench.tenant.accountId,
        livemode: bench.tenant.livemode,
        url: URL_OF_NOBODY,
        enabled_events: ['*'],
        description: null,
        api_version: '2026-09-28',
        secret: randomBytes(32),
        created: new Date(),
      });
      await sleep(4);
      return row?.position ?? 0n;
    });
    await sleep(5);
    if (n % 8 === 0 && kept.length < 8) {
      kept.push({ id, position });
      continue;
    }
    ended.push(id);
    const change = { input: { status: 'disabled' } as const, now: new Date() };
    if (n % 2 === 0) await removeEndpoint(bench, bench.tenant, id, new Date());
    else await changeEndpoint(bench, bench.tenant, id, change);
  }
  await stop();
  const missed = await store.db.query(
    `select w.id, e.position from unnest($1::text[], $2::bigint[]) as w (id, position)
     join events e on e.account_id = $3 and e.position > w.position
     where not exists (select from webhook_due d
                       where d.endpoint_id = w.id and d.event_position = e.position)`,
    [kept.map(({ id }) => id), kept.map(({ position }) => position), bench.tenant.accountId],
  );
  assert.deepEqual(missed, []);
  const left = await store.db.query('select id from webhook_due where endpoint_id = any($1)', [
    ended,
  ]);
  assert.deepEqual(left, []);
  assert.ok(kept.length > 2 && ended.length > 10, `only ${kept.length} and ${ended.length}`);
});

test('a poller that reads forward misses nothing that two nodes and others write', async (t) => {
  const store = await addStore(shared, shared.clock);
  const { tenant } = store.merchant;
  const { pass } = await addPayer(store);
  let writing = true;
  const counts = { created: [0, 0], ended: 0 };
  const loop = async (work: (n: number) => Promise<unknown>) => {
    for (let n = 0; writing; n++) await work(n);
  };
  const nodes = [store, otherNode(t, store)].map((node) => intentCreator(node));
  // Offsets of the two machines' clocks, in milliseconds.
  const offMs = [0, 10];
  const creating = nodes.map((create, node) =>
    loop(async () => {
      const now = addMs(new Date(), offMs[node] ?? 0);
      await Promise.all([1, 2, 3].map(() => create(newCreate(store, {}, { now }))));
      counts.created[node] = (counts.created[node] ?? 0) + 3;
    }),
  );
  const [create] = nodes;
  assert.ok(create !== undefined);
  const seen = { events: [] as Place[], payment_intents: [] as Place[] };
  const poll = async () => {
    for (const table of ['events', 'payment_intents'] as const) {
      seen[table].push(...(await readNewer(store, table, seen[table].at(-1))));
    }
  };
  const writers = [
    ...creating,
    loop(async (n) => {
      const intentId = bodyOf(await create(newCreate(store, { amount: 1_000 }))).id;
      if (n % 2 === 0) await cancel(store, intentId);
      else await pay(store, { intentId, pass, hangUp: true });
      if (n % 4 === 1) await playChain(store);
      counts.ended++;
    }),
    loop(poll),
  ];
  const goesOn = goOnFor(2_000, () => counts.created.every((n) => n > 50) && counts.ended > 3);
  while (goesOn()) await sleep(20);
  writing = false;
  await Promise.all(writers);
  await poll();
  for (const table of ['events', 'payment_intents'] as const) {
    const there = await store.db.query<Place>(
      `select created, position from ${table} where account_id = $1 order by position`,
      [tenant.accountId],
    );
    assert.deepEqual(seen[table], there);
    assert.equal(new Set(there.map(({ position }) => position)).size, there.length);
  }
  const types = await store.db.query<{ type: string }>(
    'select distinct type from events where account_id = $1',
    [tenant.accountId],
  );
  for (const type of ['created', 'canceled', 'succeeded']) {
    assert.ok(
      types.some((row) => row.type === `payment_intent.${type}`),
      `none is ${type}`,
    );
  }
  assert.ok(
    counts.created.every((n) => n > 50),
    JSON.stringify(counts),
  );
});

interface Place {
  readonly created: Date;
  readonly position: bigint;
}

/** Polls like a client that requests all rows after the last one it received. */
function readNewer(store: TestStore, table: string, last: Place | undefined): Promise<Place[]> {
  return store.db.query<Place>(
    `select created, position from ${table}
     where account_id = $1 and (created, position) > ($2, $3) order by created, position`,
    [store.merchant.tenant.accountId, last?.created ?? new Date(0), last?.position ?? 0n],
  );
}

describe('a connection that breaks', () => {
  async function intentsByKey(requests: readonly CreateRequest[]): Promise<Map<string, string[]>> {
    const rows = await shared.db.query<{ key: string; id: string }>(
      `select k.key, p.id from idempotency_keys k join payment_intents p on p.id = k.resource
       where k.key = any($1)`,
      [requests.map(({ idempotency }) => idempotency.key)],
    );
    const all = Map.groupBy(rows, (row) => row.key);
    return new Map([...all].map(([key, current]) => [key, current.map((row) => row.id)]));
  }

  test('under load loses and duplicates no intent, and every response is right', async (t) => {
    const store = await addStore(shared, shared.clock);
    const nodes = [1, 2].map(() => intentCreator(otherNode(t, store)));
    const results: { request: CreateRequest; result: Answer | Refusal | Error }[] = [];
    let stopped = false;
    const caller = async (create: CreateIntent) => {
      while (!stopped) {
        const request = newCreate(store);
        const result = await create(request).catch((error) => error as Error);
        results.push({ request, result });
      }
    };
    const callers = nodes.flatMap((create) => Array.from({ length: 12 }, () => caller(create)));
    const broken = { writing: 0, waiting: 0 };
    const isEnough = () => broken.writing > 3 && broken.waiting > 3;
    const goesOn = goOnFor(1_000, isEnough);
    while (goesOn()) {
      await sleep(40);
      const rows = await store.db.query<{ waiting: boolean }>(
        `select query like '%update account_modes%' as waiting, pg_terminate_backend(pid)
         from pg_stat_activity
         where datname = current_database() and state = 'active' and pid <> pg_backend_pid()
           and (query like '%insert into payment_intents%' or query like '%update account_modes%')`,
      );
      for (const { waiting } of rows) broken[waiting ? 'waiting' : 'writing']++;
    }
    stopped = true;
    await Promise.all(callers);
    assert.ok(isEnough(), `only these connections were broken: ${JSON.stringify(broken)}`);
    const requests = results.map(({ request }) => request);
    const current = await intentsByKey(requests);
    for (const { request, result } of results) {
      const ids = current.get(request.idempotency.key) ?? [];
      if (result instanceof DatabaseUnavailable) assert.deepEqual(ids, []);
      else if (result instanceof CommitUnknown) assert.ok(ids.length <= 1);
      else if (result instanceof Error) throw result;
      else assert.deepEqual(ids, [bodyOf(result).id]);
    }
    const again = await Promise.all(requests.map(intentCreator(store)));
    const after = await intentsByKey(requests);
    for (const [index, request] of requests.entries()) {
      const answer = again[index];
      assert.ok(answer !== undefined && !isRefusal(answer));
      assert.deepEqual(after.get(request.idempotency.key), [bodyOf(answer).id]);
    }
    const [row] = await store.db.query<{ n: bigint }>(
      'select count(*) as n from payment_intents where account_id = $1',
      [store.merchant.tenant.accountId],
    );
    assert.equal(Number(row?.n), requests.length);
  });

  /** Returns a function that creates intents over connections that the test can break. */
  async function overWire(t: TestContext, { database, ctx }: TestStore) {
    const url = new URL(database.url);
    const wire = await startTcpProxy(Number(url.port));
    url.port = String(wire.port);
    const db = openDatabase({ url: url.toString(), maxConnections: 2 });
    t.after(async () => {
      await db.close();
      await wire.close();
    });
    return { wire, create: intentCreator({ ctx: { ...ctx, db } }) };
  }

  test('twice, while the lost commit goes on: the result stays unknown', async (t) => {
    const store = await addStore(shared, shared.clock);
    const { wire, create } = await overWire(t, store);
    const requests = [newCreate(store), newCreate(store)];
    const [first] = requests;
    assert.ok(first !== undefined);
    await create(newCreate(store));
    const key = await underWay(store.db, (tx) => holdKey(tx, first.idempotency, new Date()));
    const lost = requests.map((request) => create(request).catch((error) => error as Error));
    // Waits until both requests are in one batch, whose commit waits for the locked key.
    await waitingForLocks(shared.db, 1);
    wire.onClientBytes = () => 'cut';
    wire.cutAll();
    for (const result of await Promise.all(lost)) {
      assert.ok(result instanceof CommitUnknown, String(result));
    }
    await key.commit();
  });

  // An unhandled rejection would end a process; here it fails a test.
  test('before the rates of a local price are read: only the request fails', async (t) => {
    const store = await addStore(shared, shared.clock);
    const { accountId } = store.merchant.tenant;
    const { wire, create } = await overWire(t, store);
    await create(newCreate(store));
    const order = await underWay(store.db, (tx) =>
      tx.query('select from account_modes where account_id = $1 for update', [accountId]),
    );
    const amount = { currency: 'eur', amount: 150 };
    const lost = create(newCreate(store, { amount })).catch((error: unknown) => error);
    await waitingForLocks(shared.db, 1);
    wire.cutAll();
    assert.ok((await lost) instanceof DatabaseUnavailable);
    await order.commit();
    assert.ok(!isRefusal(await create(newCreate(store))));
  });
});
