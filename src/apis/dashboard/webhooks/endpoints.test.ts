import assert from 'node:assert/strict';
import { test } from 'node:test';
import { caller } from '#testkit/apis/api-client.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addOwner, signInAs, stoppableNews } from '#testkit/apis/people.ts';
import type { AuditEntry, PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

const OWNER = 'owner@endpoints.test';
const ADDRESS = 'https://93.184.216.34/hook';

let owner: PersonClient;
let account = '';

const server = openForTests(startDashboardServer, async () => {
  account = (await addOwner(server, OWNER)).accountId;
  owner = await signInAs(server, OWNER);
});

const path = (rest: string) => `/accounts/${account}/${rest}`;

async function addEndpoint(): Promise<string> {
  const body = { url: ADDRESS, enabled_events: ['*'] };
  const made = await owner.post(path('test/webhook_endpoints'), body);
  assert.equal(made.status, 201, made.text);
  return path(`test/webhook_endpoints/${made.body.id}`);
}

test('a change made from a stale version is refused, and nothing is saved', async () => {
  const endpoint = await addEndpoint();
  assert.equal((await owner.get(endpoint)).body.version, 1);
  const saved = await owner.patch(endpoint, { version: 1, description: 'the first' });
  assert.deepEqual([saved.status, saved.body.version], [200, 2], saved.text);
  const stale = await owner.patch(endpoint, { version: 1, description: 'the second' });
  assert.equal(stale.status, 409);
  assert.deepEqual(
    [stale.body.error?.code, stale.body.error?.param],
    ['version_conflict', 'version'],
  );
  const { description, version } = (await owner.get(endpoint)).body;
  assert.deepEqual([description, version], ['the first', 2]);
  const again = await owner.patch(endpoint, { version: 2, description: 'the second' });
  assert.equal(again.body.version, 3);
});

test('of two changes from one version, one is saved', async () => {
  const endpoint = await addEndpoint();
  const notes = ['one', 'other'];
  const answers = await Promise.all(
    notes.map((description) => owner.patch(endpoint, { version: 1, description })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  const winner = notes[answers.findIndex(({ status }) => status === 200)];
  assert.equal((await owner.get(endpoint)).body.description, winner);
});

test('a change names the version that it was made from', async () => {
  const endpoint = await addEndpoint();
  const bare = await owner.patch(endpoint, { status: 'disabled' });
  assert.deepEqual([bare.status, bare.body.error?.param], [400, 'version']);
});

test("the audit log has an endpoint's state before and after", async () => {
  const endpoint = await addEndpoint();
  const id = endpoint.split('/').at(-1);
  await owner.patch(endpoint, { version: 1, status: 'disabled', enabled_events: ['refund.*'] });
  const entries = await owner.list<AuditEntry>(path('audit_log'));
  const entry = entries.find(({ object_id }) => object_id === id);
  const same = { url: ADDRESS, description: null };
  assert.deepEqual(
    { ...entry },
    {
      ...entry,
      action: 'webhook_endpoint.updated',
      before: { ...same, enabled_events: ['*'], status: 'enabled' },
      after: { ...same, enabled_events: ['refund.*'], status: 'disabled' },
    },
  );
});

const mailsToOwner = () => stoppableNews(server, OWNER);

async function proveFactor(): Promise<void> {
  await server.db.query('update sessions set second_factor_at = $1', [server.clock.now()]);
}

/** Advances the clock until the verified factor is too old. */
const goStale = () => server.clock.advance(5 * 60_000);

async function addLiveEndpoint() {
  await proveFactor();
  const body = { url: ADDRESS, enabled_events: ['*'] };
  const made = await owner.post(path('live/webhook_endpoints'), body);
  assert.equal(made.status, 201, made.text);
  return { secret: made.body.secret, at: path(`live/webhook_endpoints/${made.body.id}`) };
}

test('a live endpoint is redirected with a fresh factor only, and owners are mailed', async () => {
  const { at, secret } = await addLiveEndpoint();
  const takeovers = [
    {
      send: () =>
        owner.post(path('live/webhook_endpoints'), { url: ADDRESS, enabled_events: ['*'] }),
      says: 'Create a webhook endpoint. The endpoint sends events to 93.184.216.34.',
    },
    {
      send: () => owner.patch(at, { version: 1, url: 'https://93.184.216.35/thief' }),
      says:
        'Change a webhook endpoint. The endpoint sent events to 93.184.216.34 and now sends them ' +
        'to 93.184.216.35.',
    },
    {
      send: () => owner.post(`${at}/rotate_secret`),
      says:
        'Rotate the signing secret of a webhook endpoint. It is the endpoint for 93.184.216.35. ' +
        'The old secret signs beside the new one until UNTIL, and then ends.',
    },
  ];
  for (const { send, says } of takeovers) {
    goStale();
    const before = (await mailsToOwner()).length;
    const refused = await send();
    assert.equal(refused.body.error?.code, 'second_factor_required', `${says}: ${refused.text}`);
    assert.equal((await mailsToOwner()).length, before, says);
    await proveFactor();
    const done = await send();
    assert.ok(done.status < 300, done.text);
    const until = new Date(server.clock.now().getTime() + 24 * 3_600_000).toISOString();
    const expected = `${OWNER} made a change in the account “Some Shop”: ${says}`;
    assert.deepEqual((await mailsToOwner()).slice(before), [expected.replace('UNTIL', until)]);
  }
  goStale();
  const { body } = await owner.get(at);
  assert.equal(body.url, 'https://93.184.216.35/thief');
  assert.equal(JSON.stringify(await mailsToOwner()).includes(String(secret)), false);
});

test('deleting a live endpoint needs no factor, and owners are mailed', async () => {
  const { at } = await addLiveEndpoint();
  const before = (await mailsToOwner()).length;
  goStale();
  assert.equal((await owner.delete(at)).status, 200);
  const [mail = '', ...more] = (await mailsToOwner()).slice(before);
  assert.match(mail, /: Delete a webhook endpoint\. It sent events to 93\.184\.216\.34\.$/);
  assert.deepEqual(more, []);
});

test('endpoint, entry and mail are one transaction', async () => {
  await mailsToOwner();
  const { at } = await addLiveEndpoint();
  const rows = await server.db.query<{ xmins: number; parts: number }>(
    `select count(distinct x)::int as xmins, count(*)::int as parts from (
       select xmin::text as x from webhook_endpoints where id = $1
       union all select xmin::text from audit_log where object_id = $1
       union all select xmin::text from mail_outbox where sent_at is null) written`,
    [at.split('/').at(-1)],
  );
  assert.deepEqual(rows, [{ xmins: 1, parts: 3 }]);
});

test('test mode needs no factor and sends no mail', async () => {
  const before = (await mailsToOwner()).length;
  goStale();
  const endpoint = await addEndpoint();
  const changed = await owner.patch(endpoint, { version: 1, url: 'https://93.184.216.35/' });
  assert.equal(changed.status, 200, changed.text);
  assert.equal((await owner.post(`${endpoint}/rotate_secret`)).status, 200);
  assert.equal((await owner.delete(endpoint)).status, 200);
  assert.equal((await mailsToOwner()).length, before);
});

test('an API key with webhooks:write can change live endpoints without a person', async () => {
  await server.db.query("update accounts set kyb_status = 'approved' where id = $1", [account]);
  await proveFactor();
  const made = await owner.post(path('live/api_keys'), { name: 'S', scopes: ['webhooks:write'] });
  const api = caller(server.merchantApi, String(made.body.secret));
  const before = (await mailsToOwner()).length;
  const url = '/webhook_endpoints';
  const added = await api.post(url, { url: ADDRESS, enabled_events: ['*'] });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  const at = `${url}/${added.body.id}`;
  const changes = [
    api.send('PATCH', at, {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ url: 'https://93.184.216.35/' }),
    }),
    api.post(`${at}/rotate_secret`),
  ];
  for (const { status } of await Promise.all(changes)) assert.equal(status, 200);
  assert.equal((await api.send('DELETE', at)).status, 200);
  assert.equal((await mailsToOwner()).length, before);
});
