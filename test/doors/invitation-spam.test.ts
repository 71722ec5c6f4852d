import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountInMail } from '#people/account-name-in-mail.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addMember, addOwner, signInAs } from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

/** The flaw: a new account could send 300 emails in 4.5 s, with its name (a URL) in the subject. */

const server = openForTests(startDashboardServer);

async function invite(client: PersonClient, accountId: string, email: string): Promise<number> {
  const body = { email, role: 'viewer' };
  return (await client.post(`/accounts/${accountId}/invitations`, body)).status;
}

test('one person invites twenty an hour, all of an account thirty a day', async () => {
  const { accountId } = await addOwner(server, 'spam@mail.test');
  await addMember(server, { email: 'spam2@mail.test', accountId, role: 'owner' });
  const first = await signInAs(server, 'spam@mail.test');
  const statuses: number[] = [];
  for (let i = 0; i < 60; i++) {
    statuses.push(await invite(first, accountId, `victim-${i}@else.test`));
  }
  assert.equal(statuses.filter((status) => status === 201).length, 20);
  assert.equal(statuses.filter((status) => status === 429).length, 40);
  const second = await signInAs(server, 'spam2@mail.test');
  const more: number[] = [];
  for (let i = 0; i < 20; i++) {
    more.push(await invite(second, accountId, `other-${i}@else.test`));
  }
  assert.equal(more.filter((status) => status === 201).length, 10);
  await server.sendMails();
  assert.equal(server.mails.filter((mail) => mail.to.endsWith('@else.test')).length, 30);
});

test('of thirty simultaneous invitations, exactly twenty are sent', async () => {
  const { accountId } = await addOwner(server, 'burst@mail.test');
  const client = await signInAs(server, 'burst@mail.test');
  const tries = Array.from({ length: 30 }, (_, i) => invite(client, accountId, `b${i}@else.test`));
  const statuses = await Promise.all(tries);
  assert.equal(statuses.filter((status) => status === 201).length, 20);
});

test('one mailbox gets five a day, over all accounts', async () => {
  const statuses: number[] = [];
  for (let i = 0; i < 8; i++) {
    const { accountId } = await addOwner(server, `sender-${i}@mail.test`);
    const client = await signInAs(server, `sender-${i}@mail.test`);
    statuses.push(await invite(client, accountId, 'victim@box.test'));
  }
  assert.deepEqual(statuses, [201, 201, 201, 201, 201, 429, 429, 429]);
});

test('no subject has text chosen by a user, and no name becomes a link', async () => {
  const { accountId } = await addOwner(server, 'name@mail.test');
  const client = await signInAs(server, 'name@mail.test');
  const name = 'Win at www.evil.example now';
  const renamed = await client.patch(`/accounts/${accountId}`, { version: 1, name });
  assert.equal(renamed.status, 200, renamed.text);
  await invite(client, accountId, 'target@else2.test');
  await server.sendMails();
  const mail = server.mails.find((one) => one.to === 'target@else2.test');
  assert.equal(mail?.subject, 'You have been invited to a team on Tapline');
  assert.ok(!mail.text.includes('evil'));
  assert.match(mail.text, /name@mail\.test invites you/);
  assert.equal(accountInMail('Nina’s Café'), 'the account “Nina’s Café”');
  for (const link of ['https://x.example', 'x.example', 'a@b.example', 'tel:123']) {
    assert.equal(accountInMail(link), 'an account', link);
  }
});

test('an account, and so its first invitation, waits for its own confirmed address', async () => {
  const email = 'fresh@mail.test';
  const client = new PersonClient(server.dashboard);
  await client.post('/sign_up', { email });
  const rows = await server.db.query('select id from users where email = $1', [email]);
  assert.deepEqual(rows, [], 'an address has no account before its link was opened');
  const token = await server.mailedToken(email);
  const form = { token, name: 'Fred', account_name: 'Fresh', password: 'correct horse battery' };
  const opened = await client.post('/sign_up/complete', form);
  const accountId = (opened.body.accounts as { id: string }[])[0]?.id ?? '';
  assert.equal(await invite(client, accountId, 'first@else3.test'), 201);
});
