import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { addMs, FakeClock } from '#core/clock.ts';
import { hashSecret } from '#core/secrets.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Pipeline } from '#db/database.ts';
import { claim, complete, keyExpiry } from '#idempotency/run-once.ts';
import { AccountClocks } from '#payments/account-clocks.ts';
import { createIntentCreator } from '#payments/create.ts';
import { type CreatedAtOnce, createAtOnce } from '#payments/create-at-once.ts';
import { createCarefully } from '#payments/create-carefully.ts';
import type { CreateRequest } from '#payments/create-request.ts';
import { createIntentReader } from '#payments/read-intent.ts';
import { renderIntent } from '#payments/render.ts';
import { underWay, waitingForLocks } from '#testing/open-transactions.ts';
import { addTerminal, newRequest, openStore, type TestStore } from '#testing/store.ts';
import { addStore, newCreate, see } from '#testing/store-payments.ts';
import { addEndpoint, endpointsOf } from '#testing/webhook-endpoints.ts';
import { changeEndpoint } from '#webhooks/update-endpoint.ts';

const clock = new FakeClock();
let store: TestStore;
let pipeline: Pipeline;
before(async () => {
  store = await openStore({ clock });
  pipeline = store.db.openPipeline();
});
after(() => store.close());

/** What became of each request: its status or error code, `null` when it was left untouched. */
function saidBy(written: CreatedAtOnce): (string | null)[] {
  return written.outcomes.map((outcome) => (outcome === null ? null : see(outcome.answer).said));
}

async function positionOf(shop: TestStore): Promise<bigint> {
  const [row] = await shop.db.query<{ position: bigint }>(
    'select position from account_modes where account_id = $1',
    [shop.standing.tenant.accountId],
  );
  return row?.position ?? -1n;
}

/** How often each of these requests' keys has an intent: once is 1. */
async function intentsPerKey(requests: readonly CreateRequest[]): Promise<number[]> {
  const rows = await store.db.query<{ n: bigint }>(
    `select (select count(*) from payment_intents p join idempotency_keys k on k.resource = p.id
             where k.account_id = w.account_id and k.key = w.key) as n
     from unnest($1::text[], $2::text[]) with ordinality as w (account_id, key, place)
     order by place`,
    [
      requests.map(({ standing }) => standing.tenant.accountId),
      requests.map(({ idempotency }) => idempotency.key),
    ],
  );
  return rows.map((row) => Number(row.n));
}

async function intentsOf(shop: TestStore): Promise<number> {
  const [row] = await shop.db.query<{ n: bigint }>(
    'select count(*) as n from payment_intents where account_id = $1',
    [shop.standing.tenant.accountId],
  );
  return Number(row?.n);
}

