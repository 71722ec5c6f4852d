import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { localWakeups } from '#db/wakeups.ts';
import { type Log, silentLog } from '#observability/log.ts';
import { type Mail, sendDueMails } from '#people/mail-outbox.ts';
import { peopleKey } from '#settings/config.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { openServedStore, type StoreServer } from '#testkit/apis/store-server.ts';
import { tap } from '#testkit/apis/tap.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import {
  addIntent,
  addMerchant,
  addPayer,
  addTerminal,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';

let store: TestStore;
let server: StoreServer;
let device: Caller;

const ADDRESS = 'jane.doe+receipts@example.com';
const secretKey = peopleKey(Buffer.alloc(32, 7));

before(async () => {
  ({ store, server, device } = await openServedStore({ settles: true }));
});

after(() => server.close());

async function pay(): Promise<string> {
  const intentId = await addIntent(store);
  const { pass } = await addPayer(store);
  const { body } = await tap(device, intentId, pass);
  assert.equal(body.status, 'succeeded');
  return String(body.payment);
}

const mail = (by: Caller, payment: string, email = ADDRESS) =>
  by.post(`/payments/${payment}/receipt_mail`, { email });

async function sendAll(send: (mail: Mail) => Promise<void>, log: Log = silentLog) {
  const clock = new FakeClock(new Date(Date.now() + 60_000));
  const rest = { db: store.db, clock, log, wakeups: localWakeups() };
  await sendDueMails({ ...rest, secretKey, mailer: { send } });
}

test('a receipt is mailed at most three times, and no address is stored', async () => {
  const payment = await pay();
  for (const remaining of [2, 1, 0]) {
    const { status, body } = await mail(device, payment);
    assert.equal(status, 202);
    assert.deepEqual(body, { object: 'receipt_mail', payment, remaining });
  }
  const fourth = await mail(device, payment);
  assert.deepEqual([fourth.status, errorCodeOf(fourth.body)], [409, 'unexpected_state']);
  assert.equal(fourth.headers.get('retry-after'), null, 'the limit does not reset the next day');
  const said: string[] = [];
  const note = (...parts: unknown[]) => void said.push(parts.map(String).join(' '));
  const warn = (message: string, fields: Record<string, unknown> = {}) =>
    note(message, ...Object.values(fields), (fields.error as Error).stack);
  await sendAll(
    async ({ to }) => {
      throw new Error(`550 5.1.1 <${to.toUpperCase()}> unknown`);
    },
    { ...silentLog, warn },
  );
  assert.equal(said.length, 3, 'each refused mail is logged');
  assert.ok(!/jane/i.test(said.join('\n')), said.join('\n'));
  await store.db.query('update mail_outbox set due_at = created');
  const sent: Mail[] = [];
  await sendAll(async (one) => void sent.push(one));
  assert.deepEqual(
    sent.map(({ to, subject }) => [to, subject]),
    Array.from({ length: 3 }, () => [ADDRESS, 'Your receipt']),
  );
  const { body } = await device.get('/payments?limit=1');
  const [paid] = body.data as { receipt_url: string }[];
  assert.ok(sent[0]?.text.includes(`\n${paid?.receipt_url}\n`));
  const left = await store.db.query('select 1 from mail_outbox where sealed is not null');
  assert.equal(left.length, 0, 'sent mails are deleted');
});

test('parallel requests mail at most three', async () => {
  const payment = await pay();
  const all = await Promise.all(Array.from({ length: 8 }, () => mail(device, payment)));
  assert.equal(all.filter(({ status }) => status === 202).length, 3);
});

test('a terminal mails thirty receipts an hour; another terminal can still mail', async () => {
  const { deviceKey } = await addTerminal(store.db, store.merchant, new Date());
  const busy = server.device(deviceKey);
  const payments = [];
  for (let made = 0; made < 11; made++) payments.push(await pay());
  const answers = [];
  for (const payment of payments) {
    for (let i = 0; i < 3; i++) answers.push((await mail(busy, payment)).status);
  }
  assert.deepEqual(answers, [...Array(30).fill(202), 429, 429, 429]);
  assert.equal((await mail(device, payments[10] ?? '')).status, 202);
});

test('an invalid address, an unknown payment and another shop’s payment get no mail', async () => {
  const payment = await pay();
  const bad = ['', 'nobody', 'a@b', 'a@b.c, d@e.f', 'a@b.c\nBcc: d@e.f', `${'x'.repeat(255)}@e.f`];
  for (const email of bad) {
    const { status } = await mail(device, payment, email);
    assert.equal(status, 400, email);
  }
  assert.equal((await mail(device, 'pay_0000000000000000000000')).status, 404);
  const other = await addMerchant(store.db, { now: new Date() });
  const { deviceKey } = await addTerminal(store.db, other, new Date());
  assert.equal((await mail(server.device(deviceKey), payment)).status, 404);
});

test('a receipt is mailed in the language that the till or the account asks for', async () => {
  const payment = await pay();
  const inLanguage = (language: string) =>
    device.post(`/payments/${payment}/receipt_mail`, { email: ADDRESS, language });
  for (const bad of ['xx', 'qps', 'DE', '']) assert.equal((await inLanguage(bad)).status, 400, bad);
  const sent: Mail[] = [];
  await store.db.query('delete from mail_outbox');
  assert.equal((await inLanguage('ja')).status, 202);
  const { accountId } = store.merchant.tenant;
  await store.db.query("update accounts set language = 'pt' where id = $1", [accountId]);
  assert.equal((await mail(device, payment)).status, 202);
  await store.db.query('update accounts set language = null where id = $1', [accountId]);
  assert.equal((await mail(device, payment)).status, 202);
  await sendAll(async (one) => void sent.push(one));
  // Emails that were created at the same time may be sent in any order.
  assert.deepEqual(sent.map(({ language }) => language).sort(), ['en', 'ja', 'pt']);
});
