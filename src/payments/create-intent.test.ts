import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Tenant } from '#core/mode.ts';
import { keyExpiry } from '#idempotency/expire-keys.ts';
import { createBatch } from '#payments/create-intents-together.ts';
import type { CreateRequest } from '#payments/price-new-intent.ts';
import { readIntent } from '#payments/read-intents-together.ts';
import { renderIntent } from '#payments/render.ts';
import {
  createSettlementNumbers,
  type DrawnNumber,
  type SettlementNumbers,
} from '#settlement/settlement-numbers.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { underWay, waitingForLocks } from '#testkit/fixtures/core/open-transactions.ts';
import { holdKey } from '#testkit/fixtures/db/idempotency-keys.ts';
import type { CreateIntent } from '#testkit/fixtures/payments/store.ts';
import {
  addMerchant,
  addTerminal,
  intentCreator,
  newRequest,
  openStore,
} from '#testkit/fixtures/payments/store.ts';
import {
  addStore,
  eventTypes,
  lastSnapshot,
  newCreate,
  see,
} from '#testkit/fixtures/payments/store-payments.ts';

const clock = new FakeClock();
let create: CreateIntent;
const store = openForTests(
  () => openStore({ clock }),
  async () => {
    create = intentCreator(store);
  },
);

/** Sends all requests in the same turn of the event loop, so that they share a batch. */
async function createAll(requests: readonly CreateRequest[], by: CreateIntent = create) {
  return (await Promise.all(requests.map((request) => by(request)))).map(see);
}

async function intents(): Promise<number> {
  const [row] = await store.db.query<{ n: bigint }>('select count(*) as n from payment_intents');
  return Number(row?.n);
}

async function storedKey(key: string) {
  const rows = await store.db.query<{ status: string; resource: string; response_status: number }>(
    'select status, resource, response_status from idempotency_keys where key = $1',
    [key],
  );
  return rows[0];
}

test('nothing is written on a ledger that was closed while its number was drawn', async () => {
  const taken: DrawnNumber[] = [];
  const unused: DrawnNumber[] = [];
  let reopen = () => {};
  const drawing = createSettlementNumbers(store.db);
  const numbers: SettlementNumbers = {
    ...drawing,
    take: async (modes) => {
      const drawn = await drawing.take(modes);
      taken.push(...drawn);
      reopen = store.db.watch.guard(false, () => {});
      return drawn;
    },
    putBack: (some) => unused.push(...some),
  };
  const before = await intents();
  const ids = { idKey: store.idKey, numbers };
  const batch = createBatch(store.db, ids, [newCreate(store)]).finally(() => reopen());
  const [seen] = (await batch).outcomes.map(({ answer }) => see(answer));
  assert.deepEqual([seen?.status, seen?.said], [503, 'service_unavailable']);
  assert.equal(await intents(), before);
  assert.deepEqual(unused, taken);
});

test('an intent, its event and its stored response match, and appear together', async () => {
  const request = newCreate(store, { amount: 1, orderId: 'A-1', metadata: { table: '7' } });
  const [seen] = await createAll([request]);
  assert.equal(seen?.status, 201);
  const { id, status, amount, order_id, metadata, source } = seen.body;
  assert.deepEqual(
    { status, amount, order_id, metadata, source },
    {
      status: 'requires_payment_method',
      amount: 1,
      order_id: 'A-1',
      metadata: { table: '7' },
      source: 'api',
    },
  );
  assert.equal(seen.body.created, clock.now().toISOString());
  assert.equal(Date.parse(String(seen.body.expires_at)) - clock.now().getTime(), 120_000);
  assert.deepEqual(await eventTypes(store, String(id)), ['payment_intent.created']);
  assert.deepEqual(await lastSnapshot(store, 'payment_intent.created'), seen.body);
  assert.deepEqual(await storedKey(request.idempotency.key), {
    status: 'completed',
    resource: id,
    response_status: 201,
  });
});

const DESCRIPTION = `"Zoë's" \\ \\n \\u0041 \u2028 🧾 $1 %s {"a":[]} <&>`;
const METADATA = JSON.parse(
  '{"zebra":"1","a":"\\"q\\\\","é":"ü","10":"ten","9":"nine","__proto__":"p","Kasse":"🛒"}',
);