describe('both ways of creating', () => {
  const TOLD = ['*', 'payment_intent.*'];
  const DESCRIPTION = `"Zoë's" \\ \\n \\u0041 \u2028 🧾 $1 %s {"a":[]} <&>`;
  const METADATA = JSON.parse(
    '{"zebra":"1","a":"\\"q\\\\","é":"ü","10":"ten","9":"nine","__proto__":"p","Kasse":"🛒"}',
  );

  function variants(shop: TestStore): CreateRequest[] {
    const create = (name: string, input: Partial<CreateRequest['input']>, caller = '') => {
      const idempotency = { ...newRequest(shop, name), caller };
      return newCreate(shop, input, { idempotency });
    };
    const terminal = { source: 'terminal', expiresIn: 30 } as const;
    return [
      create('plain', {}),
      create('all', { orderId: 'A-1_z', description: DESCRIPTION, metadata: METADATA }),
      create('terminal', terminal, shop.terminalId),
      create('split', { ...terminal, orderId: 'S-2', splitGroup: 'spl_"1"' }, shop.terminalId),
      create(`odd key "'\\ ~`, { amount: 1_000_000_000_000, metadata: { table: '7' } }),
    ];
  }

  /** A merchant whose endpoints listen to all, to intents, to something else; and one is off. */
  async function listened(): Promise<{ shop: TestStore; names: Map<string, string> }> {
    const shop = await addStore(store, clock);
    const bench = endpointsOf(shop);
    const { accountId } = shop.standing.tenant;
    const names = new Map([
      [accountId, 'account'],
      [shop.terminalId, 'terminal'],
    ]);
    for (const topic of [...TOLD, 'refund.created', 'payment_intent.created']) {
      const { endpoint } = await addEndpoint(bench, 'http://127.0.0.1:2999/', {
        enabledEvents: [topic],
      });
      names.set(endpoint.id, `endpoint ${topic}`);
      if (topic !== 'payment_intent.created') continue;
      const input = { status: 'disabled' } as const;
      await changeEndpoint(bench, bench.tenant, endpoint.id, { input, now: clock.now() });
    }
    return { shop, names };
  }

  /** All that a merchant's requests wrote, as text. */
  async function written(shop: TestStore, table: string, order: string): Promise<string[]> {
    const rows = await store.db.query<{ text: string }>(
      `select row_to_json(t)::text as text from ${table} t where account_id = $1 order by ${order}`,
      [shop.standing.tenant.accountId],
    );
    return rows.map((row) => row.text);
  }

  async function allWritten(shop: TestStore, names: Map<string, string>): Promise<string[]> {
    const texts = [
      ...(await written(shop, 'payment_intents', 'position')),
      ...(await written(shop, 'events', 'position')),
      ...(await written(shop, 'idempotency_keys', 'key')),
      ...(await written(shop, 'webhook_due', 'event_position')),
    ];
    // A name in the order of appearance for what is made by chance.
    let made = 0;
    const name = (word: string) => {
      const known = names.get(word) ?? `made ${++made}`;
      names.set(word, known);
      return known;
    };
    const ids = /(?:acct|tml|pi|evt|we)_[0-9A-Za-z]{22}|(?<=order_id[\\]*":[\\]*")\w{8}(?=[\\]*")/g;
    const numbers = /(?<="settlement_number":)\d+/;
    return texts
      .map((text) =>
        text
          .replace(/wdl_\w{22}/g, 'wdl')
          .replace(numbers, 'n')
          .replace(ids, name),
      )
      .sort();
  }

  test('write the same rows, column by column', async () => {
    const seen: string[][] = [];
    for (const way of ['at once', 'carefully'] as const) {
      const { shop, names } = await listened();
      const requests = variants(shop);
      const create = (some: readonly CreateRequest[]) =>
        way === 'at once'
          ? createAtOnce({ ...store, pipeline }, some)
          : createCarefully(store, some);
      // One by one: within a batch the two give the places to intents and events in another order.
      for (const request of requests) {
        const { outcomes, deliveries } = await create([request]);
        assert.equal(outcomes[0]?.created, true);
        assert.equal(deliveries, TOLD.length);
      }
      seen.push([`position ${await positionOf(shop)}`, ...(await allWritten(shop, names))]);
    }
    assert.equal(seen[0]?.length, 1 + 3 * 5 + 5 * TOLD.length);
    assert.deepEqual(seen[0], seen[1]);
  });

  test('answer, store, tell and later show the same', async () => {
    const read = createIntentReader(store);
    for (const way of ['at once', 'carefully'] as const) {
      const shop = await addStore(store, clock);
      const requests = variants(shop);
      const { outcomes } =
        way === 'at once'
          ? await createAtOnce({ ...store, pipeline }, requests)
          : await createCarefully(store, requests);
      for (const [item, outcome] of outcomes.entries()) {
        assert.ok(outcome !== null && 'body' in outcome.answer);
        const { body } = outcome.answer;
        const [kept] = await store.db.query<{ stored: string; event: string; sequence: string }>(
          `select k.response_body as stored, e.body as event, e.position::text as sequence
           from idempotency_keys k join events e on e.object_id = k.resource
           where k.account_id = $1 and k.key = $2`,
          [shop.standing.tenant.accountId, requests[item]?.idempotency.key],
        );
        assert.equal(kept?.stored, body);
        const told = `,"sequence":${kept.sequence},"data":{"object":${body}}}`;
        assert.ok(kept.event.endsWith(told), kept.event);
        const shown = await read(shop.standing.tenant, JSON.parse(body).id);
        assert.ok(shown !== null);
        const later = JSON.stringify(renderIntent(shown));
        assert.deepEqual(JSON.parse(later), JSON.parse(body));
        // jsonb keeps metadata in an order of its own.
        if (requests[item]?.input.metadata !== METADATA) assert.equal(later, body);
      }
    }
  });
});

describe('a batch leaves untouched', () => {
  test('an account whose order somebody holds, without waiting', {
    timeout: 30_000,
  }, async () => {
    const [held, free] = [await addStore(store, clock), await addStore(store, clock)];
    const other = await underWay(store.db, (tx) =>
      stampOrder(tx, held.standing.tenant, clock.now(), 1),
    );
    const requests = [newCreate(held), newCreate(free), newCreate(held), newCreate(free)];
    const created = 'requires_payment_method';
    assert.deepEqual(saidBy(await createAtOnce({ ...store, pipeline }, requests)), [
      null,
      created,
      null,
      created,
    ]);
    await other.commit();
    assert.deepEqual([await intentsOf(held), await intentsOf(free)], [0, 2]);
    assert.deepEqual(await intentsPerKey(requests), [0, 1, 0, 1]);
  });

  test('what is not plain, and writes the rest', async () => {
    const shop = await addStore(store, clock);
    const other = await addStore(store, clock);
    const { terminalId } = await addTerminal(shop.db, shop.standing, clock.now());
    await shop.db.query(`update terminals set status = 'inactive' where id = $1`, [terminalId]);
    const expiring = newCreate(shop);
    await createAtOnce({ ...store, pipeline }, [expiring, newCreate(shop, { orderId: 'KNOWN' })]);
    clock.advance(keyExpiry(clock.now()).getTime() - clock.now().getTime());
    const requests = [
      newCreate(shop),
      newCreate(shop, { terminalId }),
      newCreate(shop, { terminalId: other.terminalId }),
      newCreate(shop, { terminalId: 'tml_none' }),
      newCreate(shop, { orderId: 'KNOWN' }),
      { ...expiring, now: clock.now() },
      newCreate(shop, { orderId: 'TWICE' }),
      newCreate(shop, { orderId: 'TWICE' }),
      newCreate(
        shop,
        {},
        { standing: { ...shop.standing, kybApproved: false, merchantNumber: null } },
      ),
      newCreate(shop, { orderId: 'LAST' }),
    ];
    const before = await intentsOf(shop);
    const said = saidBy(await createAtOnce({ ...store, pipeline }, requests));
    const plain = [0, 6, 9];
    const expected = requests.map((_, item) =>
      plain.includes(item) ? 'requires_payment_method' : null,
    );
    assert.deepEqual(said, expected);
    assert.equal(await intentsOf(shop), before + plain.length);
    const kept = requests.map((_, item) => (plain.includes(item) || item === 5 ? 1 : 0));
    assert.deepEqual(await intentsPerKey(requests), kept);
  });

  test('an account that another process stamped later than the request', async () => {
    const [early, late] = [await addStore(store, clock), await addStore(store, clock)];
    await createAtOnce({ ...store, pipeline, clocks: new AccountClocks() }, [newCreate(late)]);
    const past = addMs(clock.now(), -1);
    const slow = { ...store, pipeline, clock: { now: () => past } };
    const requests = [newCreate(late), newCreate(early)];
    assert.deepEqual(saidBy(await createAtOnce(slow, requests)), [null, 'requires_payment_method']);
    assert.deepEqual(await intentsPerKey(requests), [0, 1]);
  });
});

test('an expired key replays nothing in either way of creating', async () => {
  const ways = [
    (request: CreateRequest) => createAtOnce({ ...store, pipeline }, [request]),
    (request: CreateRequest) => createCarefully(store, [request]),
  ];
  for (const first of ways) {
    const shop = await addStore(store, clock);
    const request = newCreate(shop);
    await first(request);
    const left = keyExpiry(clock.now()).getTime() - clock.now().getTime();
    clock.advance(left - 1);
    const inTime = { ...request, now: clock.now() };
    for (const way of ways) await way(inTime);
    assert.equal(await intentsOf(shop), 1);
    clock.advance(1);
    const late = { ...request, now: clock.now() };
    assert.deepEqual(saidBy(await createAtOnce({ ...store, pipeline }, [late])), [null]);
    const { outcomes } = await createCarefully(store, [late]);
    assert.deepEqual(
      outcomes.map(({ created }) => created),
      [true],
    );
    assert.equal(await intentsOf(shop), 2);
  }
});

test('no place is given away twice, whatever was left out of a batch', async () => {
  const shop = await addStore(store, clock);
  const [known, ...more] = Array.from({ length: 8 }, () => newCreate(shop));
  assert.ok(known !== undefined);
  await createAtOnce({ ...store, pipeline }, [known]);
  const unknown = newCreate(shop, { terminalId: 'tml_none' });
  await createAtOnce({ ...store, pipeline }, [known, unknown, ...more.slice(0, 3), unknown]);
  await createAtOnce({ ...store, pipeline }, more.slice(3));
  const rows = await store.db.query<{ position: bigint }>(
    `select position from payment_intents where account_id = $1
     union all select position from events where account_id = $1`,
    [shop.standing.tenant.accountId],
  );
  assert.equal(rows.length, 16);
  assert.equal(new Set(rows.map((row) => row.position)).size, 16);
  const last = await positionOf(shop);
  assert.ok(rows.every(({ position }) => position <= last));
});

describe('a known key', () => {
  test('is answered from its row, and a batch of such takes no place', async () => {
    const shop = await addStore(store, clock);
    const [done, running] = [newCreate(shop, { amount: 77 }), newCreate(shop)];
    await createAtOnce({ ...store, pipeline }, [done]);
    await store.db.transaction((tx) => claim(tx, running.idempotency, clock.now()));
    const before = await positionOf(shop);
    const other = { fingerprint: hashSecret('another body') };
    const requests = [done, running].flatMap((request) => [
      request,
      { ...request, idempotency: { ...request.idempotency, ...other } },
    ]);
    const answers = [];
    for (const request of requests) {
      const { outcomes, deliveries } = await createAtOnce({ ...store, pipeline }, [request]);
      assert.equal(deliveries, 0);
      const [outcome] = outcomes;
      assert.equal(outcome?.created, false);
      answers.push(see(outcome.answer));
    }
    assert.deepEqual(
      answers.map(({ said }) => said),
      [
        'requires_payment_method',
        'idempotency_key_reused',
        'idempotency_request_in_progress',
        'idempotency_key_reused',
      ],
    );
    assert.deepEqual([answers[0]?.replayed, answers[0]?.body.amount], [true, 77]);
    assert.deepEqual(saidBy(await createAtOnce({ ...store, pipeline }, [done, running])), [
      'requires_payment_method',
      'idempotency_request_in_progress',
    ]);
    assert.equal(await positionOf(shop), before);
    assert.equal(await intentsOf(shop), 1);
  });

  test('of another caller is not this one', async () => {
    const shop = await addStore(store, clock);
    const first = newCreate(shop);
    const idempotency = { ...first.idempotency, caller: shop.terminalId };
    await createAtOnce({ ...store, pipeline }, [first]);
    const { outcomes } = await createAtOnce({ ...store, pipeline }, [
      newCreate(shop, {}, { idempotency }),
    ]);
    assert.equal(outcomes[0]?.created, true);
  });

  test('that somebody uses meanwhile stops its batch; then each is done once', async () => {
    const shop = await addStore(store, clock);
    const met = newCreate(shop);
    const requests = [newCreate(shop), met, newCreate(shop)];
    const answer = { status: 409, body: '{"error":{"code":"met_another"}}' };
    const holdKey = (request: CreateRequest) =>
      underWay(store.db, async (tx) => {
        await claim(tx, request.idempotency, clock.now());
        await complete(tx, request.idempotency, answer, null);
      });
    const waitsForKey = () => waitingForLocks(store.db, 1);
    const other = await holdKey(met);
    const writing = createAtOnce({ ...store, pipeline }, requests);
    await waitsForKey();
    await other.commit();
    assert.deepEqual(saidBy(await writing), [null, null, null]);
    assert.deepEqual([await intentsOf(shop), await positionOf(shop)], [0, 0n]);

    const again = [newCreate(shop), newCreate(shop), newCreate(shop)];
    const [, raced] = again;
    assert.ok(raced !== undefined);
    const quicker = await holdKey(raced);
    const creating = Promise.all(again.map(createIntentCreator(store)));
    await waitsForKey();
    await quicker.commit();
    const seen = (await creating).map(see);
    assert.deepEqual(
      seen.map(({ said, replayed }) => [said, replayed]),
      [
        ['requires_payment_method', false],
        ['met_another', true],
        ['requires_payment_method', false],
      ],
    );
    assert.deepEqual(await intentsPerKey(again), [1, 0, 1]);
  });
});
