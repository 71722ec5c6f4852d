import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { newSecret } from '#core/bearer-secrets.ts';
import { createOperator } from '#people/create-operator.ts';
import { addOwner, addTotp, PASSWORD } from '#testkit/apis/people.ts';
import { startPeopleServer } from '#testkit/apis/people-server.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { accepted } from '#testkit/fixtures/core/accepted.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

let count = 0;
let email = '';

const server = openForTests(startPeopleServer);

beforeEach(async () => {
  email = `owner-${++count}@demo.test`;
  await addOwner(server, email);
});

const browser = () => new PersonClient(server.dashboard);

async function signedIn(client = browser()): Promise<PersonClient> {
  const answer = await client.post('/session', { email, password: PASSWORD });
  assert.equal(answer.status, 200, answer.text);
  return client;
}

test('a session opens with the right password and ends at sign-out', async () => {
  const client = await signedIn();
  const session = await client.get('/session');
  assert.equal(session.status, 200);
  assert.equal((session.body.accounts as { role: string }[])[0]?.role, 'owner');
  assert.equal((await client.delete('/session')).status, 200);
  assert.equal((await client.get('/session')).status, 401);
});

test('a secret in the name of a browser is not stored', async () => {
  const secret = newSecret('apiKeyLive');
  const client = browser();
  client.extraHeaders = { 'User-Agent': `Tool/1.0 (${secret}) ${'x'.repeat(400)}` };
  await signedIn(client);
  for (const table of ['sessions', 'known_devices', 'request_log', 'audit_log']) {
    const rows = await server.db.query(
      `select from ${table} t where to_jsonb(t)::text like '%' || $1 || '%'`,
      [secret.slice(-20)],
    );
    assert.equal(rows.length, 0, table);
  }
  const [session] = await client.list<{ user_agent: string }>('/sessions');
  assert.match(String(session?.user_agent), /^Tool\/1\.0 \(tlsk_live_…\) x+$/);
});

