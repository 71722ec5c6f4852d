import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAccountWithOwner } from '#accounts/create-account.ts';
import { isRefusal } from '#core/answer.ts';
import { localWakeups } from '#db/wakeups.ts';
import { silentLog } from '#observability/log.ts';
import { notifyOwners } from '#people/endpoint-mail.ts';
import { type Mail, sendDueMails } from '#people/mail-outbox.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';

test('owners get a mail when the service disables their endpoint, with the reason', async (t) => {
  const { db, close } = await testDatabase(2);
  t.after(close);
  const clock = new FakeClock();
  const created = await createAccountWithOwner(db, {
    accountName: 'Mail Shop',
    owner: { email: 'owner@shop.test', password: 'a long enough phrase', name: 'Olga Owner' },
    actor: { type: 'system', name: 'test' },
    now: clock.now(),
  });
  assert.ok(!isRefusal(created));
  const secretKey = Buffer.alloc(32, 7);
  const url = 'https://shop.test/hooks';
  const notice = { accountId: created.accountId, url, reason: 'persistent_failure' };
  await db.transaction((tx) => notifyOwners(secretKey)(tx, notice, clock.now()));

  const sent: Mail[] = [];
  const mailer = { send: async (mail: Mail) => void sent.push(mail) };
  const deps = { db, clock, mailer, secretKey, log: silentLog, wakeups: localWakeups() };
  await sendDueMails(deps);
  assert.equal(sent.length, 1);
  assert.equal(sent[0]?.to, 'owner@shop.test');
  assert.match(sent[0]?.text ?? '', /https:\/\/shop\.test\/hooks: .* five days/);
});