test('response, row, event and later read match, for any texts', async () => {
  const read = (tenant: Tenant, id: string) => readIntent(store.ctx, tenant, id);
  const requests = [
    newCreate(store),
    newCreate(store, { orderId: 'A-1_z', description: DESCRIPTION, metadata: METADATA }),
    newCreate(store, { source: 'terminal', splitGroup: 'spl_"1"', expiresIn: 30 }),
    newCreate(store, { amount: 1_000_000_000_000 }),
  ];
  const answers = await Promise.all(requests.map((request) => create(request)));
  for (const [item, answer] of answers.entries()) {
    assert.ok('body' in answer);
    const { body } = answer;
    const [kept] = await store.db.query<{ stored: string; event: string; sequence: string }>(
      `select k.response_body as stored, e.body as event, e.position::text as sequence
       from idempotency_keys k join events e on e.object_id = k.resource where k.key = $1`,
      [requests[item]?.idempotency.key],
    );
    assert.equal(kept?.stored, body);
    const told = `,"sequence":${kept.sequence},"data":{"object":${body}}}`;
    assert.ok(kept.event.endsWith(told), kept.event);
    const shown = await read(store.merchant.tenant, JSON.parse(body).id);
    assert.ok(shown !== null);
    const later = JSON.stringify(renderIntent(shown));
    assert.deepEqual(JSON.parse(later), JSON.parse(body));
    // Does not compare the text if there is metadata, because jsonb orders its keys differently.
    if (requests[item]?.input.metadata !== METADATA) assert.equal(later, body);
  }
});

test('an order id is generated if none is given, and matches the rule', async () => {
  const [seen] = await createAll([newCreate(store)]);
  assert.match(String(seen?.body.order_id), /^[0-9A-Za-z]{8}$/);
});

test('a waiting terminal is notified of its new intent, and only after the commit', async () => {
  const told: Promise<number>[] = [];
  const before = await intents();
  const stop = store.wakeups.on('terminal', store.terminalId, () => told.push(intents()));
  await createAll([newCreate(store), newCreate(store, { terminalId: 'tml_none' })]);
  stop();
  assert.deepEqual(await Promise.all(told), [before + 1]);
});

test('a hundred concurrent requests create a hundred intents, in the order of events', async () => {
  const seen = await createAll(Array.from({ length: 100 }, () => newCreate(store)));
  const ids = seen.map(({ body }) => String(body.id));
  assert.equal(new Set(ids).size, 100);
  const listed = await store.db.query<{ id: string }>(
    'select id from payment_intents where id = any($1) order by created, position',
    [ids],
  );
  const told = await store.db.query<{ object_id: string }>(
    'select object_id from events where object_id = any($1) order by created, position',
    [ids],
  );
  assert.deepEqual(
    listed.map((row) => row.id),
    told.map((row) => row.object_id),
  );
  assert.equal(told.length, 100);
});

describe('one key', () => {
  test('twice in one batch: one runs, the other is refused as in progress', async () => {
    const before = await intents();
    const request = newCreate(store);
    const seen = await createAll([request, request, newCreate(store)]);
    assert.deepEqual(
      seen.map(({ said }) => said),
      ['requires_payment_method', 'idempotency_request_in_progress', 'requires_payment_method'],
    );
    assert.equal(await intents(), before + 2);
    const [again] = await createAll([request]);
    assert.deepEqual(again, { ...seen[0], replayed: true });
  });

  test('for two bodies in one batch: the second is refused as a conflict', async () => {
    const first = newCreate(store);
    const other = { ...first.idempotency, fingerprint: newRequest(store).fingerprint };
    const seen = await createAll([first, newCreate(store, { amount: 5 }, { idempotency: other })]);
    assert.deepEqual(
      seen.map(({ said }) => said),
      ['requires_payment_method', 'idempotency_key_reused'],
    );
    const [later] = await createAll([newCreate(store, { amount: 5 }, { idempotency: other })]);
    assert.equal(later?.said, 'idempotency_key_reused');
  });

  test('replayed beside new requests returns the stored bytes, without a new event', async () => {
    const request = newCreate(store);
    const first = await create(request);
    const events = (await eventTypes(store)).length;
    const [replay] = await Promise.all([create(request), create(newCreate(store))]);
    assert.ok('body' in first && 'body' in replay);
    assert.equal(replay.body, first.body);
    assert.deepEqual(replay.headers, { 'Idempotent-Replayed': 'true' });
    assert.equal((await eventTypes(store)).length, events + 1);
  });

  test('raced by two processes: one of each runs, and no second intent is created', async () => {
    const before = await intents();
    const nodes = [intentCreator(store), intentCreator(store)];
    const requests = Array.from({ length: 10 }, () => newCreate(store));
    const seen = await Promise.all(nodes.map((node) => createAll(requests, node)));
    assert.equal(await intents(), before + 10);
    const ids = seen.flat().flatMap(({ status, body }) => (status === 201 ? [body.id] : []));
    assert.equal(new Set(ids).size, 10);
  });

  test('claimed by another operation while its batch runs is refused as reused', async () => {
    const request = newCreate(store);
    const other = { ...request.idempotency, fingerprint: newRequest(store).fingerprint };
    const claiming = await underWay(store.db, (tx) => holdKey(tx, other, clock.now()));
    const creating = createAll([request]);
    await waitingForLocks(store.db, 1);
    await claiming.commit();
    assert.deepEqual(
      (await creating).map(({ said }) => said),
      ['idempotency_key_reused'],
    );
  });

  test('is deleted after 48 hours, not a millisecond sooner', async () => {
    const request = newCreate(store);
    const [first] = await createAll([request]);
    const lifeMs = keyExpiry(clock.now()).getTime() - clock.now().getTime();
    assert.equal(lifeMs, 48 * 3_600_000);
    clock.advance(lifeMs - 1);
    const [replay] = await createAll([{ ...request, now: clock.now() }]);
    assert.equal(replay?.body.id, first?.body.id);
    clock.advance(1);
    const [fresh] = await createAll([{ ...request, now: clock.now() }]);
    assert.equal(fresh?.status, 201);
    assert.notEqual(fresh.body.id, first?.body.id);
  });

  test('belongs to account and mode: others may use the same', async () => {
    const request = newCreate(store);
    const counter = await addStore(store, clock);
    const idempotency = { ...request.idempotency, tenant: counter.merchant.tenant };
    const seen = await createAll([request, newCreate(counter, {}, { idempotency })]);
    assert.deepEqual(
      seen.map(({ status }) => status),
      [201, 201],
    );
  });
});

