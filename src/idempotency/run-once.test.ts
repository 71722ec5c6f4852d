import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, answerWith, type Refusal, refuse } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import type { ErrorCode } from '#core/error-codes.ts';
import type { Tx } from '#db/database.ts';
import { dropExpiredKeys, keyExpiry } from '#idempotency/expire-keys.ts';
import { selectKey, updateCompleted, updateWaiting } from '#idempotency/key-queries.ts';
import type { IdempotentRequest } from '#idempotency/request-fingerprint.ts';
import type { Done } from '#idempotency/run-once-per-key.ts';
import { findReplay, runOnce } from '#idempotency/run-once-per-key.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { waitingForLocks } from '#testkit/fixtures/core/open-transactions.ts';
import { holdKey } from '#testkit/fixtures/db/idempotency-keys.ts';
import { newRequest, openStore } from '#testkit/fixtures/payments/store.ts';
import { see } from '#testkit/fixtures/payments/store-payments.ts';

const clock = new FakeClock();
const store = openForTests(
  () => openStore({ clock }),
  async () => {
    await store.db.query('create table work (n int)');
  },
);

let runs = 0;

async function work(tx: Tx): Promise<Done> {
  const n = ++runs;
  await tx.query('insert into work values ($1)', [n]);
  return { answer: answerWith(201, { status: 'done', n }), resource: `obj_${n}` };
}

async function traces(): Promise<number> {
  return (await store.db.query('select from work')).length;
}

async function run(
  request: IdempotentRequest | null,
  does: (tx: Tx) => Promise<Done | Refusal> = work,
) {
  const once = { idempotency: request, requestId: 'req_test', now: clock.now() };
  return see((await runOnce(store.db, once, does)).answer);
}

/** Does work that is refused after it has written. */
function refusing(code: ErrorCode) {
  return async (tx: Tx) => {
    await work(tx);
    return refuse(code, 'No.');
  };
}

describe('work with a key', () => {
  test('runs once; its response is replayed byte for byte', async () => {
    const request = newRequest(store);
    const before = await traces();
    const first = await run(request);
    assert.deepEqual([first.status, first.replayed], [201, false]);
    assert.deepEqual(await run(request), { ...first, replayed: true });
    assert.equal(await traces(), before + 1);
  });

  test('runs once when twenty requests send it at the same time', async () => {
    const request = newRequest(store);
    const before = await traces();
    const seen = await Promise.all(Array.from({ length: 20 }, () => run(request)));
    assert.equal(await traces(), before + 1);
    assert.equal(seen.filter(({ replayed }) => !replayed).length, 1);
    assert.equal(new Set(seen.map(({ body }) => body.n)).size, 1);
  });

  test('does not run for another request, which is refused', async () => {
    const request = newRequest(store);
    await run(request);
    const before = await traces();
    const other = { ...request, fingerprint: newRequest(store).fingerprint };
    const seen = await run(other);
    assert.deepEqual([seen.status, seen.said], [409, 'idempotency_key_reused']);
    assert.equal(await traces(), before);
  });

  test('runs separately for each account, mode and caller', async () => {
    const request = newRequest(store);
    const before = await traces();
    const { tenant } = request;
    const others = [
      { ...request, caller: 'tml_1' },
      { ...request, tenant: { ...tenant, livemode: true } },
      { ...request, tenant: { ...tenant, accountId: 'acct_other' } },
    ];
    for (const other of [request, ...others]) assert.equal((await run(other)).replayed, false);
    assert.equal(await traces(), before + 4);
  });

  test('waits for another with the same key, and is never refused for its effects', async () => {
    const request = newRequest(store);
    const gate = Promise.withResolvers<void>();
    const first = run(request, async (tx) => {
      const done = await work(tx);
      await gate.promise;
      return done;
    });
    const began = runs;
    while (runs === began) await sleep(1);
    // If the second request ran, it would be refused because of the first one's effects, and the
    // refusal would free the key.
    const second = run(request, refusing('parameter_invalid'));
    await waitingForLocks(store.db, 1);
    gate.resolve();
    assert.deepEqual(await second, { ...(await first), replayed: true });
  });

  test('that another operation stores meanwhile is found: the work is undone', async () => {
    const request = newRequest(store);
    const before = await traces();
    const seen = await run(request, async (tx) => {
      const done = await work(tx);
      await store.db.transaction((other) => holdKey(other, request, clock.now()));
      return done;
    });
    assert.equal(seen.said, 'idempotency_request_in_progress');
    assert.equal(await traces(), before);
  });

  test('stores nothing when it throws, and the key is free', async () => {
    const request = newRequest(store);
    const before = await traces();
    const breaking = async (tx: Tx): Promise<Done> => {
      await work(tx);
      throw new Error('crash');
    };
    await assert.rejects(run(request, breaking), /crash/);
    assert.equal(await traces(), before);
    assert.equal((await run(request)).replayed, false);
  });

  test('just runs if the client sent no key', async () => {
    const before = await traces();
    await run(null);
    await run(null);
    assert.equal(await traces(), before + 2);
  });
});

