import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { ACCOUNT, ORGANIZATION, type PersonRoute } from '#apis/dashboard/person-route.ts';
import { addMs } from '#core/clock.ts';
import { HOUR_MS } from '#core/durations.ts';
import { mailSettingChanges } from '#people/setting-mails.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addMember, addOwner, signInAs, stoppableMails } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

/** The settings that send data out or are printed, in a live account. */

let owner: PersonClient;
let admin: PersonClient;
let accountId = '';
let testAccount = '';
let organization = '';
const path = () => `/accounts/${accountId}`;

const server = openForTests(startDashboardServer, async () => {
  ({ accountId } = await addOwner(server, 'olga@class.test'));
  await addMember(server, { email: 'ada@class.test', accountId, role: 'admin' });
  owner = await signInAs(server, 'olga@class.test');
  admin = await signInAs(server, 'ada@class.test');
  testAccount = String((await owner.post('/accounts', { name: 'Only a trial' })).body.id);
  organization = String((await owner.post('/organizations', { name: 'Class' })).body.id);
  await server.db.query(
    `update account_modes set merchant_number = 1, live_at = now()
     where account_id = $1 and livemode`,
    [accountId],
  );
  await server.db.query('update users set factor_trusted_from = null');
  await prove(0);
  const moved = await owner.send('PUT', `${path()}/organization`, { organization });
  assert.equal(moved.status, 200, moved.text);
});

/** Lets an hour pass in which nothing changes, and forgets the mails until then. */
beforeEach(async () => {
  await newMails();
  server.clock.advance(HOUR_MS + 1_000);
  await newMails();
  await prove(0);
});

/** Sets how long ago all sessions verified a second factor. */
async function prove(agoMs: number): Promise<void> {
  const at = addMs(server.clock.now(), -agoMs);
  await server.db.query('update sessions set second_factor_at = $1', [at]);
}

/** Sends what is due now. @returns the mails to the owner since the last call */
async function newMails(): Promise<{ readonly subject: string; readonly text: string }[]> {
  server.clock.advance(3_000);
  while (await mailSettingChanges(server, server.people));
  const all = await stoppableMails(server, 'olga@class.test');
  const fresh = all.slice(seen);
  seen = all.length;
  return fresh;
}
let seen = 0;

async function edit(settings: object, { by = admin, of = accountId } = {}): Promise<string> {
  const { version } = (await owner.get(`/accounts/${of}`)).body;
  const { status, body } = await by.patch(`/accounts/${of}`, { version, ...settings });
  return status === 200 ? '200' : `${status} ${body.error?.code}`;
}

/** True for routes that declare data and change no setting: resent events, simulated customers. */
const changesNoSetting = ({ path, operationId }: PersonRoute) =>
  path.includes('/test_helpers/') || operationId === 'dashboardReplayWebhookEvents';

test('every field that changes an account, a location or an organization has a class', () => {
  const unclassed: string[] = [];
  let seenFields = 0;
  for (const route of server.dashboardRoutes) {
    const { method, moves, body, settings } = route;
    const isSetting = method !== 'GET' && (moves === 'data' || moves === 'name');
    const isBelow = [ACCOUNT, ORGANIZATION, '/organizations'].some((root) =>
      `${route.path}/`.startsWith(`${root}/`),
    );
    if (!isSetting || !isBelow || changesNoSetting(route)) continue;
    const fields = Object.keys((body as { properties?: object } | undefined)?.properties ?? {});
    for (const field of fields.filter((name) => name !== 'version')) {
      if (settings?.[field] === undefined) unclassed.push(`${route.operationId}: ${field}`);
      seenFields += 1;
    }
  }
  assert.deepEqual(unclassed, []);
  assert.ok(seenFields >= 30, `${seenFields} fields`);
});

const OUTWARD = {
  export_schedule: { every: 'day', format: 'csv', email: 'thief@elsewhere.test' },
  fiscal_signer: { url: 'https://93.184.215.14/receipts' },
  report_email: 'thief@elsewhere.test',
};