describe('an order id', () => {
  test('is taken once per account and mode: within a batch, and ever after', async () => {
    const before = await intents();
    const requests = [1, 2].map(() => newCreate(store, { orderId: 'TWICE' }));
    const seen = await createAll(requests);
    assert.deepEqual(
      seen.map(({ said }) => said),
      ['requires_payment_method', 'order_id_in_use'],
    );
    assert.equal(seen[1]?.status, 409);
    const [later] = await createAll([newCreate(store, { orderId: 'TWICE' })]);
    assert.equal(later?.said, 'order_id_in_use');
    assert.equal(await intents(), before + 1);
  });

  test('that was refused is refused again with the same key', async () => {
    await createAll([newCreate(store, { orderId: 'HELD' })]);
    const refused = newCreate(store, { orderId: 'HELD' });
    const [first] = await createAll([refused]);
    const [again] = await createAll([refused]);
    assert.deepEqual(again, { ...first, replayed: true });
  });

  test("is not taken by another account's", async () => {
    const counter = await addStore(store, clock);
    const requests = [store, counter].map((at) => newCreate(at, { orderId: 'SHARED' }));
    const seen = await createAll(requests);
    assert.deepEqual(
      seen.map(({ status }) => status),
      [201, 201],
    );
  });
});

describe('a refusal', () => {
  test("for a missing terminal, or another account's or mode's, leaves the key free", async () => {
    const foreign = await addStore(store, clock);
    for (const terminalId of ['tml_none', foreign.terminalId]) {
      const request = newCreate(store, { terminalId });
      const [refused] = await createAll([request]);
      assert.deepEqual([refused?.status, refused?.said], [400, 'parameter_invalid']);
      assert.equal(await storedKey(request.idempotency.key), undefined);
      const [mended] = await createAll([{ ...request, input: newCreate(store).input }]);
      assert.equal(mended?.status, 201);
    }
  });

  test('for an inactive terminal is stored, and replayed once it is active again', async () => {
    const { terminalId } = await addTerminal(store.db, store.merchant, clock.now());
    const set = (status: string) =>
      store.db.query('update terminals set status = $2 where id = $1', [terminalId, status]);
    await set('inactive');
    const request = newCreate(store, { terminalId });
    const [first] = await createAll([request]);
    assert.deepEqual([first?.status, first?.said], [409, 'terminal_inactive']);
    await set('active');
    const [again] = await createAll([request]);
    assert.deepEqual(again, { ...first, replayed: true });
  });

  test('before verification or go-live is stored; verification is checked first', async () => {
    const live = await addMerchant(store.db, { now: clock.now(), livemode: true });
    const { terminalId } = await addTerminal(store.db, live, clock.now());
    const neither = { ...live, kybApproved: false, merchantNumber: null };
    const cases = [
      [neither, 403, 'kyb_required'],
      [{ ...live, merchantNumber: null }, 409, 'account_not_live'],
    ] as const;
    for (const [merchant, status, code] of cases) {
      const request = newCreate({ clock, merchant, terminalId });
      const [first] = await createAll([request]);
      assert.deepEqual([first?.status, first?.said], [status, code]);
      const [again] = await createAll([{ ...request, merchant: live }]);
      assert.deepEqual(again, { ...first, replayed: true });
    }
  });

  test('in test mode needs no business verification', async () => {
    const merchant = { ...store.merchant, kybApproved: false };
    const [seen] = await createAll([newCreate(store, {}, { merchant })]);
    assert.equal(seen?.status, 201);
  });
});

test('a request that the database cannot take fails alone and writes nothing', async () => {
  const before = await intents();
  const bad = newCreate(store, { description: 'a\u0000b' });
  const requests = [newCreate(store), bad, newCreate(store)];
  const results = await Promise.allSettled(requests.map((request) => create(request)));
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.equal(await intents(), before + 2);
  assert.equal(await storedKey(bad.idempotency.key), undefined);
});