describe('a refusal', () => {
  for (const code of ['parameter_invalid', 'scope_missing', 'service_unavailable'] as const) {
    test(`${code} stores nothing, and the key is free`, async () => {
      const request = newRequest(store);
      const before = await traces();
      assert.equal((await run(request, refusing(code))).said, code);
      assert.equal(await traces(), before);
      assert.equal((await run(request)).status, 201);
    });
  }

  for (const code of ['resource_missing', 'kyb_required', 'terminal_inactive'] as const) {
    test(`${code} is the response, and is replayed`, async () => {
      const request = newRequest(store);
      const first = await run(request, async () => refuse(code, 'No.'));
      assert.equal(first.said, code);
      assert.deepEqual(await run(request), { ...first, replayed: true });
    });
  }

  test('without a key undoes the writes of the work', async () => {
    const before = await traces();
    await run(null, refusing('terminal_inactive'));
    assert.equal(await traces(), before);
  });
});

describe('a key', () => {
  test('that has expired replays nothing: the work runs again as new', async () => {
    const request = newRequest(store);
    const first = await run(request);
    clock.advance(keyExpiry(clock.now()).getTime() - clock.now().getTime() - 1);
    assert.deepEqual(await run(request), { ...first, replayed: true });
    clock.advance(1);
    const before = await traces();
    const other = { ...request, fingerprint: newRequest(store).fingerprint };
    const second = await run(other);
    assert.deepEqual([second.status, second.replayed], [201, false]);
    assert.notDeepEqual(second.body, first.body);
    assert.equal(await traces(), before + 1);
    assert.deepEqual(await run(other), { ...second, replayed: true });
  });

  test('that has expired is not found', async () => {
    const request = newRequest(store);
    await run(request);
    const find = () => selectKey(store.db, request.tenant, { ...request, now: clock.now() });
    clock.advance(48 * 3_600_000 - 1);
    assert.equal((await find())?.key, request.key);
    clock.advance(1);
    assert.equal(await find(), undefined);
  });

  test('that has expired is deleted, one that has not stays', async () => {
    const [old, young] = [newRequest(store), newRequest(store)];
    await run(old);
    clock.advance(1_000);
    await run(young);
    const expiry = new FakeClock(addMs(keyExpiry(clock.now()), -1_000));
    await dropExpiredKeys({ db: store.db, clock: expiry });
    const left = await store.db.query<{ key: string }>(
      'select key from idempotency_keys where key = any($1)',
      [[old.key, young.key]],
    );
    assert.deepEqual(left, [{ key: young.key }]);
  });
});

describe('work that continues in a worker', () => {
  const claimed = async (resource: string) => {
    const request = newRequest(store);
    const answer = answerWith(201, { status: 'begun' });
    const seen = await run(request, async () => ({ answer, resource, goesOn: true }));
    assert.equal(seen.said, 'begun');
    return request;
  };
  const ask = async (request: IdempotentRequest): Promise<Answer | Refusal> => {
    const replay = await findReplay(store.db, request, clock.now());
    assert.ok(replay !== null);
    return replay;
  };

  test('holds its key until its object is done, then every request gets the response', async () => {
    const request = await claimed('obj_a');
    assert.equal(see(await ask(request)).said, 'idempotency_request_in_progress');
    const response = { resource: 'obj_a', ...answerWith(200, { status: 'paid' }) };
    await store.db.transaction((tx) => updateWaiting(tx, [response]));
    const seen = see(await ask(request));
    assert.deepEqual([seen.status, seen.said, seen.replayed], [200, 'paid', true]);
  });

  test('gets no response of another object', async () => {
    const request = await claimed('obj_b');
    const response = { resource: 'obj_c', ...answerWith(200, { status: 'paid' }) };
    await store.db.transaction((tx) => updateWaiting(tx, [response]));
    assert.equal(see(await ask(request)).said, 'idempotency_request_in_progress');
  });

  test('has one response: the first that is stored', async () => {
    const request = await claimed('obj_d');
    const keep = (status: string) =>
      store.db.transaction((tx) =>
        updateCompleted(tx, request, { resource: null, ...answerWith(200, { status }) }),
      );
    assert.deepEqual([await keep('paid'), await keep('late')], [true, false]);
    const response = { resource: 'obj_d', ...answerWith(200, { status: 'later' }) };
    await store.db.transaction((tx) => updateWaiting(tx, [response]));
    assert.equal(see(await ask(request)).said, 'paid');
  });
});