test('cookies are HttpOnly, SameSite=Strict, and for https bound to the host', async () => {
  const answer = await browser().post('/session', { email, password: PASSWORD });
  const lines = answer.headers.getSetCookie();
  assert.equal(lines.length, 2);
  for (const line of lines) {
    assert.match(line, /HttpOnly/);
    assert.match(line, /SameSite=Strict/);
    assert.match(line, /Path=\//);
  }
});

test('a wrong password and an unknown address get the same response', async () => {
  const wrong = await browser().post('/session', { email, password: `${PASSWORD}!` });
  const nobody = await browser().post('/session', {
    email: `nobody-${count}@demo.test`,
    password: PASSWORD,
  });
  assert.equal(wrong.status, 401);
  const withoutId = (text: string) => text.replace(/req_\w+/, '');
  assert.equal(withoutId(wrong.text), withoutId(nobody.text));
});

test('a change without the CSRF token, or from another site, is refused', async () => {
  const client = await signedIn();
  const token = client.csrfToken;
  client.csrfToken = null;
  const bare = await client.patch('/me', { name: 'Mallory' });
  assert.equal(bare.body.error?.code, 'csrf_token_invalid');
  client.csrfToken = token;
  for (const headers of [
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
  ]) {
    client.extraHeaders = headers;
    assert.equal((await client.patch('/me', { name: 'Mallory' })).status, 403);
    assert.equal((await client.post('/session', { email, password: PASSWORD })).status, 403);
  }
  client.extraHeaders = { Origin: server.origin, 'Sec-Fetch-Site': 'same-origin' };
  assert.equal((await client.patch('/me', { name: 'Olga' })).status, 200);
});

test('failed guesses lock out the guesser, never the owner on a known device', async () => {
  const owner = await signedIn();
  await owner.delete('/session');
  const guesser = browser();
  let last = 401;
  for (let i = 0; i < 11; i++) {
    last = (await guesser.post('/session', { email, password: `guess number ${i}` })).status;
  }
  assert.equal(last, 429);
  const refused = await guesser.post('/session', { email, password: PASSWORD });
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  await signedIn(owner);
  server.clock.advance(15 * 60_000);
  await signedIn(browser());
});

test('twenty parallel guesses count as twenty', async () => {
  const guesses = Array.from({ length: 20 }, (_, i) =>
    browser().post('/session', { email, password: `parallel guess ${i}` }),
  );
  const statuses = (await Promise.all(guesses)).map((answer) => answer.status);
  assert.equal(statuses.filter((status) => status === 401).length, 10);
  assert.equal(statuses.filter((status) => status === 429).length, 10);
});

test('with an authenticator app, the password alone gives no access', async () => {
  const first = await signedIn();
  const { code, recoveryCodes } = await addTotp(server, first);
  assert.equal(recoveryCodes.length, 10);
  server.clock.advance(60_000);
  const client = browser();
  const half = await client.post('/session', { email, password: PASSWORD });
  assert.equal(half.body.status, 'second_factor_required');
  assert.deepEqual(half.body.accounts, []);
  assert.equal((await client.get('/sessions')).body.error?.code, 'second_factor_required');
  const halfToken = [...client.cookies.values()][0];
  assert.equal((await client.post('/session/second_factor', { code: '000000' })).status, 401);
  const proven = await client.post('/session/second_factor', { code: code() });
  assert.equal(proven.body.status, 'signed_in');
  assert.notEqual([...client.cookies.values()][0], halfToken);
  assert.equal((await client.get('/sessions')).status, 200);
});

test('an app code and a recovery code each work once', async () => {
  const client = await signedIn();
  const { code, recoveryCodes } = await addTotp(server, client);
  server.clock.advance(30_000);
  const now = code();
  // Apps show the code with a space, which people copy.
  const shown = `${now.slice(0, 3)} ${now.slice(3)} `;
  assert.equal((await client.post('/session/second_factor', { code: shown })).status, 200);
  assert.equal((await client.post('/session/second_factor', { code: now })).status, 401);
  const spare = { code: recoveryCodes[0] ?? '' };
  assert.equal((await client.post('/session/second_factor', spare)).status, 200);
  assert.equal((await client.post('/session/second_factor', spare)).status, 401);
});

test('recovery codes have 112 bits, and one of 80 bits from before is still valid', async () => {
  const client = await signedIn();
  const { recoveryCodes } = await addTotp(server, client);
  for (const code of recoveryCodes) {
    // The code has 112 bits: 22 characters of 5 bits and one of 2 bits.
    assert.match(code, /^(?:[A-Z2-7]{4}-){5}[A-Z2-7]{3}$/);
  }
  const earlier = 'ABCD-EFGH-IJKL-MNOP';
  const hash = createHash('sha256').update(earlier.replaceAll('-', '')).digest();
  await server.db.query(
    `insert into recovery_codes (user_id, hash)
     select user_id, $2 from recovery_codes where hash = $1`,
    [
      createHash('sha256')
        .update((recoveryCodes[0] ?? '').replaceAll('-', ''))
        .digest(),
      hash,
    ],
  );
  for (const code of [earlier, recoveryCodes[1]?.toLowerCase().replaceAll('-', ' ')]) {
    assert.equal((await client.post('/session/second_factor', { code })).status, 200, code);
  }
});

test('a thief with the password cannot lock the owner out by guessing codes', async () => {
  const owner = await signedIn();
  const { code } = await addTotp(server, owner);
  const thief = browser();
  await thief.post('/session', { email, password: PASSWORD });
  let last = 401;
  for (let i = 0; i < 11; i++) {
    last = (await thief.post('/session/second_factor', { code: '000001' })).status;
  }
  assert.equal(last, 429);
  server.clock.advance(30_000);
  await owner.delete('/session');
  await signedIn(owner);
  assert.equal((await owner.post('/session/second_factor', { code: code() })).status, 200);
});

test('codes cannot be guessed: ten tries an hour', async () => {
  const client = await signedIn();
  await addTotp(server, client);
  let answer = await client.post('/session/second_factor', { code: '000001' });
  for (let i = 0; i < 10; i++) {
    answer = await client.post('/session/second_factor', { code: '000001' });
  }
  assert.equal(answer.status, 429);
});

test('the token rotates every hour, and a lost rotation signs no one out', async () => {
  const client = await signedIn();
  const name = [...client.cookies.keys()].find((key) => key.includes('session')) ?? '';
  const old = client.cookies.get(name) ?? '';
  server.clock.advance(3_600_000);
  assert.equal((await client.get('/session')).status, 200);
  const next = client.cookies.get(name) ?? '';
  assert.notEqual(next, old);
  const late = browser();
  late.cookies.set(name, old);
  assert.equal((await late.get('/session')).status, 200, 'the new token was not used yet');
  assert.equal((await client.get('/session')).status, 200);
  server.clock.advance(61_000);
  late.cookies.set(name, old);
  assert.equal((await late.get('/session')).status, 401, 'the old token is invalid');
  assert.equal((await client.get('/session')).status, 200);
});

test('an idle session ends after a day, any session after two weeks', async () => {
  const idle = await signedIn();
  const busy = await signedIn();
  for (let hours = 0; hours < 14 * 24; hours += 23) {
    assert.equal((await busy.get('/session')).status, 200);
    server.clock.advance(23 * 3_600_000);
  }
  assert.equal((await idle.get('/session')).status, 401);
  assert.equal((await busy.get('/session')).status, 401);
});

test('a new password ends the other sessions; sign-out everywhere ends all', async () => {
  const here = await signedIn();
  const there = await signedIn();
  const wrong = { current_password: 'not my password', password: 'a new long passphrase' };
  assert.equal((await here.post('/me/password', wrong)).status, 400);
  const change = { current_password: PASSWORD, password: 'a new long passphrase' };
  assert.equal((await here.post('/me/password', change)).status, 200);
  assert.equal((await there.get('/session')).status, 401);
  assert.equal((await here.get('/session')).status, 200);
  assert.equal((await here.delete('/sessions')).status, 200);
  assert.equal((await here.get('/session')).status, 401);
});

test('sign-up verifies the mailbox first, and the link works once', async () => {
  const client = browser();
  const fresh = `new-${count}@demo.test`;
  assert.equal((await client.post('/sign_up', { email: fresh })).status, 202);
  const token = await server.mailedToken(fresh);
  const form = { token, name: 'Nina New', account_name: 'Nina’s Café', password: PASSWORD };
  const opened = await client.post('/sign_up/complete', form);
  assert.equal(opened.status, 201, opened.text);
  assert.equal((await client.get('/session')).status, 200);
  assert.equal((await browser().post('/sign_up/complete', form)).status, 400);
});

test('a sign-up may set currency and time zone, and is refused with a wrong one', async () => {
  const client = browser();
  const email = `shop-${count}@demo.test`;
  await client.post('/sign_up', { email });
  const token = await server.mailedToken(email);
  const form = { token, name: 'Nina', account_name: 'Nina’s Café', password: PASSWORD };
  for (const [wrong, param] of [
    [{ currency: 'xyz' }, 'currency'],
    [{ currency: 'EUR' }, 'currency'],
    [{ time_zone: 'Europe/Nowhere' }, 'time_zone'],
  ] as const) {
    const refused = await client.post('/sign_up/complete', { ...form, ...wrong });
    assert.deepEqual([refused.status, refused.body.error?.param], [400, param], refused.text);
  }
  const shop = { currency: 'eur', time_zone: 'Europe/Dublin' };
  assert.equal((await client.post('/sign_up/complete', { ...form, ...shop })).status, 201);
  const { body } = await client.get('/session');
  const [own] = body.accounts as { readonly id: string }[];
  const [row] = await server.db.query('select currency, time_zone from accounts where id = $1', [
    own?.id,
  ]);
  assert.deepEqual(row, shop);
});

test('sign-up and reset respond the same for known and unknown addresses', async () => {
  // A real network for comparison: only a sandbox returns the mailed link.
  const live = await startPeopleServer(undefined, undefined, { factorAgeMs: 1 });
  try {
    await addOwner(live, email);
    const stranger = new PersonClient(live.dashboard);
    for (const path of ['/sign_up', '/password_reset']) {
      const known = await stranger.post(path, { email });
      const unknown = await stranger.post(path, { email: `nobody-${count}@demo.test` });
      assert.equal(known.status, 202);
      assert.equal(known.text, unknown.text);
    }
  } finally {
    await live.close();
  }
});

/** Signs up at a sandbox with these headers, for a known address and for a new one. */
async function signUpTwice(headers: Record<string, string>) {
  const known = `known-${++count}@demo.test`;
  await addOwner(server, known);
  const ask = async (to: string) => {
    const { status, body } = await browser().post('/sign_up', { email: to }, headers);
    assert.equal(status, 202);
    return Object.keys(body).toSorted();
  };
  return [await ask(known), await ask(`new-${count}@demo.test`)];
}

test('a sandbox shows the mailed link to a browser on its own machine', async () => {
  assert.deepEqual(await signUpTwice({}), [
    ['link', 'status'],
    ['link', 'status'],
  ]);
});

for (const [name, value] of [
  ['X-Forwarded-For', '203.0.113.7'],
  ['X-Forwarded-Proto', 'https'],
  ['X-Real-Ip', '203.0.113.7'],
  ['Forwarded', 'for=203.0.113.7'],
  ['Via', '1.1 proxy'],
]) {
  test(`a sandbox behind a proxy (${name}) does not tell who has an account`, async () => {
    const [known, unknown] = await signUpTwice({ [String(name)]: String(value) });
    assert.deepEqual([known, unknown], [['status'], ['status']]);
  });
}

test('a reset link sets the password once and leaves the second factor in place', async () => {
  const before = await signedIn();
  await addTotp(server, before);
  const client = browser();
  await client.post('/password_reset', { email });
  const token = await server.mailedToken(email);
  const form = { token, password: 'quite another passphrase' };
  assert.equal((await client.post('/password_reset/complete', form)).status, 200);
  assert.equal((await client.post('/password_reset/complete', form)).status, 400);
  assert.equal((await before.get('/session')).status, 401);
  const again = await client.post('/session', { email, password: form.password });
  assert.equal(again.body.status, 'second_factor_required');
});

test('a reset link is invalid after half an hour', async () => {
  await browser().post('/password_reset', { email });
  const token = await server.mailedToken(email);
  server.clock.advance(30 * 60_000);
  const form = { token, password: 'quite another passphrase' };
  assert.equal((await browser().post('/password_reset/complete', form)).status, 400);
});

test("a merchant's session opens no operator route, nor the other way round", async () => {
  const staff = { email, password: 'staff passphrase one', name: 'Stan Staff' };
  const actor = { type: 'system', name: 'test' } as const;
  const now = server.clock.now();
  accepted(await createOperator(server.db, { person: staff, actor, now }));
  const operator = new PersonClient(server.operator);
  const wrong = await operator.post('/session', { email, password: PASSWORD });
  assert.equal(wrong.status, 401);
  const right = await operator.post('/session', { email, password: staff.password });
  assert.equal(right.status, 200, right.text);
  const merchant = browser();
  for (const [name, value] of operator.cookies) merchant.cookies.set(name, value);
  const [token = ''] = [...operator.cookies.values()];
  merchant.cookies.set('tapline_session', token);
  assert.equal((await merchant.get('/session')).status, 401);
});

test('weak and over-long passwords are refused', async () => {
  const client = await signedIn();
  const bad = [
    'short',
    'passwordpassword',
    'aaaaaaaaaaaaaaaa',
    '123456789012',
    email,
    'x'.repeat(257),
  ];
  for (const password of bad) {
    const answer = await client.post('/me/password', { current_password: PASSWORD, password });
    assert.equal(answer.status, 400, password);
  }
});
