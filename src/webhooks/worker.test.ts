import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { startReceiver, type TestReceiver } from '#testing/webhook-receiver.ts';
import {
  addEndpoint,
  eventually,
  openBench,
  type WebhookBench,
  writeTestEvents,
} from '#testing/webhooks.ts';
import { selectDeliveries } from '#webhooks/delivery-queries.ts';

const FIRST_PAGE = { limit: 100, after: null, createdGte: null, createdLt: null };

describe('the webhook worker', () => {
  let bench: WebhookBench;
  let receiver: TestReceiver;

  before(async () => {
    bench = await openBench();
    receiver = await startReceiver();
    bench.startWorker();
  });
  after(async () => {
    await bench.close();
    await receiver.close();
  });

  test('delivers the stored event byte for byte, signed in both forms', async () => {
    const { endpoint, secret } = await addEndpoint(bench, `${receiver.url}/hook?a=1`);
    await writeTestEvents(bench);
    const [got] = await receiver.waitFor(1);
    assert.ok(got);
    const [stored] = await bench.db.query<{ id: string; body: string }>(
      'select id, body from events',
    );
    assert.ok(stored);
    assert.equal(got.body.toString(), stored.body);
    assert.equal(got.path, '/hook?a=1');
    assert.equal(got.headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(got.headers['service-event-id'], stored.id);
    assert.equal(got.headers['service-event-type'], 'terminal.created');
    assert.equal(got.headers['service-delivery-attempt'], '1');

    const stripe = new Stripe('sk_test_unused');
    const signature = String(got.headers['service-signature']);
    const event = stripe.webhooks.constructEvent(got.body, signature, secret);
    assert.equal(event.id, stored.id);
    assert.throws(() => stripe.webhooks.constructEvent(`${got.body} `, signature, secret));
    const verified = new Webhook(secret).verify(
      got.body.toString(),
      got.headers as Record<string, string>,
    );
    assert.equal((verified as { id: string }).id, stored.id);

    const delivered = await eventually('recorded', async () => {
      const rows = await selectDeliveries(
        bench.db,
        { endpointId: endpoint.id, status: 'succeeded' },
        FIRST_PAGE,
      );
      return rows[0];
    });
    assert.equal(delivered.id, got.headers['service-delivery-id']);
    assert.equal(delivered.response_status, 200);
    assert.equal(delivered.response_body, 'ok');
    assert.equal(delivered.attempt, 1);
    const due = await bench.db.query('select from webhook_due');
    assert.equal(due.length, 0);
  });
});
