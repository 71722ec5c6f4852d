import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addMember, addOwner, addTotp, PASSWORD, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

/**
 * The flaw: the live feed continued for minutes after a member was removed or had signed out.
 * Later, it continued after a member had become a cashier, and exports ran to their end.
 */

/** The promise is one second; the rest allows for a busy machine. */
const WITHIN_MS = 2_500;

let account = '';
let owner: PersonClient;

const server = openForTests(startDashboardServer, async () => {
  account = (await addOwner(server, 'owner@feed.test')).accountId;
  owner = await signInAs(server, 'owner@feed.test');
  await addIntents(30_000);
});

/** Opens the feed and calls `cut`. @returns the milliseconds from then until the feed ended. */
async function timeToEnd(client: PersonClient, cut: () => Promise<unknown>): Promise<number> {
  const stop = new AbortController();
  const response = await fetch(`${server.dashboard}/accounts/${account}/test/feed`, {
    headers: client.headers(),
    signal: stop.signal,
  });
  assert.equal(response.status, 200);
  const reader = response.body?.getReader();
  assert.ok(reader);
  assert.equal((await reader.read()).done, false, 'the feed has begun');
  await cut();
  const begun = performance.now();
  const timer = setTimeout(() => stop.abort(), 10_000);
  while (!(await reader.read()).done);
  clearTimeout(timer);
  return performance.now() - begun;
}

let count = 0;

async function member(): Promise<{ client: PersonClient; userId: string }> {
  const email = `member-${++count}@feed.test`;
  const userId = await addMember(server, { email, accountId: account, role: 'member' });
  return { client: await signInAs(server, email), userId };
}

test('a removed member gets no more events', async () => {
  const { client, userId } = await member();
  const path = `/accounts/${account}/members/${userId}`;
  const took = await timeToEnd(client, async () =>
    assert.equal((await owner.delete(path)).status, 200),
  );
  assert.ok(took < WITHIN_MS, `${took} ms`);
});

test('signing out, here or everywhere, ends the feed', async () => {
  for (const path of ['/session', '/sessions']) {
    const { client } = await member();
    const took = await timeToEnd(client, () => client.delete(path));
    assert.ok(took < WITHIN_MS, `${path} ${took} ms`);
  }
});

test('a new password ends the feeds of all other sessions', async () => {
  const { client } = await member();
  const other = await signInAs(server, `member-${count}@feed.test`);
  const change = { current_password: PASSWORD, password: 'a new long passphrase' };
  const took = await timeToEnd(client, () => other.post('/me/password', change));
  assert.ok(took < WITHIN_MS, `${took} ms`);
});

test('a disabled user gets no more events; a second factor changes nothing', async () => {
  const { client, userId } = await member();
  const took = await timeToEnd(client, () =>
    server.db.query("update users set status = 'disabled' where id = $1", [userId]),
  );
  assert.ok(took < WITHIN_MS, `${took} ms`);
  const factor = await member();
  const both = await timeToEnd(factor.client, async () => {
    await addTotp(server, factor.client);
    assert.equal((await factor.client.get('/session')).status, 200);
    await factor.client.delete('/session');
  });
  assert.ok(both < WITHIN_MS, `${both} ms`);
});

test('a member who becomes a cashier gets no more events', async () => {
  const { client, userId } = await member();
  const team = `/accounts/${account}/members`;
  const took = await timeToEnd(client, async () => {
    const rows = await owner.list<{ user: string; version: number }>(team);
    const version = rows.find(({ user }) => user === userId)?.version;
    const changed = await owner.patch(`${team}/${userId}`, { role: 'cashier', version });
    assert.equal(changed.status, 200, changed.text);
  });
  assert.ok(took < WITHIN_MS, `${took} ms`);
});

/** Adds so many open intents that their export does not fit into the buffers of a connection. */
async function addIntents(count: number): Promise<void> {
  await server.db.query(
    `insert into payment_intents (id, account_id, livemode, position, created, amount, terminal_id,
       order_id, description, metadata, source, expires_at, status)
     select 'pi_' || lpad(i::text, 22, '0'), $1, false, i, now(), 1000000, 'tml_1',
       'o' || i, repeat('x', 900), '{}', 'api', now() + interval '1 day', 'requires_payment_method'
     from generate_series(1, $2::int) i`,
    [account, count],
  );
}

const OF_ACCOUNT = () => `/accounts/${account}/test/exports/payment_intents?format=jsonl`;

for (const [change, cut] of Object.entries({
  'whose role ends': (userId: string) => owner.delete(`/accounts/${account}/members/${userId}`),
  'who signs out': (_: string, client: PersonClient) => client.delete('/session'),
})) {
  test(`an export in progress is cut off for a member ${change}`, async () => {
    const { client, userId } = await member();
    const response = await fetch(`${server.dashboard}${OF_ACCOUNT()}`, {
      headers: client.headers(),
    });
    assert.equal(response.status, 200);
    const reader = response.body?.getReader();
    assert.ok(reader);
    assert.equal((await reader.read()).done, false);
    assert.equal((await cut(userId, client)).status, 200);
    await sleep(WITHIN_MS);
    let bytes = 0;
    const rest = async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        bytes += value.length;
      }
    };
    await assert.rejects(rest(), /terminated|aborted|closed/);
    assert.ok(bytes < 20_000_000, `${bytes} bytes after the end of the right`);
  });
}

test('of forty feeds opened at the same instant, exactly ten open', async () => {
  const { client } = await member();
  const stop = new AbortController();
  const path = `${server.dashboard}/accounts/${account}/test/feed`;
  const opened = await Promise.all(
    Array.from({ length: 40 }, () =>
      fetch(path, { headers: client.headers(), signal: stop.signal }),
    ),
  );
  const statuses = opened.map(({ status }) => status);
  stop.abort();
  assert.equal(statuses.filter((status) => status === 200).length, 10, statuses.join());
  assert.equal(statuses.filter((status) => status === 429).length, 30, statuses.join());
});
