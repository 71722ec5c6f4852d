import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { advanceTestClock } from '#apis/test-helpers/clock-routes.ts';
import { announceExports } from '#books/export-schedule.ts';
import { present } from '#core/assert.ts';
import { decrypt } from '#core/bearer-secrets.ts';
import { dayAfter, dayIn } from '#core/calendar.ts';
import { addSeconds } from '#core/clock.ts';
import { localWakeups } from '#db/wakeups.ts';
import { silentLog } from '#observability/log.ts';
import type { Mail } from '#people/mail-outbox.ts';
import { type DashboardServer, startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addMember, addOwner, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { underWay, waitingForLocks } from '#testkit/fixtures/core/open-transactions.ts';
import { addSales, parseJsonl, SKR03 } from '#testkit/fixtures/payments/books.ts';

/**
 * Tests the automatic actions at the end of a period, and their settings: payouts, and statements
 * that are sent as links.
 */

const DAY_SECONDS = 86_400;
const MAIL_KEY = Buffer.alloc(32, 'key');

let server: DashboardServer;
let owner: PersonClient;
let admin: PersonClient;
let accountId = '';
let ahead = 0;

const path = () => `/accounts/${accountId}`;
const tenant = () => ({ accountId, livemode: false });
const today = () => dayIn('Europe/Berlin', addSeconds(server.clock.now(), ahead));

before(async () => {
  server = await startDashboardServer();
  ({ accountId } = await addOwner(server, 'olga@books.test'));
  await addMember(server, { email: 'ada@books.test', accountId, role: 'admin' });
  owner = await signInAs(server, 'olga@books.test');
  admin = await signInAs(server, 'ada@books.test');
  await server.db.query(
    `update account_modes set merchant_number = 1, live_at = now()
     where account_id = $1 and not livemode`,
    [accountId],
  );
  await edit(admin, { time_zone: 'Europe/Berlin' });
});
after(() => server.close());

async function edit(by: PersonClient, settings: object) {
  const { version } = (await by.get(path())).body;
  const { status, body } = await by.patch(path(), { version, ...settings });
  return status === 200 ? '200' : `${status} ${body.error?.code}`;
}

async function countMails(): Promise<number> {
  const count = 'select count(*)::int as count from mail_outbox';
  const rows = await server.db.query<{ count: number }>(count);
  return rows[0]?.count ?? 0;
}

test('only an owner with a fresh factor enables automatic payouts; owners get a mail', async () => {
  assert.equal(await edit(admin, { automatic_payout: 'daily' }), '403 role_missing');
  assert.equal(await edit(owner, { automatic_payout: 'hourly' }), '400 parameter_invalid');
  assert.equal(await edit(owner, { automatic_payout: 'daily' }), '403 second_factor_required');
  const mails = await countMails();
  await server.db.query('update sessions set second_factor_at = $1', [server.clock.now()]);
  assert.equal(await edit(owner, { automatic_payout: 'daily' }), '200');
  assert.equal(await countMails(), mails + 1);
  assert.equal((await admin.get(path())).body.automatic_payout, 'daily');
  type Skipped = Record<'period' | 'status' | 'reason' | 'message', string>;
  const [first] = await admin.list<Skipped>(`${path()}/test/automatic_payouts`);
  assert.equal(first?.period, dayAfter(today(), -1));
  assert.deepEqual([first?.status, first?.reason], ['skipped', 'enabled_later']);
  assert.match(first?.message ?? '', /enabled after/);
  assert.equal(await edit(admin, { automatic_payout: null }), '403 role_missing');
  await server.db.query('update sessions set second_factor_at = null');
  await server.db.query(
    `insert into automatic_payouts (account_id, livemode, every, period, status, reason, updated)
     values ($1, false, 'daily', '2026-01-01', 'waiting', 'chain_unavailable', now())`,
    [accountId],
  );
  assert.equal(await edit(owner, { automatic_payout: null }), '200', 'stopping needs no factor');
  const waiting = `select from automatic_payouts where status = 'waiting'`;
  assert.equal((await server.db.query(waiting)).length, 0, 'nothing waits any more');
  assert.equal((await server.db.query(`select from period_ends`)).length, 0);
});

test('a schedule has the form that the API contract defines', async () => {
  const wrong = [
    { every: 'year', format: 'csv' },
    { every: 'day', format: 'mt940' },
    { every: 'day' },
    { every: 'day', format: 'csv', email: 'nobody' },
    { every: 'day', format: 'csv', to: 'x' },
    'day',
  ];
  for (const export_schedule of wrong) {
    assert.match(await edit(admin, { export_schedule }), /^400 parameter_/);
  }
  const schedule = { every: 'day', format: 'jsonl', email: 'books@accountant.test' };
  assert.equal(await edit(admin, { export_schedule: schedule }), '200');
  assert.deepEqual((await owner.get(path())).body.export_schedule, schedule);
});

function announce(): Promise<boolean> {
  const mailing = { secretKey: MAIL_KEY, webUrl: server.origin };
  const { db, clock } = server;
  return announceExports({ db, clock, wakeups: localWakeups(), log: silentLog }, mailing);
}

interface ReadyExport {
  readonly url: string;
  readonly from: string;
  readonly to: string;
  readonly entries: number;
  readonly expires_at: string;
}

async function ready(): Promise<(ReadyExport & { created: Date })[]> {
  const rows = await server.db.query<{ body: string; created: Date }>(
    `select body::text, created from events where account_id = $1 and type = 'export.ready'
     order by position`,
    [accountId],
  );
  return rows.map(({ body, created }) => ({ ...JSON.parse(body).data.object, created }));
}

async function advance(days: number): Promise<void> {
  const seconds = days * DAY_SECONDS;
  ahead += seconds;
  const { db, clock } = server;
  const ctx = { db, clock, wakeups: localWakeups(), log: silentLog };
  await advanceTestClock(ctx, { tenant: tenant(), seconds });
}

test("a day's statement is announced once after its end, with a link that expires", async () => {
  await announce();
  assert.deepEqual(await ready(), [], 'not the day before the schedule was set');
  const now = addSeconds(server.clock.now(), ahead);
  await addSales(server.db, tenant(), [{ at: now, amount: 2_500_000n }]);
  const mails = await countMails();
  const sold = today();
  await advance(1);
  await Promise.all(Array.from({ length: 5 }, announce));
  const [one, ...others] = await ready();
  assert.ok(one !== undefined && others.length === 0);
  assert.equal(one.entries, 1);
  assert.deepEqual([one.from, one.to], [sold, sold]);
  assert.equal(await countMails(), mails + 1);
  const lifetime = new Date(one.expires_at).getTime() - one.created.getTime();
  assert.ok(lifetime > 0 && lifetime <= 7 * DAY_SECONDS * 1000);
  const url = one.url.replace(/^.*\/api\/dashboard\/v1/, server.dashboard);
  const got = await fetch(url);
  assert.equal(got.status, 200);
  assert.match(got.headers.get('content-disposition') ?? '', /^attachment; /);
  const { head, entries } = parseJsonl(await got.text());
  assert.equal(head.closing_balance, 2_500_000);
  assert.equal(entries.length, 1);
  const other = `${url.slice(0, -1)}${url.endsWith('x') ? 'y' : 'x'}`;
  assert.equal((await fetch(other)).status, 404);
  await advance(7);
  assert.equal((await fetch(url)).status, 404, 'the link has ended');
  await announce();
  const [, next] = await ready();
  assert.equal(next?.from, dayAfter(today(), -1), 'the last day alone');
  assert.equal(next?.entries, 0, 'an empty day is announced as one');
  assert.match((await lastMail()).text, /No entries/);
});

/** Ends a day. @returns how many events and mails announce its statement. */
async function announced(): Promise<{ readonly events: number; readonly mails: number }> {
  const [events, mails] = [(await ready()).length, await countMails()];
  await advance(1);
  await announce();
  return { events: (await ready()).length - events, mails: (await countMails()) - mails };
}

/** Returns the newest mail, as it is sent. */
async function lastMail(): Promise<Mail> {
  const rows = await server.db.query<{ sealed: Buffer; context: string }>(
    'select sealed, context from mail_outbox order by id desc limit 1',
  );
  const { sealed, context } = present(rows[0], 'mail');
  return JSON.parse(decrypt(MAIL_KEY, sealed, context));
}

test('a statement that cannot be written is a mail to the owners and the address', async () => {
  const schedule = { every: 'day', format: 'datev', email: 'books@accountant.test' };
  assert.equal(await edit(admin, { export_schedule: schedule, language: 'de' }), '200');
  assert.deepEqual(await announced(), { events: 0, mails: 2 });
  const unset = await lastMail();
  assert.match(unset.text, /Konten für DATEV sind nicht festgelegt/);
  assert.match(unset.subject, /2026-\d\d-\d\d/);
  const taxes = [{ rate: 1000, net: 100, tax: 10, gross: 110 }];
  const presentment = { currency: 'usd', amount: 110 };
  const at = addSeconds(server.clock.now(), ahead);
  await addSales(server.db, tenant(), [{ at, amount: 1_100_000n, taxes, presentment }]);
  assert.equal(await edit(admin, { datev: SKR03 }), '200');
  assert.deepEqual(await announced(), { events: 0, mails: 2 });
  assert.match((await lastMail()).text, /revenue\.1000/);
  assert.deepEqual(await announced(), { events: 1, mails: 1 }, 'the next day is announced');
  const revenue = { ...SKR03.revenue, 1000: '8410' };
  assert.equal(await edit(admin, { datev: { ...SKR03, revenue }, language: null }), '200');
});

test('settings that change while a statement is read hold for its announcement', async () => {
  const schedule = { every: 'day', format: 'datev', email: 'books@accountant.test' };
  assert.equal(await edit(admin, { export_schedule: schedule, datev: null }), '200');
  await advance(1);
  const before = { events: (await ready()).length, mails: await countMails() };
  const { db } = server;
  const change = await underWay(db, (tx) => {
    const datev = JSON.stringify(SKR03);
    const set = 'update accounts set datev = $2::text::jsonb, version = version + 1 where id = $1';
    return tx.query(set, [accountId, datev]);
  });
  const announcing = announce();
  await waitingForLocks(db, 1);
  await change.commit();
  await announcing;
  assert.deepEqual({ events: (await ready()).length, mails: await countMails() }, before);
  await db.query('update period_ends set due = $1', [server.clock.now()]);
  await announce();
  const after = { events: before.events + 1, mails: before.mails + 1 };
  assert.deepEqual({ events: (await ready()).length, mails: await countMails() }, after);
});

test('no statement is announced while it is unknown whether the ledger is complete', async () => {
  const release = server.db.watch.guard(false, () => {});
  assert.deepEqual(await announced(), { events: 0, mails: 0 });
  release();
  const before = (await ready()).length;
  await announce();
  assert.equal((await ready()).length, before + 1);
});

test('the mails of a schedule stop for a member who loses the role, not for others', async () => {
  const mia = 'mia@books.test';
  const member = await addMember(server, { email: mia, accountId, role: 'viewer' });
  const schedule = (email: string) => ({ every: 'day', format: 'jsonl', email });
  assert.equal(await edit(admin, { export_schedule: schedule(mia) }), '200');
  assert.deepEqual(await announced(), { events: 1, mails: 1 });
  await server.db.query(`update memberships set role = 'cashier' where user_id = $1`, [member]);
  assert.deepEqual(await announced(), { events: 1, mails: 0 }, 'a cashier sees no books');
  await server.db.query(`update memberships set role = 'viewer' where user_id = $1`, [member]);
  assert.deepEqual(await announced(), { events: 1, mails: 1 });
  assert.equal((await owner.delete(`${path()}/members/${member}`)).status, 200);
  assert.deepEqual(await announced(), { events: 1, mails: 0 }, 'removed');
  assert.equal(await edit(admin, { export_schedule: schedule('books@accountant.test') }), '200');
  assert.deepEqual(await announced(), { events: 1, mails: 1 }, 'an accountant is no member');
  const outside = 'otto@books.test';
  await addOwner(server, outside);
  assert.equal(await edit(admin, { export_schedule: schedule(outside) }), '200');
  assert.deepEqual(await announced(), { events: 1, mails: 1 }, 'a person of another account');
});
