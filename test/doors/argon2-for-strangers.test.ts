import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRefusal } from '#core/answer.ts';
import { newSecret } from '#core/bearer-secrets.ts';
import { HashGate } from '#people/password-hash-limits.ts';
import { hashPassword } from '#people/passwords.ts';
import { addOwner, PASSWORD } from '#testkit/apis/people.ts';
import { startPeopleServer } from '#testkit/apis/people-server.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

/**
 * The flaw: sign-up, reset and invitation hashed the password before they checked the token, so
 * anyone could occupy the cores: a sign-in took 2,322 ms instead of 61.
 */

const EMAIL = 'owner@argon.test';
const WAYS = [
  ['/sign_up/complete', 'mailLink', { name: 'X', account_name: 'X', password: PASSWORD }],
  ['/password_reset/complete', 'mailLink', { password: PASSWORD }],
  ['/invitations/accept', 'invitation', { name: 'X', password: PASSWORD }],
] as const;

const server = openForTests(startPeopleServer, async () => {
  await addOwner(server, EMAIL);
});

test('a made-up link is refused without a hash, and an address has thirty attempts', async () => {
  for (const [path, kind, form] of WAYS) {
    server.clock.advance(15 * 60_000);
    const client = new PersonClient(server.dashboard);
    const statuses: number[] = [];
    for (let i = 0; i < 35; i++) {
      const answer = await client.post(path, { token: newSecret(kind), ...form });
      statuses.push(answer.status);
    }
    assert.equal(statuses.filter((status) => status === 400).length, 30, path);
    assert.equal(statuses.filter((status) => status === 429).length, 5, path);
  }
});

test('attempts with made-up links cost no hashes', async () => {
  server.clock.advance(15 * 60_000);
  const cpuMs = async (work: () => Promise<unknown>) => {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const hash = await cpuMs(() => hashPassword(PASSWORD, 'command'));
  const attempt = async (i: number) => {
    const [path, kind, form] = WAYS[i % WAYS.length] ?? WAYS[0];
    await new PersonClient(server.dashboard).post(path, { token: newSecret(kind), ...form });
  };
  await attempt(0);
  const tries = () => Promise.all(Array.from({ length: 29 }, (_, i) => attempt(i)));
  const spent = await cpuMs(tries);
  assert.ok(spent < hash * 29 * 0.6, `${spent} ms for 29 tries, ${hash} ms for a hash`);
});

test('each kind of caller has its own share, and the queue is bounded', async () => {
  const share = { running: 1, waiting: 2 };
  const gate = new HashGate({
    stranger: share,
    link: share,
    person: share,
    till: share,
    staff: share,
    command: share,
  });
  let running = 0;
  let most = 0;
  const work = async () => {
    most = Math.max(most, ++running);
    await sleep(50);
    running--;
    return 'done';
  };
  const strangers = Array.from({ length: 5 }, () => gate.run('stranger', work));
  const refused = (await Promise.all(strangers)).filter(isRefusal);
  assert.equal(refused.length, 2, 'one runs, two wait');
  assert.equal(refused[0]?.code, 'service_unavailable');
  assert.equal(most, 1);
  const slow = Array.from({ length: 3 }, () => gate.run('stranger', work));
  const begun = performance.now();
  assert.equal(await gate.run('staff', work), 'done');
  assert.ok(performance.now() - begun < 140, 'staff do not wait for strangers');
  await Promise.all(slow);
  assert.equal(await gate.run('stranger', work), 'done', 'places are given back');
});

test('a hash that fails frees its slot', async () => {
  const gate = new HashGate();
  for (let i = 0; i < 5; i++) {
    await assert.rejects(gate.run('link', () => Promise.reject(new Error('broken'))));
  }
  assert.equal(await gate.run('link', async () => 1), 1);
});
