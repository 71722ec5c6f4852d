import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { addOwner, addStaff, PASSWORD, signInAs } from '#testkit/apis/people.ts';
import { startPeopleServer } from '#testkit/apis/people-server.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { Authenticator } from '#testkit/fixtures/people/authenticator.ts';

let count = 0;
let email = '';
let client: PersonClient;
let key: Authenticator;

const server = openForTests(startPeopleServer);

const browser = () => new PersonClient(server.dashboard);

async function addPasskey(to: PersonClient, authenticator: Authenticator): Promise<string> {
  const options = await to.post('/me/passkeys/options', { current_password: PASSWORD });
  assert.equal(options.status, 200, options.text);
  const response = authenticator.register(String(options.body.challenge));
  const added = await to.post('/me/passkeys', { name: 'My key', response });
  assert.equal(added.status, 201, added.text);
  return String(added.body.id);
}

async function challenge(person: PersonClient, path = '/session/passkey_options'): Promise<string> {
  const answer = await person.post(path);
  assert.equal(answer.status, 200, answer.text);
  return String(answer.body.challenge);
}

beforeEach(async () => {
  email = `key-${++count}@demo.test`;
  await addOwner(server, email);
  client = await signInAs(server, email);
  key = new Authenticator({ rpId: 'localhost', origin: server.origin });
});

test('a passkey signs in alone, as two factors in one', async () => {
  await addPasskey(client, key);
  const other = browser();
  const response = key.use(await challenge(other));
  const opened = await other.post('/session/passkey', { response });
  assert.equal(opened.body.status, 'signed_in', opened.text);
  assert.notEqual(opened.body.second_factor_at, null);
});

test('a response works once, for its own challenge, from its own site, and unlocked', async () => {
  await addPasskey(client, key);
  const other = browser();
  const refused = async (response: object) =>
    (await other.post('/session/passkey', { response })).status;
  const used = key.use(await challenge(other));
  assert.equal(await refused(used), 200);
  assert.equal(await refused(used), 401, 'replayed');
  assert.equal(await refused(key.use('bm90LWEtY2hhbGxlbmdl')), 401, 'made up');
  key.verified = false;
  assert.equal(await refused(key.use(await challenge(other))), 401, 'not unlocked');
  key.verified = true;
  const late = key.use(await challenge(other));
  server.clock.advance(5 * 60_000);
  assert.equal(await refused(late), 401, 'too late');
  key.counter = 0;
  assert.equal(await refused(key.use(await challenge(other))), 401, 'a copy of the key');
});

test('a passkey of another site, or an unknown one, does not sign in', async () => {
  const phished = new Authenticator({ rpId: 'localhost', origin: 'https://evil.example' });
  const options = await client.post('/me/passkeys/options', { current_password: PASSWORD });
  const response = phished.register(String(options.body.challenge));
  assert.equal((await client.post('/me/passkeys', { name: 'Evil', response })).status, 400);
  const other = browser();
  const unknown = { response: key.use(await challenge(other)) };
  assert.equal((await other.post('/session/passkey', unknown)).status, 401);
});

test('an account with a passkey requires it in addition to the password', async () => {
  await addPasskey(client, key);
  const other = browser();
  const half = await other.post('/session', { email, password: PASSWORD });
  assert.equal(half.body.status, 'second_factor_required');
  const path = '/session/second_factor/passkey_options';
  const response = key.use(await challenge(other, path));
  const proven = await other.post('/session/second_factor/passkey', { response });
  assert.equal(proven.body.status, 'signed_in', proven.text);
});

test("another person's passkey does not verify my second factor", async () => {
  await addPasskey(client, key);
  await addOwner(server, `m-${email}`);
  const mallory = await signInAs(server, `m-${email}`);
  const theirs = new Authenticator({ rpId: 'localhost', origin: server.origin });
  await addPasskey(mallory, theirs);
  const victim = await signInAs(server, email);
  const path = '/session/second_factor/passkey_options';
  const response = theirs.use(await challenge(victim, path));
  const refused = await victim.post('/session/second_factor/passkey', { response });
  assert.equal(refused.status, 401);
  const foreign = { response: key.use(await challenge(mallory, path)) };
  assert.equal((await victim.post('/session/second_factor/passkey', foreign)).status, 401);
});

test('adding a factor needs the password, or the existing factor', async () => {
  const bare = await client.post('/me/passkeys/options');
  assert.equal(bare.body.error?.param, 'current_password');
  const wrong = await client.post('/me/passkeys/options', { current_password: 'not mine at all' });
  assert.equal(wrong.status, 400);
  const id = await addPasskey(client, key);
  server.clock.advance(6 * 60_000);
  const stale = await client.post('/me/passkeys/options', { current_password: PASSWORD });
  assert.equal(stale.body.error?.code, 'second_factor_required');
  assert.equal((await client.delete(`/me/passkeys/${id}`)).status, 403);
  const response = key.use(await challenge(client, '/session/second_factor/passkey_options'));
  assert.equal((await client.post('/session/second_factor/passkey', { response })).status, 200);
  assert.equal((await client.delete(`/me/passkeys/${id}`)).status, 200);
});

test('staff sign in with passkeys of their own realm, and keep the last factor', async () => {
  const { client: staff } = await addStaff(server, email, { hasFactor: false });
  const id = await addPasskey(staff, key);
  assert.equal((await staff.delete(`/me/passkeys/${id}`)).status, 409);
  const merchant = browser();
  const response = key.use(await challenge(merchant));
  assert.equal((await merchant.post('/session/passkey', { response })).status, 401);
});
