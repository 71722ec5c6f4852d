import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { addEndpoint, deliveriesOf } from '#testkit/fixtures/webhooks/webhook-endpoints.ts';
import { openBench } from '#testkit/fixtures/webhooks/webhooks.ts';
import { type Received, startReceiver } from '#testkit/network/webhook-receiver.ts';
import { checkReceiver } from '#webhooks/check-receiver.ts';

const TOLERANCE_S = 300;

/** The checks that a test receiver makes before it accepts an event. */
interface Care {
  readonly signature: boolean;
  readonly time: boolean;
}

const bench = openForTests(openBench);

function isGood({ headers, body }: Received, secret: string, care: Care): boolean {
  const header = String(headers['service-signature']);
  const [, seconds = '', sent = ''] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(header) ?? [];
  const own = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
  if (care.signature && own !== sent) return false;
  return !care.time || Math.abs(Date.now() / 1000 - Number(seconds)) <= TOLERANCE_S;
}

/** Runs the check against a receiver; `care` lists what that receiver verifies. */
async function check(care: Care | 'refuses everything') {
  const receiver = await startReceiver();
  const { endpoint, secret } = await addEndpoint(bench, receiver.url);
  receiver.answer((received, response) => {
    const takes = care !== 'refuses everything' && isGood(received, secret, care);
    response.writeHead(takes ? 204 : 401).end();
  });
  const checked = await checkReceiver(bench, bench.tenant, endpoint.id, bench.clock);
  await receiver.close();
  assert.ok(!isRefusal(checked));
  const deliveries = await deliveriesOf(bench, endpoint.id);
  return { checked, deliveries, received: receiver.received };
}

test('a careful receiver gets one valid event and two that it refuses', async () => {
  const { checked, deliveries, received } = await check({ signature: true, time: true });
  assert.equal(checked.verdict, 'checks_signatures');
  assert.deepEqual([checked.forged?.taken, checked.old?.taken], [false, false]);
  assert.equal(checked.forged?.response_status, 401);
  assert.equal(received.length, 3);
  const ids = received.map(({ headers }) => headers['service-event-id']);
  assert.equal(new Set(ids).size, 3, 'a known id would be accepted without checking the signature');
  assert.deepEqual(
    deliveries.map(({ status }) => status),
    ['succeeded'],
    'invalid events are no deliveries of the merchant',
  );
});

test('a receiver that checks nothing is detected', async () => {
  const { checked } = await check({ signature: false, time: false });
  assert.equal(checked.verdict, 'takes_forged');
  assert.equal(checked.forged?.taken, true);
});

test('a receiver that ignores the timestamp is detected', async () => {
  const { checked } = await check({ signature: true, time: false });
  assert.equal(checked.verdict, 'takes_old');
  assert.deepEqual([checked.forged?.taken, checked.old?.taken], [false, true]);
});

test('a receiver that refuses the valid event gets no other', async () => {
  const { checked, received } = await check('refuses everything');
  assert.equal(checked.verdict, 'not_reached');
  assert.deepEqual([checked.forged, checked.old], [null, null]);
  assert.equal(received.length, 1);
});

test("another account's endpoint is refused", async () => {
  const checked = await checkReceiver(bench, bench.tenant, 'we_nothing', bench.clock);
  assert.ok(isRefusal(checked));
});
