import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { addOwner, addTotp, PASSWORD, signInAs } from '#testkit/apis/people.ts';
import { startPeopleServer } from '#testkit/apis/people-server.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

/**
 * The flaw: guesses were counted per device cookie, and each sign-in issued a new cookie, so 400
 * guesses met no 429. The server never expired the cookies.
 */

const WRONG = '000001';
const DEVICE = 'tapline_device';
const ROUNDS = 40;

let count = 0;
let email = '';

const server = openForTests(startPeopleServer);

beforeEach(async () => {
  email = `guess-${++count}@factor.test`;
  await addOwner(server, email);
});

/** Signs in repeatedly before a factor exists, as a thief with the password would. */
async function collectDevices(howMany: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let i = 0; i < howMany; i++) {
    const client = await signInAs(server, email);
    tokens.push(client.cookies.get(DEVICE) ?? '');
  }
  return tokens;
}

/**
 * In each round, signs in with the password and the next of these device cookies (with none if the
 * list is empty), and guesses a code. @returns how many guesses got a 429.
 */
async function guess(tokens: readonly string[], rounds: number): Promise<number> {
  let refused = 0;
  for (let i = 0; i < rounds; i++) {
    const client = new PersonClient(server.dashboard);
    const token = tokens[i % tokens.length];
    if (token !== undefined) client.cookies.set(DEVICE, token);
    await client.post('/session', { email, password: PASSWORD });
    const { status } = await client.post('/session/second_factor', { code: WRONG });
    assert.ok(status === 401 || status === 429, String(status));
    if (status === 429) refused++;
  }
  return refused;
}

test('cookies collected before the factor was turned on give no further guesses', async () => {
  const owner = await signInAs(server, email);
  const tokens = await collectDevices(8);
  await addTotp(server, owner);
  assert.equal(await guess(tokens, ROUNDS), ROUNDS - 5);
});

test('wrong codes after the right password send an email, and slow down', async () => {
  await addTotp(server, await signInAs(server, email));
  const told = async () => {
    await server.sendMails();
    return server.mails.filter((mail) => mail.to === email && /wrong codes/i.test(mail.subject));
  };
  assert.equal(await guess([], 2), 0);
  assert.equal((await told()).length, 0, 'a typing error is no news');
  assert.equal(await guess([], 3), 0);
  const [mail, ...more] = await told();
  assert.equal(more.length, 0);
  assert.match(mail?.text ?? '', /by-mail/, 'with a link that stops it');
  assert.equal(await guess([], 20), 20, 'the sixth has to wait');
  for (const minutes of [2, 2, 4, 8, 16]) {
    server.clock.advance(minutes * 60_000);
    assert.equal(await guess([], 3), 2, `one more after ${minutes} minutes`);
  }
  server.clock.advance(20 * 60_000);
  assert.equal(await guess([], 1), 1, 'ten in an hour, however slow');
});

test('the devices of one person share a limit, too', async () => {
  const owner = await signInAs(server, email);
  const { code } = await addTotp(server, owner);
  const tokens: string[] = [];
  for (let i = 0; i < 4; i++) {
    server.clock.advance(30_000);
    const client = await signInAs(server, email);
    const proven = await client.post('/session/second_factor', { code: code() });
    assert.equal(proven.status, 200, proven.text);
    tokens.push(client.cookies.get(DEVICE) ?? '');
  }
  assert.equal(new Set(tokens).size, 4);
  assert.equal(await guess(tokens, ROUNDS), ROUNDS - 20);
});

test('with its cookie a device stays known: a sign-in issues no second one', async () => {
  const client = await signInAs(server, email);
  const first = client.cookies.get(DEVICE);
  await client.delete('/session');
  await client.post('/session', { email, password: PASSWORD });
  assert.equal(client.cookies.get(DEVICE), first);
});

test('a device is forgotten with the password, the factor and "sign out everywhere"', async () => {
  const known = async () => {
    const rows = await server.db.query<{ hits: number }>(
      'select count(*)::int as hits from known_devices d join users u on u.id = d.user_id ' +
        'where u.email = $1',
      [email],
    );
    return rows[0]?.hits ?? 0;
  };
  const everywhere = await signInAs(server, email);
  await collectDevices(1);
  assert.equal(await known(), 2);
  await everywhere.delete('/sessions');
  assert.equal(await known(), 0);

  const changer = await signInAs(server, email);
  await collectDevices(3);
  const change = { current_password: PASSWORD, password: 'a new long passphrase' };
  assert.equal((await changer.post('/me/password', change)).status, 200);
  assert.equal(await known(), 1, 'the one at hand');

  await addTotp(server, changer, change.password);
  assert.equal(await known(), 1, 'the one at hand');
});

test("after a password reset, the owner signs in despite others' guesses", async () => {
  const owner = await signInAs(server, email);
  const { code } = await addTotp(server, owner);
  await guess([], 15);
  const client = new PersonClient(server.dashboard);
  await client.post('/password_reset', { email });
  const token = await server.mailedToken(email);
  const password = 'a passphrase of mine';
  assert.equal((await client.post('/password_reset/complete', { token, password })).status, 200);
  server.clock.advance(30_000);
  const other = new PersonClient(server.dashboard);
  await other.post('/session', { email, password });
  assert.equal((await other.post('/session/second_factor', { code: code() })).status, 200);
});

test('a sign-in on a new device sends an email, one on a known device does not', async () => {
  const client = new PersonClient(server.dashboard);
  client.extraHeaders = {
    'User-Agent': 'Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0',
  };
  const alerts = async () => {
    await server.sendMails();
    return server.mails.filter((mail) => mail.to === email && /new sign-in/i.test(mail.subject));
  };
  await client.post('/session', { email, password: PASSWORD });
  await client.post('/session', { email, password: PASSWORD });
  const [alert, ...more] = await alerts();
  assert.equal(more.length, 0);
  assert.match(alert?.text ?? '', /Firefox on Windows/);
  const [session] = await client.list<{ device: string; place: string }>('/sessions');
  assert.deepEqual([session?.device, session?.place], ['Firefox on Windows', 'This machine']);
});
