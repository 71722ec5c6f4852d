import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { isRefusal } from '#core/answer.ts';
import { HOUR_MS } from '#core/durations.ts';
import { accepted } from '#testkit/fixtures/core/accepted.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { constructEvent } from '#testkit/fixtures/webhooks/stripe-webhooks.ts';
import {
  addEndpoint,
  openReceivingAccount,
  setEndpointStatus,
} from '#testkit/fixtures/webhooks/webhook-endpoints.ts';
import { drainDeliveries, writeTestEvents } from '#testkit/fixtures/webhooks/webhook-events.ts';
import { openBench, withNewAccount } from '#testkit/fixtures/webhooks/webhooks.ts';
import { createEndpoint } from '#webhooks/create-endpoint.ts';
import { selectEndpoint, selectEndpoints } from '#webhooks/endpoint-queries.ts';
import { renderEndpoint } from '#webhooks/endpoint-rules.ts';
import { rotateSecret } from '#webhooks/rotate-secret.ts';
import { sendTest } from '#webhooks/send-test.ts';
import { changeEndpoint, removeEndpoint } from '#webhooks/update-endpoint.ts';

const clock = new FakeClock(new Date());

const shared = openForTests(
  () => openBench({ clock }),
  async () => {
    shared.startWorker();
  },
);

const input = (url: string, enabledEvents: readonly string[] = ['*']) => ({
  url,
  enabledEvents,
  description: null,
  apiVersion: '2026-09-28',
});

describe('creating a webhook endpoint', () => {
  test('shows the secret once and stores it encrypted', async (t) => {
    const { bench, receiver } = await openReceivingAccount(t, shared);
    const { endpoint, secret } = await addEndpoint(bench, receiver.url);
    const revealed = renderEndpoint(endpoint, secret);
    assert.match(String(revealed.secret), /^whsec_/);
    assert.deepEqual(Object.keys(revealed), [
      'id',
      'object',
      'livemode',
      'network',
      'url',
      'enabled_events',
      'description',
      'api_version',
      'status',
      'disabled_reason',
      'failing_since',
      'created',
      'updated',
      'secret',
    ]);
    const stored = await selectEndpoint(bench.db, bench.tenant, endpoint.id);
    assert.ok(stored);
    assert.equal('secret' in renderEndpoint(stored), false);
    assert.equal(stored.secret.includes(Buffer.from(secret.slice(6), 'base64')), false);
    assert.equal(stored.secret.includes(secret), false);
  });

  test('takes each event type once and names unknown ones by their index', async (t) => {
    const { bench, receiver } = await openReceivingAccount(t, shared);
    const create = (events: readonly string[]) =>
      createEndpoint(bench, bench.tenant, input(receiver.url, events), clock.now());
    const made = accepted(await create(['refund.*', 'payment.succeeded', 'refund.*']));
    assert.deepEqual(made.endpoint.enabled_events, ['refund.*', 'payment.succeeded']);
    for (const wrong of ['payment.unknown', 'unknown.*', '**', '', 'payment', '*.*']) {
      const refusal = await create(['payment.succeeded', wrong]);
      assert.ok(isRefusal(refusal));
      assert.equal(refusal.code, 'parameter_invalid');
      assert.equal(refusal.param, 'enabled_events.1');
    }
    assert.ok(isRefusal(await create([])));
  });

  test('stops at 16 per mode, even for concurrent requests', async (t) => {
    const { bench } = await openReceivingAccount(t, shared);
    const url = 'http://127.0.0.1:8080/';
    const made = await Promise.all(
      Array.from({ length: 24 }, () =>
        createEndpoint(bench, bench.tenant, input(url), clock.now()),
      ),
    );
    const refused = made.filter(isRefusal);
    assert.equal(made.length - refused.length, 16);
    assert.ok(refused.every(({ code }) => code === 'endpoint_limit_reached'));
    const live = { ...bench.tenant, livemode: true };
    const other = await createEndpoint(bench, live, input('https://127.0.0.1/'), clock.now());
    assert.equal(isRefusal(other), false);
    assert.equal((await selectEndpoints(bench.db, live)).length, 1);
  });

  test('the other mode and other accounts do not see it', async (t) => {
    const { bench, receiver } = await openReceivingAccount(t, shared);
    const { endpoint } = await addEndpoint(bench, receiver.url);
    const other = await withNewAccount(bench);
    for (const tenant of [other.tenant, { ...bench.tenant, livemode: true }]) {
      const { id } = endpoint;
      const now = clock.now();
      const status = 'disabled';
      for (const answer of [
        await changeEndpoint(bench, tenant, id, { input: { status }, now }),
        await removeEndpoint(bench, tenant, id, now),
        await rotateSecret(bench, tenant, id, now),
        await sendTest(bench, tenant, id, clock),
      ]) {
        assert.ok(isRefusal(answer));
        assert.equal(answer.code, 'resource_missing');
      }
    }
    assert.equal((await selectEndpoint(bench.db, bench.tenant, endpoint.id))?.status, 'enabled');
  });
});

