import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operatorRoutes } from '#apis/operator/operator-routes.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import {
  addMember,
  addOwner,
  addStaff,
  addTotp,
  mailedUrl,
  PASSWORD,
  signInAs,
} from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { findText } from '#testkit/fixtures/db/find-text.ts';

/** Audit log columns that keep personal data forever. No other column may keep any. */
const KEPT = ['audit_log.actor', 'audit_log.after', 'audit_log.before'];

let account = '';
let owner: PersonClient;
let totp: Awaited<ReturnType<typeof addTotp>>;

const server = openForTests(
  () => startDashboardServer([], { operatorRoutes }),
  async () => {
    account = (await addOwner(server, 'first@own.test')).accountId;
    owner = await signInAs(server, 'first@own.test');
    totp = await addTotp(server, owner);
  },
);

/** Adds a person to the account by invitation, with a role below owner. */
async function join(email: string, name: string, role = 'member'): Promise<PersonClient> {
  const invited = await owner.post(`/accounts/${account}/invitations`, { email, role });
  assert.equal(invited.status, 201, invited.text);
  const token = await server.mailedToken(email);
  const client = new PersonClient(server.dashboard);
  client.extraHeaders = { 'User-Agent': `browser of ${name}` };
  const joined = await client.post('/invitations/accept', { token, name, password: PASSWORD });
  assert.equal(joined.status, 200, joined.text);
  assert.equal((await client.get('/session')).status, 200);
  return client;
}

async function found(text: string): Promise<string[]> {
  return (await findText(server.db, text)).filter((column) => !KEPT.includes(column));
}

test('the export holds the data stored about a person, and no secret', async () => {
  const client = await join('export@own.test', 'Xaver Export');
  const factor = await addTotp(server, client);
  const answer = await client.post('/me/export');
  assert.equal(answer.status, 200, answer.text);
  for (const part of [
    'export@own.test',
    'Xaver Export',
    'browser of Xaver',
    account,
    '127.0.0.1',
  ]) {
    assert.ok(answer.text.includes(part), part);
  }
  for (const secret of [...factor.recoveryCodes, '$argon2', ...client.cookies.values()]) {
    assert.ok(!answer.text.includes(secret), 'a secret is in the export');
  }
  await owner.patch('/me', { name: 'Olga' });
  const actions = (await owner.post('/me/export')).body.actions as { action: string }[];
  assert.ok(actions.some(({ action }) => action === 'invitation.created'));
});

test('export and erasure need the password, or a fresh factor once there is one', async () => {
  const client = await join('fresh@own.test', 'Frida Fresh');
  for (const path of ['/me/export', '/me/erase']) {
    assert.equal((await client.post(path)).body.error?.code, 'parameter_missing');
    const wrong = await client.post(path, { current_password: 'not the right one' });
    assert.equal(wrong.body.error?.code, 'parameter_invalid');
  }
  await addTotp(server, client);
  server.clock.advance(301_000);
  for (const path of ['/me/export', '/me/erase']) {
    const stale = await client.post(path, { current_password: PASSWORD });
    assert.equal(stale.body.error?.code, 'second_factor_required', path);
  }
  assert.equal((await client.get('/session')).status, 200, 'nothing was erased');
});

test('an erased person appears in no text column outside the audit log', async () => {
  const client = await join('gone.person@own.test', 'Gerda Gone');
  await client.post('/password_reset', { email: 'gone.person@own.test' });
  await owner.post(`/accounts/${account}/invitations`, {
    email: 'gone.person@own.test',
    role: 'viewer',
  });
  const before = await found('gone.person@own.test');
  assert.ok(before.includes('users.email') && before.includes('email_tokens.email'), `${before}`);
  const other = await signInAs(server, 'gone.person@own.test');
  const erased = await client.post('/me/erase', { current_password: PASSWORD });
  assert.equal(erased.status, 200, erased.text);
  await server.sendMails();
  for (const text of ['gone.person', 'Gerda Gone']) assert.deepEqual(await found(text), [], text);
  assert.deepEqual(await found('browser of Gerda'), []);
  assert.equal((await other.get('/session')).status, 401, 'every session has ended');
  assert.equal(client.cookies.has('tapline_session'), false);
  const credentials = { email: 'gone.person@own.test', password: PASSWORD };
  const again = await new PersonClient(server.dashboard).post('/session', credentials);
  assert.equal(again.body.error?.code, 'sign_in_failed');
  const told = server.mails.filter((mail) => mail.to === 'gone.person@own.test');
  assert.ok(told.some(({ subject }) => /deleted/.test(subject)));
  const team = await owner.get(`/accounts/${account}/members`);
  assert.ok(!team.text.includes('gone.person'));
});

test('an erased address can be invited and sign up again, as a new person', async () => {
  const first = await join('again@own.test', 'Anna Again');
  const { body } = await first.get('/session');
  await first.post('/me/erase', { current_password: PASSWORD });
  const second = await join('again@own.test', 'Anna Anew');
  const anew = await second.get('/session');
  assert.notEqual((anew.body.user as { id: string }).id, (body.user as { id: string }).id);
});

test('a last owner must hand over first; nothing is erased before', async () => {
  await totp.prove();
  const alone = await owner.post('/me/erase');
  assert.equal(alone.body.error?.code, 'unexpected_state', alone.text);
  assert.match(alone.body.error?.message ?? '', new RegExp(account));
  assert.equal((await owner.get(`/accounts/${account}/members`)).status, 200);
});

test('an owner erases data with a second factor only, and can still hold payouts', async () => {
  const leaver = await join('leaver@own.test', 'Lea Leaver', 'owner');
  const bare = await leaver.post('/me/erase', { current_password: PASSWORD });
  assert.equal(bare.body.error?.code, 'second_factor_required', bare.text);
  await addTotp(server, leaver);
  const erased = await leaver.post('/me/erase');
  assert.equal(erased.status, 200, erased.text);
  const url = await mailedUrl(server, 'leaver@own.test', /http:\S+\/hold-payouts\/\S+/);
  await server.sendMails();
  assert.deepEqual(await found('leaver'), []);
  const held = await fetch(url.replace(server.origin, server.web), {
    method: 'POST',
    headers: { Origin: server.web },
  });
  assert.equal(held.status, 200, await held.text());
  assert.ok(server.mails.some(({ to, text }) => to === 'first@own.test' && /has left/.test(text)));
  await server.sendMails();
  const failed = await server.db.query('select 1 from mail_outbox where failed_at is not null');
  assert.equal(failed.length, 0);
  assert.ok(server.mails.every(({ to }) => to.includes('@')));
});

test('staff can be erased too, except the last one', async () => {
  const emails = ['one@staff.test', 'two@staff.test'];
  const clients: PersonClient[] = [];
  for (const email of emails) {
    clients.push((await addStaff(server, email)).client);
  }
  // A merchant's user with the same email address is a different person.
  await addMember(server, { email: 'one@staff.test', accountId: account, role: 'viewer' });
  const erased = await clients[0]?.post('/me/erase');
  assert.equal(erased?.status, 200, erased?.text);
  assert.equal((await signInAs(server, 'one@staff.test')).cookies.size > 0, true);
  const last = await clients[1]?.post('/me/erase');
  assert.equal(last?.body.error?.code, 'unexpected_state', last?.text);
  assert.ok(!(await clients[1]?.get('/operators'))?.text.includes('one@staff.test'));
});
