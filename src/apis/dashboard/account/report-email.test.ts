import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addOwner, signInAs, stoppableMails } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

let owner: PersonClient;
let path = '';

const server = openForTests(startDashboardServer, async () => {
  const { accountId } = await addOwner(server, 'olga@reports.test');
  owner = await signInAs(server, 'olga@reports.test');
  path = `/accounts/${accountId}`;
});

async function edit(report_email: string | null) {
  const { version } = (await owner.get(path)).body;
  return owner.patch(path, { version, report_email });
}

async function addresses() {
  const { report_email, requested_report_email } = (await owner.get(path)).body;
  return [report_email, requested_report_email];
}

/** Returns the links in the mails to this address, oldest first. */
async function linksTo(email: string): Promise<URL[]> {
  const mails = await stoppableMails(server, email);
  return mails.map(({ text }) => new URL(/https?:\S+\/by-mail\/\S+/.exec(text)?.[0] ?? ''));
}

async function open(link: URL, method: 'GET' | 'POST'): Promise<number> {
  const response = await fetch(`${server.web}${link.pathname}`, { method });
  return response.status;
}

test('the address of shift reports counts once its mailed link has confirmed it', async () => {
  assert.deepEqual(await addresses(), [null, null]);
  assert.equal((await edit('not an address')).status, 400);
  assert.equal((await edit(' Books@Reports.test ')).status, 200);
  assert.deepEqual(await addresses(), [null, 'books@reports.test']);
  const [link] = await linksTo('books@reports.test');
  assert.ok(link !== undefined);
  assert.equal(await open(link, 'GET'), 200);
  assert.deepEqual(await addresses(), [null, 'books@reports.test'], 'opening changes nothing');
  assert.equal(await open(link, 'POST'), 200);
  assert.deepEqual(await addresses(), ['books@reports.test', null]);
  assert.equal(await open(link, 'POST'), 404, 'it works once');
});

test('a new address leaves the confirmed one, and an old link confirms nothing', async () => {
  assert.equal((await edit('first@reports.test')).status, 200);
  assert.equal((await edit('second@reports.test')).status, 200);
  assert.deepEqual(await addresses(), ['books@reports.test', 'second@reports.test']);
  const [first] = await linksTo('first@reports.test');
  assert.ok(first !== undefined);
  assert.equal(await open(first, 'POST'), 404);
  assert.deepEqual(await addresses(), ['books@reports.test', 'second@reports.test']);
  assert.equal((await edit(null)).status, 200);
  assert.deepEqual(await addresses(), [null, null]);
  const [second] = await linksTo('second@reports.test');
  assert.ok(second !== undefined);
  assert.equal(await open(second, 'POST'), 404);
  assert.deepEqual(await addresses(), [null, null]);
});
