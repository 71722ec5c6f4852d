import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { editTerminal } from '#terminals/change-terminal.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { openServedStore, type StoreServer } from '#testkit/apis/store-server.ts';
import { addTerminal, type TestStore } from '#testkit/fixtures/payments/store.ts';

let store: TestStore;
let server: StoreServer;

before(async () => {
  ({ store, server } = await openServedStore());
});

after(() => server.close());

async function newDevice() {
  const { deviceKey, terminalId } = await addTerminal(store.db, store.merchant, new Date());
  return { caller: server.device(deviceKey), terminalId, deviceKey };
}

const report = (caller: Caller, body: unknown) => caller.patch('/terminal', body);

interface Said {
  readonly type: string;
  readonly object: { readonly [field: string]: unknown };
  readonly previous: unknown;
}

/** Returns every event about this terminal, oldest first. */
function eventsOf(terminalId: string): Promise<Said[]> {
  return store.db.query<Said>(
    `select type, body::jsonb #> '{data,object}' as object,
       body::jsonb #> '{data,previous_attributes}' as previous
     from events where object_id = $1 order by position`,
    [terminalId],
  );
}

test('a terminal reports its software, and a change sends an event with old values', async () => {
  const { caller, terminalId } = await newDevice();
  const { body: fresh } = await caller.get('/terminal');
  assert.deepEqual([fresh.platform, fresh.software_version], ['generic', null]);

  const first = { platform: 'browser', software_version: '1.4.0-rc.1+b7' };
  const { status, body } = await report(caller, first);
  assert.equal(status, 200);
  assert.equal(body.id, terminalId);
  assert.equal(body.merchant_name, fresh.merchant_name);
  assert.deepEqual({ ...first, ...body }, body);
  const { body: read } = await caller.get('/terminal');
  assert.deepEqual({ ...first, ...read }, read);

  assert.equal((await report(caller, first)).status, 200);
  assert.equal((await report(caller, {})).status, 200);
  assert.equal((await eventsOf(terminalId)).length, 1);

  await report(caller, { software_version: '1.5.0' });
  const said = await eventsOf(terminalId);
  assert.deepEqual(
    said.map(({ type, previous }) => [type, previous]),
    [
      ['terminal.updated', { platform: 'generic', software_version: null }],
      ['terminal.updated', { software_version: '1.4.0-rc.1+b7' }],
    ],
  );
  assert.equal(said[1]?.object.platform, 'browser');
  assert.equal(said[1]?.object.software_version, '1.5.0');
});

test('reports that arrive together send one event', async () => {
  const { caller, terminalId } = await newDevice();
  const same = { platform: 'android_webview', software_version: '2026-11-01' };
  const all = await Promise.all(Array.from({ length: 8 }, () => report(caller, same)));
  assert.deepEqual(new Set(all.map(({ status }) => status)), new Set([200]));
  assert.equal((await eventsOf(terminalId)).length, 1);
});

test('an unknown platform, version or field is refused and changes nothing', async () => {
  const { caller, terminalId } = await newDevice();
  const wrong: [body: object, code: string, param: string][] = [
    [{ platform: 'toaster' }, 'parameter_invalid', 'platform'],
    [{ platform: null }, 'parameter_invalid', 'platform'],
    ...['', 'one two', '<b>1</b>', '.5', 'v'.repeat(65), '1.0\n', 7].map(
      (version): [object, string, string] => [
        { platform: 'reader', software_version: version },
        'parameter_invalid',
        'software_version',
      ],
    ),
    [{ platform: 'reader', label: 'Mine' }, 'parameter_unknown', 'label'],
    [{ status: 'active' }, 'parameter_unknown', 'status'],
  ];
  for (const [body, code, param] of wrong) {
    const reply = await report(caller, body);
    assert.equal(reply.status, 400, JSON.stringify(body));
    assert.equal(errorCodeOf(reply.body), code, JSON.stringify(body));
    assert.equal(reply.body.error?.param, param);
  }
  const { body } = await caller.get('/terminal');
  assert.deepEqual([body.platform, body.software_version], ['generic', null]);
  assert.deepEqual(await eventsOf(terminalId), []);
});

test('a report keeps the dashboard’s changes, and a revoked key cannot report', async () => {
  const { caller, terminalId: id } = await newDevice();
  await report(caller, { platform: 'reader', software_version: '0.1.0' });
  const actor = { type: 'system', name: 'tests' } as const;
  const ref = { tenant: store.merchant.tenant, id, actor, now: new Date() };
  const edit = { version: 1, label: 'Window' };
  const edited = await store.db.transaction((tx) => editTerminal(tx, ref, edit));
  assert.ok('label' in edited);
  assert.deepEqual([edited.label, edited.platform], ['Window', 'reader']);

  await store.db.query('update device_keys set revoked_at = now() where terminal_id = $1', [id]);
  const refused = await report(caller, { platform: 'browser' });
  assert.equal(errorCodeOf(refused.body), 'api_key_revoked');
});