describe('fan-out', () => {
  test('an endpoint gets exactly the types, families or all that it subscribed to', async (t) => {
    const { bench, receiver } = await openReceivingAccount(t, shared);
    const paths: Record<string, readonly string[]> = {
      all: ['*'],
      exact: ['refund.created', 'terminal.created'],
      family: ['refund.*'],
      other: ['payment.*'],
      both: ['*', 'refund.*', 'refund.created'],
    };
    for (const [name, enabledEvents] of Object.entries(paths)) {
      await addEndpoint(bench, `${receiver.url}/${name}`, { enabledEvents });
    }
    await writeTestEvents(bench, 1, { type: 'refund.created' });
    await writeTestEvents(bench, 1, { type: 'refund.succeeded' });
    await writeTestEvents(bench, 1, { type: 'payment_intent.created' });
    await drainDeliveries(bench);
    const got = Object.keys(paths).map((name) => [
      name,
      receiver.received
        .filter(({ path }) => path === `/${name}`)
        .map(({ headers }) => headers['service-event-type'])
        .sort(),
    ]);
    assert.deepEqual(Object.fromEntries(got), {
      all: ['payment_intent.created', 'refund.created', 'refund.succeeded'],
      exact: ['refund.created'],
      family: ['refund.created', 'refund.succeeded'],
      other: [],
      both: ['payment_intent.created', 'refund.created', 'refund.succeeded'],
    });
  });

  test('test and live mode never mix', async (t) => {
    const { bench, receiver } = await openReceivingAccount(t, shared);
    await addEndpoint(bench, receiver.url);
    const live = { ...bench.tenant, livemode: true };
    await writeTestEvents(bench, 1, { tenant: live });
    await writeTestEvents(bench, 1);
    const [got] = await receiver.waitFor(1);
    assert.equal(JSON.parse(String(got?.body)).livemode, false);
    await drainDeliveries(bench);
    assert.equal(receiver.received.length, 1);
  });
});

describe('rotating a secret', () => {
  test('signs with both for 24 hours, then with the new one alone', async (t) => {
    const { bench, receiver } = await openReceivingAccount(t, shared);
    const { endpoint, secret: old } = await addEndpoint(bench, receiver.url);
    await writeTestEvents(bench);
    await receiver.waitFor(1);
    const { secret: fresh } = accepted(
      await rotateSecret(bench, bench.tenant, endpoint.id, clock.now()),
    );
    assert.notEqual(fresh, old);
    const verify = (index: number, secret: string) => {
      const got = receiver.received[index];
      assert.ok(got);
      const headers = got.headers as Record<string, string>;
      const tolerance = 1e9;
      constructEvent(got.body, String(headers['service-signature']), secret, tolerance);
      const [first] = String(headers['webhook-signature']).split(' ');
      return first;
    };
    await writeTestEvents(bench);
    await receiver.waitFor(2);
    verify(1, fresh);
    verify(1, old);
    const second = receiver.received[1];
    const headers = second?.headers as Record<string, string>;
    for (const secret of [fresh, old]) {
      assert.ok(new Webhook(secret).verify(String(second?.body), headers));
    }
    clock.advance(24 * HOUR_MS + 1);
    await writeTestEvents(bench);
    await receiver.waitFor(3);
    verify(2, fresh);
    assert.throws(() => verify(2, old));
  });
});

describe('updating a webhook endpoint', () => {
  test('changes the given fields and leaves the rest', async (t) => {
    const { bench, receiver } = await openReceivingAccount(t, shared);
    const { endpoint } = await addEndpoint(bench, receiver.url);
    clock.advance(1_000);
    const input = { description: 'Orders', enabledEvents: ['refund.*', 'refund.*'] };
    const change = { input, now: clock.now() };
    const changed = accepted(await changeEndpoint(bench, bench.tenant, endpoint.id, change));
    assert.equal(changed.url, endpoint.url);
    assert.equal(changed.description, 'Orders');
    assert.deepEqual(changed.enabled_events, ['refund.*']);
    assert.equal(changed.status, 'enabled');
    assert.deepEqual(changed.updated, clock.now());
    const none = { input: { description: null }, now: clock.now() };
    const cleared = accepted(await changeEndpoint(bench, bench.tenant, endpoint.id, none));
    assert.equal(cleared.description, null);
    assert.deepEqual(cleared.enabled_events, ['refund.*']);
  });

  test('a new URL is checked like the first, and gets the very next delivery', async (t) => {
    const { bench, receiver } = await openReceivingAccount(t, shared);
    const { endpoint } = await addEndpoint(bench, `${receiver.url}/old`);
    await writeTestEvents(bench);
    await receiver.waitFor(1);
    const change = (url: string) =>
      changeEndpoint(bench, bench.tenant, endpoint.id, { input: { url }, now: clock.now() });
    const refusal = await change('http://10.0.0.1/');
    assert.ok(isRefusal(refusal) && refusal.code === 'url_not_allowed');
    accepted(await change(`${receiver.url}/new`));
    await writeTestEvents(bench);
    await receiver.waitFor(2);
    assert.deepEqual(
      receiver.received.map(({ path }) => path),
      ['/old', '/new'],
    );
  });

  test('disabling sets the reason and enabling clears it', async (t) => {
    const { bench, receiver } = await openReceivingAccount(t, shared);
    const { endpoint } = await addEndpoint(bench, receiver.url);
    const disabled = await setEndpointStatus(bench, endpoint.id, 'disabled');
    assert.equal(disabled.disabled_reason, 'requested_by_merchant');
    await writeTestEvents(bench);
    const enabled = await setEndpointStatus(bench, endpoint.id, 'enabled');
    assert.equal(enabled.disabled_reason, null);
    await writeTestEvents(bench);
    await receiver.waitFor(1);
    await drainDeliveries(bench);
    assert.equal(receiver.received.length, 1);
  });
});