for (const [field, value] of Object.entries(OUTWARD)) {
  test(`in a live account ${field} needs a fresh factor, and its owners get a mail`, async () => {
    await prove(3 * HOUR_MS);
    assert.equal(await edit({ [field]: value }), '403 second_factor_required');
    assert.equal(await edit({ [field]: value }, { by: owner, of: testAccount }), '200', 'not live');
    assert.deepEqual(await newMails(), []);
    await prove(0);
    assert.equal(await edit({ [field]: value }), '200');
    const [mail, ...more] = await newMails();
    assert.deepEqual(more, []);
    assert.match(mail?.subject ?? '', /sends data/);
    assert.match(mail?.text ?? '', new RegExp(`ada@class.test[^*]*\\* ${accountId}: ${field}\n`));
    await prove(3 * HOUR_MS);
    assert.equal(await edit({ [field]: value }), '200', 'the same value changes nothing');
    assert.equal(await edit({ [field]: null }), '403 second_factor_required');
  });
}

test('printed and charged settings are in one mail an hour, with the list', async () => {
  await prove(3 * HOUR_MS);
  const texts = { legal_name: 'A GmbH', address: 'B 1', tax_number: 'T2' };
  assert.equal(await edit({ ...texts, currency: 'eur' }), '200');
  assert.equal(await edit({ tax_rates: [{ name: 'all', rate: 700 }] }), '200');
  assert.equal(await edit({ language: 'de', time_zone: 'Europe/Berlin' }), '200');
  const [mail, ...more] = await newMails();
  assert.deepEqual(more, []);
  assert.match(mail?.subject ?? '', /Prices or receipts/);
  const line = /^\* (\S+): (.*)$/m.exec(mail?.text ?? '');
  assert.deepEqual(
    [line?.[1], line?.[2]?.split(', ').sort()],
    [accountId, ['address', 'currency', 'legal_name', 'tax_number', 'tax_rates']],
  );
  assert.equal(await edit({ address: 'C 2' }), '200');
  assert.equal(await edit({ legal_name: 'D' }, { by: owner }), '200');
  assert.deepEqual(await newMails(), [], 'the same hour');
  await prove(0);
  assert.equal(await edit({ fiscal_signer: { url: 'https://93.184.215.15/' } }), '200');
  assert.equal((await newMails()).length, 1, 'another kind has its own mail');
  server.clock.advance(HOUR_MS);
  const [later, ...rest] = await newMails();
  assert.deepEqual(rest, []);
  assert.match(later?.text ?? '', /ada@class\.test.*\n\n\* \S+: address\n/);
  assert.match(later?.text ?? '', /olga@class\.test.*\n\n\* \S+: legal_name\n/);
  assert.equal(later?.text.match(/\/by-mail\//g)?.length, 2, 'a link for each person');
});

test('changed locations, prices, terminals and logos are mailed like the account’s', async () => {
  const locations = `/organizations/${organization}/locations`;
  const location = await admin.post(locations, { account: accountId, name: 'Corner' });
  assert.equal(location.status, 404, 'the admin is not of the organization');
  const made = await owner.post(locations, { account: accountId, name: 'Corner' });
  assert.equal(made.status, 201, made.text);
  const { id, version } = made.body as unknown as { id: string; version: number };
  await owner.patch(`${locations}/${id}`, { version, address: 'D 3' });
  const item = await admin.post(`${path()}/live/catalogue`, { name: 'Tea', unit_amount: 300 });
  assert.equal(item.status, 201, item.text);
  const itemPath = `${path()}/live/catalogue/${item.body.id}`;
  await admin.patch(itemPath, { version: item.body.version, unit_amount: 1 });
  await admin.post(`${path()}/test/catalogue`, { name: 'Test tea', unit_amount: 300 });
  await admin.send('PUT', `${path()}/brand/color`, { color: '#0a7d4c' });
  const [mail, ...more] = await newMails();
  assert.deepEqual(more, []);
  const text = mail?.text ?? '';
  assert.match(text, new RegExp(`^\\* ${id}: name, address$`, 'm'));
  assert.match(text, new RegExp(`^\\* ${item.body.id}: name, .*unit_amount, options$`, 'm'));
  assert.match(text, new RegExp(`^\\* ${accountId}: color$`, 'm'));
  assert.equal(text.match(/^\* /gm)?.length, 3, 'nothing of test mode');
});
