import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { AnchorTarget } from '#audit/anchor-target.ts';
import { recordEntry } from '#audit/audit.ts';
import { parseAnchors, reportAuditLog } from '#audit/verify-audit-log.ts';
import { DAY_MS } from '#core/durations.ts';
import { localWakeups } from '#db/wakeups.ts';
import { silentLog } from '#observability/log.ts';
import { anchorAuditLog } from '#ops/audit-anchors.ts';
import type { Mail } from '#people/mail-outbox.ts';
import { readConfig } from '#settings/config.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';
import { startReceiver } from '#testkit/network/webhook-receiver.ts';

const actor = {
  type: 'user',
  userId: 'usr_1',
  email: 'olga@demo.test',
  requestId: 'req_1',
  address: '203.0.113.9',
} as const;

async function scene(t: TestContext) {
  const database = await testDatabase();
  t.after(() => database.close());
  const { db } = database;
  const clock = new FakeClock();
  const mails: Mail[] = [];
  const complaints: string[] = [];
  const file = path.join(testFolder(t), 'anchors.jsonl');
  const mailer = { send: async (mail: Mail) => void mails.push(mail) };
  const log = { ...silentLog, error: (message: string) => void complaints.push(message) };
  const anchorTo = (anchorTarget: AnchorTarget) => () =>
    anchorAuditLog({ db, clock, log, wakeups: localWakeups() }, { mailer, anchorTarget });
  const record = (auditLog: string) =>
    db.transaction((tx) =>
      recordEntry(tx, {
        ...{ auditLog, actor, action: 'api_key.created', objectId: 'key_1', livemode: true },
        ...{ before: null, after: { name: 'till' }, now: clock.now() },
      }),
    );
  const verify = (text: string) =>
    reportAuditLog(db, { anchors: parseAnchors(text), print: () => {} });
  const cut = async (auditLog: string, after: number) => {
    await db.query('alter table audit_log disable trigger all');
    await db.query('delete from audit_log where chain = $1 and sequence > $2', [auditLog, after]);
    await db.query('alter table audit_log enable trigger all');
  };
  const lines = async () => (await readFile(file, 'utf8')).split('\n').filter((one) => one !== '');
  return {
    ...{ db, clock, mails, complaints, file, anchorTo, record, verify, cut, lines },
  };
}

test('a worker skips a day that another worker has claimed', async (t) => {
  const { anchorTo, record } = await scene(t);
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const anchor = anchorTo({ to: 'url', url: receiver.url });
  receiver.answer(async (_received, response) => {
    if (receiver.received.length === 1) await anchor();
    response.end();
  });
  await record('acct_0');
  await anchor();
  assert.equal(receiver.received.length, 1);
});

test('several workers write one anchor a day', async (t) => {
  const { anchorTo, file, record, lines, clock } = await scene(t);
  await record('acct_0');
  await record('acct_0');
  await record('acct_1');
  const anchor = anchorTo({ to: 'file', path: file });
  await Promise.all(Array.from({ length: 6 }, () => anchor()));
  clock.advance(3_600_000);
  await record('acct_1');
  await anchor();
  const [line = '', ...more] = await lines();
  assert.deepEqual(more, []);
  assert.deepEqual(
    parseAnchors(line).map(({ chain, sequence }) => [chain, sequence]),
    [
      ['acct_0', 2n],
      ['acct_1', 1n],
    ],
  );
});

test("the next day's anchor has only audit logs that changed; a quiet day has none", async (t) => {
  const { anchorTo, file, record, lines, clock } = await scene(t);
  const anchor = anchorTo({ to: 'file', path: file });
  await record('acct_0');
  await record('acct_1');
  await anchor();
  await record('acct_1');
  clock.advance(DAY_MS);
  await anchor();
  clock.advance(DAY_MS);
  await anchor();
  const [, second = '', ...more] = await lines();
  assert.deepEqual(more, []);
  assert.deepEqual(
    parseAnchors(second).map(({ chain, sequence }) => [chain, sequence]),
    [['acct_1', 2n]],
  );
});

test('entries removed from the end after an anchor are detected with its file', async (t) => {
  const { anchorTo, file, record, verify, cut } = await scene(t);
  for (let i = 0; i < 3; i++) await record('acct_0');
  await anchorTo({ to: 'file', path: file })();
  const text = await readFile(file, 'utf8');
  await record('acct_0');
  assert.equal(await verify(text), 0, 'a longer audit log holds the anchor');
  await cut('acct_0', 2);
  assert.equal(await verify(''), 0, 'without the anchor it looks whole');
  assert.equal(await verify(text), 1);
  await cut('acct_0', 0);
  assert.equal(await verify(text), 1, 'a deleted audit log is detected, too');
});

test('by default all active operators get a mail, whose text is a valid anchor file', async (t) => {
  const { db, anchorTo, record, mails, verify, cut } = await scene(t);
  for (const [name, status] of [
    ['ada', 'active'],
    ['bob', 'active'],
    ['eve', 'disabled'],
  ]) {
    await db.query(
      `insert into users (id, realm, email, name, password_hash, status, created)
       values ($1, 'operator', $1 || '@staff.test', $1, '', $2, now())`,
      [name, status],
    );
  }
  await record('acct_0');
  await anchorTo({ to: 'operators' })();
  const [mail, ...more] = mails;
  assert.deepEqual(more, []);
  assert.equal(mail?.to, 'ada@staff.test, bob@staff.test');
  assert.equal(parseAnchors(mail.text).length, 1);
  assert.equal(await verify(mail.text), 0);
  await cut('acct_0', 0);
  assert.equal(await verify(mail.text), 1);
});

test('a failed delivery of an anchor is retried until it succeeds', async (t) => {
  const { anchorTo, record, clock, complaints, verify } = await scene(t);
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  receiver.answer((_received, response) => void response.writeHead(503).end());
  const anchor = anchorTo({ to: 'url', url: receiver.url });
  await record('acct_0');
  await anchor();
  await anchor();
  assert.equal(receiver.received.length, 1, 'not at once');
  assert.equal(complaints.length, 1);
  receiver.answer((_received, response) => void response.end());
  clock.advance(300_000);
  await anchor();
  clock.advance(300_000);
  await anchor();
  assert.equal(receiver.received.length, 2, 'and not again once it was taken');
  const body = receiver.received[1]?.body.toString() ?? '';
  assert.equal(parseAnchors(body).length, 1);
  assert.equal(await verify(body), 0);
});

test('the setting accepts a mailbox, an https address or a file, and nothing else', () => {
  const read = (value: string) => readConfig({ AUDIT_ANCHORS: value }, []).auditAnchors;
  assert.deepEqual(read('mail:a@example.com'), { to: 'mail', address: 'a@example.com' });
  assert.deepEqual(read('https://example.com/a'), { to: 'url', url: 'https://example.com/a' });
  assert.deepEqual(read('file:/var/lib/a'), { to: 'file', path: '/var/lib/a' });
  for (const wrong of ['http://example.com', 'mail:nobody', 'file:here', 'mail:a@b.c,d@e.f']) {
    assert.throws(() => read(wrong), /AUDIT_ANCHORS must be/);
  }
});

test('a line that is not an anchor is rejected', () => {
  const hash = 'ab'.repeat(32);
  assert.equal(parseAnchors(`# words\n\nacct_0 1 ${hash}\n`).length, 1);
  for (const wrong of [
    'words',
    '{"heads":[{"chain":"acct_0"}]}',
    '{"heads":[null]}',
    'null',
    '{}',
  ]) {
    assert.throws(() => parseAnchors(wrong), /not an anchor/);
  }
});
