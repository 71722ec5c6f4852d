import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type AnswerBody, startTestApi, type TestApi } from '#testkit/apis/api.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import { startReceiver, type TestReceiver } from '#testkit/network/webhook-receiver.ts';

const ENDPOINTS = '/v1/webhook_endpoints';

/**
 * These tests send requests over HTTP and check every response against the OpenAPI document. No
 * worker runs.
 */
describe('the webhook routes', () => {
  let api: TestApi;
  let receiver: TestReceiver;
  let endpoint: AnswerBody;

  before(async () => {
    api = await startTestApi({ env: { WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' } });
    receiver = await startReceiver();
    const body = { url: receiver.url, enabled_events: ['*'], description: 'Orders' };
    endpoint = (await api.call({ path: ENDPOINTS, body })).body;
  });
  after(async () => {
    await api.close();
    await receiver.close();
  });

  const get = (path: string) => api.call({ path });
  const post = (path: string, body: object = {}) => api.call({ path, method: 'POST', body });

  test('the secret is in the responses of creation and rotation, and in no other', async () => {
    assert.match(String(endpoint.secret), /^whsec_/);
    const path = `${ENDPOINTS}/${endpoint.id}`;
    const rotated = await post(`${path}/rotate_secret`);
    assert.match(String(rotated.body.secret), /^whsec_/);
    assert.notEqual(rotated.body.secret, endpoint.secret);
    const changed = await api.call({ path, method: 'PATCH', body: { description: 'All' } });
    for (const answer of [await get(path), await get(ENDPOINTS), changed]) {
      assert.equal(answer.status, 200);
      assert.equal(answer.text.includes('whsec_'), false);
    }
    assert.equal(changed.body.description, 'All');
  });

  test('a test request returns its delivery, which can be read and listed', async () => {
    const path = `${ENDPOINTS}/${endpoint.id}`;
    const { status, body } = await post(`${path}/test`);
    assert.equal(status, 200);
    assert.equal(body.object, 'webhook_delivery');
    assert.equal(body.status, 'succeeded');
    assert.equal(body.response_status, 200);
    assert.deepEqual((await get(`/v1/webhook_deliveries/${body.id}`)).body, body);
    const listed = await get(`${path}/deliveries?status=succeeded&limit=1`);
    assert.deepEqual(listed.body.data[0], body);
    const [got] = receiver.received.slice(-1);
    const event = await get(`/v1/events/${body.event}`);
    assert.equal(event.text, got?.body.toString());
    const again = await post(`/v1/webhook_deliveries/${body.id}/retry`);
    assert.equal(again.body.status, 'pending');
    assert.equal(again.body.attempt, 1);
  });

  test('deliveries are paged; a cursor is valid for one endpoint and one filter', async () => {
    const body = { url: receiver.url, enabled_events: ['ping'] };
    const { id } = (await api.call({ path: ENDPOINTS, body })).body;
    for (let i = 0; i < 3; i++) await post(`${ENDPOINTS}/${id}/test`);
    const list = `${ENDPOINTS}/${id}/deliveries`;
    const first = (await get(`${list}?limit=2`)).body;
    assert.equal(first.data.length, 2);
    assert.equal(first.has_more, true);
    const cursor = encodeURIComponent(first.next_cursor ?? '');
    const rest = (await get(`${list}?limit=2&cursor=${cursor}`)).body;
    assert.equal(rest.data.length, 1);
    assert.equal(rest.next_cursor, null);
    for (const other of [
      `${list}?status=succeeded&cursor=${cursor}`,
      `${ENDPOINTS}/${endpoint.id}/deliveries?cursor=${cursor}`,
    ]) {
      const refused = await get(other);
      assert.equal(refused.status, 400);
      assert.equal(refused.body.error.code, 'cursor_invalid');
    }
  });

  test('a replay is accepted, and can be followed', async () => {
    const since = new Date(Date.now() - 60_000).toISOString();
    const path = `${ENDPOINTS}/${endpoint.id}/replay`;
    const { status, body } = await post(path, { since, types: ['payment.*'] });
    assert.equal(status, 202);
    assert.equal(body.status, 'running');
    assert.deepEqual((await get(`/v1/webhook_replays/${body.id}`)).body, body);
    const late = await post(path, { since: '2999-01-01T00:00:00Z' });
    assert.equal(late.body.error.param, 'since');
    // A leap second has the right format, but the server's clock cannot represent it.
    const leap = await post(path, { since: '2026-06-30T23:59:60Z' });
    assert.equal(leap.status, 400);
  });

  for (const [name, body, code, param] of [
    ['no url', { enabled_events: ['*'] }, 'parameter_missing', 'url'],
    ['no types', { url: 'https://127.0.0.1/' }, 'parameter_missing', 'enabled_events'],
    ['an unknown field', { secret: 'whsec_x' }, 'parameter_unknown', 'secret'],
    ['a private address', { url: 'https://10.0.0.1/' }, 'url_not_allowed', 'url'],
    ['an unknown type', { enabled_events: ['a.b'] }, 'parameter_invalid', 'enabled_events.0'],
    ['no type at all', { enabled_events: [] }, 'parameter_invalid', 'enabled_events'],
    ['a long description', { description: 'x'.repeat(501) }, 'parameter_invalid', 'description'],
  ] as const) {
    test(`creating with ${name} is refused`, async () => {
      const whole = { url: 'https://127.0.0.1/', enabled_events: ['*'], ...body };
      const sent = code === 'parameter_missing' ? body : whole;
      const refused = await api.call({ path: ENDPOINTS, body: sent });
      assert.equal(refused.status, 400);
      assert.equal(refused.body.error.code, code);
      assert.equal(refused.body.error.param, param);
    });
  }

  test('a live endpoint needs https, and exists in live mode only', async () => {
    const merchant = await api.addMerchant({ live: true });
    const { secret: key } = await api.addKey({ accountId: merchant.accountId, livemode: true });
    const create = (url: string) =>
      api.call({ path: ENDPOINTS, key, body: { url, enabled_events: ['*'] } });
    assert.equal((await create(receiver.url)).body.error.code, 'url_not_allowed');
    const live = await create('https://127.0.0.1/');
    assert.equal(live.body.livemode, true);
    assert.equal(live.body.network, 'mainnet');
    assert.equal((await get(`${ENDPOINTS}/${live.body.id}`)).status, 404);
  });

  test('keys without the scopes get 403', async () => {
    const tenant = { accountId: api.merchant.accountId, livemode: false };
    const { secret: reader } = await api.addKey(tenant, { scopes: ['webhooks:read'] });
    assert.equal((await api.call({ path: ENDPOINTS, key: reader })).status, 200);
    const body = { url: receiver.url, enabled_events: ['*'] };
    const refused = await api.call({ path: ENDPOINTS, key: reader, body });
    assert.equal(refused.status, 403);
    assert.equal(refused.body.error.code, 'scope_missing');
    const { secret: none } = await api.addKey(tenant, { scopes: ['payments:read'] });
    assert.equal((await api.call({ path: ENDPOINTS, key: none })).status, 403);
    assert.equal((await api.call({ path: '/v1/events', key: none })).status, 403);
  });

  test('a deleted endpoint disappears with its deliveries', async () => {
    const body = { url: receiver.url, enabled_events: ['*'] };
    const { id } = (await api.call({ path: ENDPOINTS, body })).body;
    const { body: delivery } = await post(`${ENDPOINTS}/${id}/test`);
    const deleted = await api.call({ path: `${ENDPOINTS}/${id}`, method: 'DELETE' });
    assert.deepEqual(deleted.body, { id, object: 'webhook_endpoint', deleted: true });
    for (const path of [`${ENDPOINTS}/${id}`, `/v1/webhook_deliveries/${delivery.id}`]) {
      assert.equal((await get(path)).body.error.code, 'resource_missing');
    }
    const again = await api.call({ path: `${ENDPOINTS}/${id}`, method: 'DELETE' });
    assert.equal(again.status, 404);
  });

  test('the list of events accepts its own filters and refuses others', async () => {
    await post(`${ENDPOINTS}/${endpoint.id}/test`);
    const pings = await eventually('a ping', async () => {
      const { body } = await get('/v1/events?type=ping&limit=1');
      return body.data.length === 1 ? body : undefined;
    });
    assert.equal(pings.data[0]?.object, 'event');
    assert.equal((await get('/v1/events?delivery_success=false&type=refund.*')).status, 200);
    assert.equal((await get('/v1/events?delivery_success=maybe')).status, 400);
    assert.equal((await get('/v1/events?type=payment')).body.error.param, 'type');
    assert.equal((await get('/v1/events/evt_0')).status, 404);
  });
});
