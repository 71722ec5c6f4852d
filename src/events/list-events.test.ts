import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { DAY_MS } from '#core/durations.ts';
import type { Page } from '#db/paging.ts';
import type { EventType } from '#events/event-types.ts';
import { type EventFilter, getEvent, listEvents } from '#events/list-events.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { addEndpoint } from '#testkit/fixtures/webhooks/webhook-endpoints.ts';
import { writeTestEvents } from '#testkit/fixtures/webhooks/webhook-events.ts';
import {
  openBench,
  type WebhookBench,
  withNewAccount,
} from '#testkit/fixtures/webhooks/webhooks.ts';

const clock = new FakeClock();
let bench: WebhookBench;

const shared = openForTests(() => openBench({ clock }));
beforeEach(async () => {
  bench = await withNewAccount(shared);
});

const everything: Page = { limit: 100, after: null, createdGte: null, createdLt: null };

interface Listed {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
}

async function list(filter: Partial<EventFilter> = {}, page: Partial<Page> = {}) {
  const search = {
    tenant: bench.tenant,
    filter: { type: null, deliverySuccess: null, ...filter },
    now: clock.now(),
  };
  const rows = await listEvents(bench.db, search, { ...everything, ...page });
  return rows.map((row) => ({ ...(JSON.parse(row.body) as Listed), ...row }));
}

const TYPES: readonly EventType[] = [
  'payment_intent.created',
  'payment_intent.succeeded',
  'payment.succeeded',
  'refund.created',
  'payment.refunded',
];

async function writeAll(): Promise<void> {
  for (const type of TYPES) {
    clock.advance(1_000);
    await writeTestEvents(bench, 2, { type });
  }
}

async function finish(status: 'succeeded' | 'failed', types: readonly EventType[]): Promise<void> {
  await bench.db.query(
    `with done as (
       delete from webhook_due where account_id = $1 and event_type = any($2) returning *)
     insert into webhook_deliveries
       (endpoint_id, status, event_created, event_position, id, account_id, livemode, event_id,
        event_type, created, updated, attempt)
     select endpoint_id, $3, event_created, event_position, id, account_id, livemode, event_id,
       event_type, created, updated, 1 from done`,
    [bench.tenant.accountId, types, status],
  );
}

describe('the list of events', () => {
  test('is newest first and its sequence increases with every event', async () => {
    await writeAll();
    const events = await list();
    assert.equal(events.length, 10);
    const sequences = events.map((event) => event.sequence);
    assert.deepEqual(
      sequences,
      [...new Set(sequences)].sort((a, b) => b - a),
    );
    assert.deepEqual(
      events.map((event) => event.type),
      [...TYPES].reverse().flatMap((type) => [type, type]),
    );
  });

  test('takes a type or a family, and a family is not a prefix', async () => {
    await writeAll();
    const types = async (type: string) =>
      (await list({ type })).map((event) => event.type).reverse();
    assert.deepEqual(await types('refund.created'), ['refund.created', 'refund.created']);
    assert.deepEqual(
      new Set(await types('payment.*')),
      new Set(['payment.succeeded', 'payment.refunded']),
    );
    assert.deepEqual(
      await types('payment_intent.*'),
      TYPES.slice(0, 2).flatMap((type) => [type, type]),
    );
    assert.deepEqual(await types('terminal.*'), []);
  });

  for (const filter of [
    {},
    { type: 'payment.*' },
    { deliverySuccess: false },
    { deliverySuccess: true, type: 'payment.*' },
  ]) {
    test(`pages ${JSON.stringify(filter)} without gaps or repeats as events come`, async () => {
      await addEndpoint(bench, 'http://127.0.0.1:8080/');
      await writeAll();
      if ('deliverySuccess' in filter) {
        await finish('succeeded', ['payment.succeeded']);
        await finish('failed', ['payment_intent.created', 'refund.created']);
      }
      const whole = (await list(filter)).map((event) => event.id);
      assert.ok(whole.length >= 2);
      const paged: string[] = [];
      let after: Page['after'] = null;
      for (;;) {
        const rows = await list(filter, { limit: 1, after });
        await writeTestEvents(bench, 1, { type: 'payment.succeeded' });
        const [first] = rows;
        if (first === undefined) break;
        paged.push(first.id);
        after = first;
        if (rows.length === 1) break;
      }
      assert.deepEqual(paged, whole);
    });
  }

  test('respects created_gte and created_lt', async () => {
    const createdGte = new Date(clock.now().getTime() + 2_000);
    const createdLt = new Date(clock.now().getTime() + 4_000);
    await writeAll();
    const events = await list({}, { createdGte, createdLt });
    assert.deepEqual(
      events.map((event) => event.type),
      [TYPES[2], TYPES[2], TYPES[1], TYPES[1]],
    );
    assert.deepEqual(await list({ deliverySuccess: false }, { createdGte, createdLt }), []);
  });

  test('with delivery_success=false shows pending and failed events once', async () => {
    await addEndpoint(bench, 'http://127.0.0.1:8080/a');
    await addEndpoint(bench, 'http://127.0.0.1:8080/b', { enabledEvents: ['payment.*'] });
    await writeAll();
    await finish('succeeded', ['payment_intent.created', 'payment_intent.succeeded']);
    await finish('failed', ['refund.created']);
    const failing = (await list({ deliverySuccess: false })).map((event) => event.type);
    assert.deepEqual(failing, [
      'payment.refunded',
      'payment.refunded',
      'refund.created',
      'refund.created',
      'payment.succeeded',
      'payment.succeeded',
    ]);
    const fine = (await list({ deliverySuccess: true })).map((event) => event.type);
    assert.equal(fine.length, 4);
    assert.ok(fine.every((type) => type.startsWith('payment_intent.')));
  });

  test('ends after 30 days, in the list and by id', async () => {
    await writeTestEvents(bench);
    const [event] = await list();
    assert.ok(event);
    const get = () => getEvent(bench.db, bench.tenant, { id: event.id, now: clock.now() });
    clock.advance(30 * DAY_MS);
    assert.equal((await list()).length, 1);
    assert.equal(isRefusal(await get()), false);
    clock.advance(1);
    assert.equal((await list()).length, 0);
    assert.equal(isRefusal(await get()), true);
  });

  test('returns an event by its id as it is stored, to its account and mode alone', async () => {
    await writeTestEvents(bench);
    const [event] = await list();
    assert.ok(event);
    const get = (tenant: WebhookBench['tenant'], id = event.id) =>
      getEvent(bench.db, tenant, { id, now: clock.now() });
    const result = await get(bench.tenant);
    assert.equal(!isRefusal(result) && result.body, event.body);
    const other = (await withNewAccount(bench)).tenant;
    for (const answer of [
      await get(other),
      await get({ ...bench.tenant, livemode: true }),
      await get(
        bench.tenant,
        event.id.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      ),
      await get(bench.tenant, 'evt_0'),
    ]) {
      assert.ok(isRefusal(answer) && answer.code === 'resource_missing');
    }
  });
});
