import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { checkPassword, verifyPassword } from '#people/passwords.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addOwner, PASSWORD, signInAs } from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

const EMAIL = 'owner@breached.test';
/** Passwords from the list, plain or with a year, capitals, digits or a punctuation mark added. */
const BREACHED = [
  'unbelievable',
  'unbelievable!',
  '1qaz2wsx3edc',
  '1qaz2wsx3edc2024',
  'Superman1234',
  'football2024!',
  'P@ssw0rd2024!',
  'trustno1trustno1',
  'ｆｏｏｔｂａｌｌ２０２４',
];
const PASSPHRASE = 'marble otter vivid canyon';

let accountId = '';

const server = openForTests(startDashboardServer, async () => {
  ({ accountId } = await addOwner(server, EMAIL));
});

type Door = (password: string) => ReturnType<PersonClient['post']>;

async function refusesBreached(door: Door): Promise<void> {
  for (const password of BREACHED) {
    const answer = await door(password);
    assert.equal(answer.status, 400, password);
    assert.match(String(answer.body.error?.message), /four or more unrelated words/, password);
  }
  const accepted = await door(PASSPHRASE);
  assert.ok(accepted.status === 200 || accepted.status === 201, accepted.text);
}

test('sign-up refuses a breached password, and the link stays valid for a better one', async () => {
  const client = new PersonClient(server.dashboard);
  await client.post('/sign_up', { email: 'new@breached.test' });
  const token = await server.mailedToken('new@breached.test');
  const form = { token, name: 'Nina New', account_name: 'Nina’s Café' };
  await refusesBreached((password) => client.post('/sign_up/complete', { ...form, password }));
});

test('an invitation refuses a breached password', async () => {
  const owner = await signInAs(server, EMAIL);
  const invitation = { email: 'staff@breached.test', role: 'member' };
  const invited = await owner.post(`/accounts/${accountId}/invitations`, invitation);
  assert.equal(invited.status, 201, invited.text);
  const token = await server.mailedToken('staff@breached.test');
  const client = new PersonClient(server.dashboard);
  const form = { token, name: 'Stan Staff' };
  await refusesBreached((password) => client.post('/invitations/accept', { ...form, password }));
});

test('a change of the password refuses a breached one', async () => {
  await addOwner(server, 'change@breached.test');
  const client = await signInAs(server, 'change@breached.test');
  const form = { current_password: PASSWORD };
  await refusesBreached((password) => client.post('/me/password', { ...form, password }));
});

test('a reset refuses a breached password', async () => {
  await addOwner(server, 'reset@breached.test');
  const client = new PersonClient(server.dashboard);
  await client.post('/password_reset', { email: 'reset@breached.test' });
  const token = await server.mailedToken('reset@breached.test');
  await refusesBreached((password) => client.post('/password_reset/complete', { token, password }));
});

test('a keyboard or alphabet sequence is refused', () => {
  const rows = ['01234567890123456789', 'abcdefghijklmnopqrstuvwxyz', 'qwertyuiopasdfghjklzxcvbnm'];
  for (const row of rows) {
    for (let start = 0; start + 12 <= row.length; start++) {
      const password = row.slice(start, start + 12);
      assert.ok(checkPassword(password, EMAIL) !== null, password);
    }
  }
});

test('generated passwords of the demo and of a password manager are accepted', () => {
  for (let i = 0; i < 300; i++) {
    const password = randomBytes(32).toString('base64url').slice(0, 20);
    assert.equal(checkPassword(password, 'operator@demo.test'), null, password);
  }
});

test('checking the longest password takes no longer than hashing it', () => {
  checkPassword(PASSPHRASE, EMAIL);
  for (const piece of ['p@$$w0rd!1', '4$$1!|0o3e7+', '\\/8|_|19871/1/11', 'x1!p@ssw0rd']) {
    const password = piece.repeat(30).slice(0, 256);
    const { user } = process.cpuUsage();
    for (let i = 0; i < 10; i++) checkPassword(password, EMAIL);
    const each = (process.cpuUsage().user - user) / 10_000;
    assert.ok(each < 30, `${each} ms for ${piece}`);
  }
});

test('the empty hash of an erased person matches no password and causes no error', async () => {
  for (const hash of ['', null]) {
    assert.equal(await verifyPassword(PASSPHRASE, hash, 'person'), false);
  }
});
