import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccountWithOwner } from '#accounts/create-account.ts';
import { isRefusal } from '#core/answer.ts';
import { type DashboardServer, startDashboardServer } from '#testing/dashboard-server.ts';
import { PersonClient } from '#testing/person-client.ts';

const OWNER = { email: 'owner@endpoints.test', password: 'correct horse battery' };
const actor = { type: 'system', name: 'test' } as const;

let server: DashboardServer;
let owner: PersonClient;
let account = '';

before(async () => {
  server = await startDashboardServer();
  const person = { ...OWNER, name: 'Ada' };
  const input = { accountName: 'Some Shop', owner: person, actor, now: server.clock.now() };
  const made = await createAccountWithOwner(server.db, input);
  assert.ok(!isRefusal(made));
  account = made.accountId;
  owner = new PersonClient(server.dashboard);
  await owner.post('/session', OWNER);
});

after(() => server.close());

const path = (rest: string) => `/accounts/${account}/${rest}`;

async function addEndpoint(): Promise<string> {
  const body = { url: 'https://93.184.216.34/hook', enabled_events: ['*'] };
  const made = await owner.post(path('test/webhook_endpoints'), body);
  assert.equal(made.status, 201, made.text);
  return path(`test/webhook_endpoints/${made.body.id}`);
}

test('a change that was made from a stale version is refused, and nothing is saved', async () => {
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

test('of two changes from one version one is saved', async () => {
  const endpoint = await addEndpoint();
  const notes = ['one', 'other'];
  const answers = await Promise.all(
    notes.map((description) => owner.patch(endpoint, { version: 1, description })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  const winner = notes[answers.findIndex(({ status }) => status === 200)];
  assert.equal((await owner.get(endpoint)).body.description, winner);
});

test('a change says which version it was made from', async () => {
  const endpoint = await addEndpoint();
  const bare = await owner.patch(endpoint, { status: 'disabled' });
  assert.deepEqual([bare.status, bare.body.error?.param], [400, 'version']);
});

test('the audit log has what an endpoint was before, and what it became', async () => {
  const endpoint = await addEndpoint();
  const id = endpoint.split('/').at(-1);
  await owner.patch(endpoint, { version: 1, status: 'disabled', enabled_events: ['refund.*'] });
  const { body } = await owner.get(path('audit_log'));
  const entries = body.data as { object_id: string; action: string }[];
  const entry = entries.find(({ object_id }) => object_id === id);
  const same = { url: 'https://93.184.216.34/hook', description: null };
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
