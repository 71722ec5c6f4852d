import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '#observability/log.ts';
import { type Mail, startMailWorker } from '#people/mail-outbox.ts';
import { FACTOR_AGE_MS, FACTORS_END_MS } from '#people/new-factor-delay.ts';
import { type DashboardServer, startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import {
  addOwner,
  addTotp,
  PASSWORD,
  signInAs,
  stoppableMails,
  stoppableNews,
} from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { Authenticator } from '#testkit/fixtures/people/authenticator.ts';

let server: DashboardServer;

before(async () => {
  // A sandbox would trust a new factor immediately, so this server has the delay of a real network.
  server = await startDashboardServer([], { factorAgeMs: FACTOR_AGE_MS });
});

after(() => server.close());

/**
 * Returns the links in the newest mail to this address that has links. The last one is “This was
 * not me”.
 */
async function linksOf(to: string): Promise<readonly string[]> {
  const mail = (await stoppableMails(server, to)).at(-1);
  assert.ok(mail, `a mail to ${to}`);
  return [...mail.text.matchAll(/\/by-mail\/\S+/g)].map(([path]) => path);
}

async function click(path: string | undefined): Promise<void> {
  const url = `${server.web}${path}`;
  const page = await fetch(url);
  assert.equal(page.status, 200);
  const answer = await fetch(url, { method: 'POST' });
  assert.equal(answer.status, 200, await answer.text());
  assert.equal((await fetch(url, { method: 'POST' })).status, 404, 'it works once');
  await server.sendMails();
}

async function personWith(name: string) {
  const email = `${name}@factor.test`;
  const { accountId } = await addOwner(server, email);
  return { email, accountId, client: await signInAs(server, email) };
}

/**
 * Tries to release payouts and returns the error code. `unexpected_state` means that the factor was
 * accepted.
 */
async function liftCode(client: PersonClient, accountId: string): Promise<string | undefined> {
  const answer = await client.delete(`/accounts/${accountId}/payout_hold`);
  return answer.body.error?.code;
}

async function isHeld(client: PersonClient, accountId: string): Promise<unknown> {
  return (await client.get(`/accounts/${accountId}/payout_hold`)).body.held;
}

test('a factor that was enrolled with the password alone is trusted after 72 hours', async () => {
  const { client, accountId, email } = await personWith('waits');
  const { code } = await addTotp(server, client);
  assert.equal(await liftCode(client, accountId), 'second_factor_too_new');
  server.clock.advance(FACTOR_AGE_MS - 60_000);
  const later = await signInAs(server, email);
  assert.equal((await later.post('/session/second_factor', { code: code() })).status, 200);
  assert.equal(await liftCode(later, accountId), 'second_factor_too_new', 'a minute early');
  server.clock.advance(60_000);
  assert.equal(
    await liftCode(later, accountId),
    'unexpected_state',
    'it is trusted, nothing is held',
  );
});

test('a click in the mail makes it trusted immediately; opening the link does not', async () => {
  const { client, accountId, email } = await personWith('clicks');
  await addTotp(server, client);
  const [yes] = await linksOf(email);
  assert.equal((await fetch(`${server.web}${yes}`)).status, 200);
  assert.equal(await liftCode(client, accountId), 'second_factor_too_new');
  await click(yes);
  assert.equal(await liftCode(client, accountId), 'unexpected_state');
});

test('“this was not me” ends every access that a thief has gained, and holds payouts', async () => {
  const { client: thief, accountId, email } = await personWith('robbed');
  await addTotp(server, thief);
  const links = await linksOf(email);
  await click(links.at(-1));
  assert.equal((await thief.get('/session')).status, 401, 'signed out');
  const stolen = { email, password: PASSWORD };
  const again = await new PersonClient(server.dashboard).post('/session', stolen);
  assert.equal(again.body.error?.code, 'sign_in_failed', 'the stolen password no longer works');
  const owner = new PersonClient(server.dashboard);
  assert.equal((await owner.post('/password_reset', { email })).status, 202);
  const token = await server.mailedToken(email);
  const password = 'a new and quite long passphrase';
  const reset = await owner.post('/password_reset/complete', { token, password });
  assert.equal(reset.status, 200, reset.text);
  const back = await owner.post('/session', { email, password });
  assert.equal(back.body.status, 'signed_in', "the thief's factor is not required");
  assert.equal(await isHeld(owner, accountId), true);
});

test('every change of factors and codes sends a mail with a way to stop it', async () => {
  const { client, email } = await personWith('told');
  await addTotp(server, client);
  const renewed = await client.post('/me/recovery_codes');
  const [code] = renewed.body.recovery_codes as string[];
  const used = await client.post('/session/second_factor', { code });
  assert.equal(used.status, 200, used.text);
  assert.equal((await client.delete('/me/totp')).status, 200);
  assert.deepEqual((await stoppableNews(server, email)).toSorted(), [
    'A recovery code for your Tapline sign-in was used. It does not work again.',
    'An authenticator app was set up for your Tapline sign-in.',
    'New recovery codes were created for your Tapline sign-in. The old ones no longer work.',
    'The authenticator app for your Tapline sign-in was removed.',
  ]);
});

test('setting up an app allows ten guesses an hour and ends after ten minutes', async () => {
  const { client } = await personWith('guesses');
  await client.post('/me/totp', { current_password: PASSWORD });
  const codes: (string | undefined)[] = [];
  for (let guess = 0; guess < 12; guess += 1) {
    const code = String(100_000 + guess);
    codes.push((await client.post('/me/totp/confirm', { code })).body.error?.code);
  }
  assert.deepEqual(codes.slice(10), ['rate_limit_exceeded', 'rate_limit_exceeded']);
  const slow = (await personWith('slow')).client;
  await slow.post('/me/totp', { current_password: PASSWORD });
  server.clock.advance(10 * 60_000);
  const late = await slow.post('/me/totp/confirm', { code: '123456' });
  assert.equal(late.body.error?.code, 'unexpected_state', late.text);
});

test('a lost factor is removed by mail and waiting, unless it is used meanwhile', async () => {
  const { client, email } = await personWith('lost');
  const { code } = await addTotp(server, client);
  const halfway = await signInAs(server, email);
  assert.equal((await halfway.post('/session/factor_recovery')).status, 202);
  await click((await linksOf(email))[0]);
  server.clock.advance(FACTORS_END_MS / 2);
  const used = await signInAs(server, email);
  assert.equal((await used.post('/session/second_factor', { code: code() })).status, 200);
  server.clock.advance(FACTORS_END_MS);
  const still = await signInAs(server, email);
  assert.equal((await still.get('/session')).body.status, 'second_factor_required');
  assert.equal((await still.post('/session/factor_recovery')).status, 202);
  await click((await linksOf(email))[0]);
  server.clock.advance(FACTORS_END_MS);
  const free = await signInAs(server, email);
  assert.equal((await free.get('/session')).body.status, 'signed_in');
});

test('any use of any factor keeps the factors that were reported lost', async () => {
  const { client, email } = await personWith('keeps');
  const { code, recoveryCodes } = await addTotp(server, client);
  const key = new Authenticator({ rpId: 'localhost', origin: server.origin });
  const options = await client.post('/me/passkeys/options');
  const response = key.register(String(options.body.challenge));
  assert.equal((await client.post('/me/passkeys', { name: 'Key', response })).status, 201);
  const halfSignedIn = () => signInAs(server, email);
  const useKey = async (person: PersonClient, path: string) => {
    const { body } = await person.post(`${path}_options`);
    return person.post(path, { response: key.use(String(body.challenge)) });
  };
  const prove = async (body: object) => (await halfSignedIn()).post('/session/second_factor', body);
  const uses: Record<string, () => Promise<{ status: number }>> = {
    'a code of the app': () => prove({ code: code() }),
    'a recovery code': () => prove({ code: recoveryCodes[0] }),
    'a passkey after the password': async () =>
      useKey(await halfSignedIn(), '/session/second_factor/passkey'),
    'a passkey alone': () => useKey(new PersonClient(server.dashboard), '/session/passkey'),
    'another passkey': async () => {
      const { body } = await client.post('/me/passkeys/options');
      const second = new Authenticator({ rpId: 'localhost', origin: server.origin });
      const made = { name: 'Second', response: second.register(String(body.challenge)) };
      return client.post('/me/passkeys', made);
    },
  };
  for (const [what, use] of Object.entries(uses)) {
    await server.db.query(
      `update users set factors_end_at = $2, totp_last_step = null where email = $1`,
      [email, new Date(server.clock.now().getTime() + 1)],
    );
    await server.db.query('update sessions set second_factor_at = $1', [server.clock.now()]);
    const used = await use();
    assert.ok(used.status < 300, `${what}: ${used.status}`);
    server.clock.advance(1);
    const later = await signInAs(server, email);
    assert.equal((await later.get('/session')).body.status, 'second_factor_required', what);
  }
});

test('a mail about a factor is sent within two seconds of its commit', async () => {
  const { client, email } = await personWith('at-once');
  await addTotp(server, client);
  await server.sendMails();
  const { db, wakeups, clock, people } = server;
  db.carryHints(wakeups.send);
  const arrived: string[] = [];
  const mailer = {
    send: async ({ to, text }: Mail) => {
      if (to === email) arrived.push(text.split('\n')[0] ?? '');
    },
  };
  const deps = { db, wakeups, clock, log: silentLog, secretKey: people.secretKey, mailer };
  const worker = startMailWorker(deps);
  await sleep(100); // After its first poll, only a notification wakes it within ten seconds.
  for (const change of [() => client.post('/me/recovery_codes'), () => client.delete('/me/totp')]) {
    const before = arrived.length;
    assert.equal((await change()).status, 200);
    const until = Date.now() + 2_000;
    while (arrived.length === before && Date.now() < until) await sleep(20);
    assert.equal(arrived.length, before + 1, arrived.join(' '));
  }
  await worker.stop();
});
