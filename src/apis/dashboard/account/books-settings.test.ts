import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { advanceTestClock } from '#apis/test-helpers/clock-routes.ts';
import { localWakeups } from '#db/wakeups.ts';
import { silentLog } from '#observability/log.ts';
import { type DashboardServer, startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addOwner, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { addSales, parseJsonl, SKR03, SKR04 } from '#testkit/fixtures/payments/books.ts';

/** Tests the settings of books: the accounts of DATEV, and the time at which days start. */

let server: DashboardServer;
let owner: PersonClient;
let accountId = '';

const tenant = () => ({ accountId, livemode: false });
const path = () => `/accounts/${accountId}`;

before(async () => {
  server = await startDashboardServer();
  ({ accountId } = await addOwner(server, 'olga@books.test'));
  owner = await signInAs(server, 'olga@books.test');
});
after(() => server.close());

/** Changes settings. @returns the status and the parameter that was refused. */
async function edit(settings: object): Promise<string> {
  const { version } = (await owner.get(path())).body as { version: number };
  const { status, body } = await owner.patch(path(), { version, ...settings });
  return status === 200 ? '200' : `${status} ${body.error?.param}`;
}

async function advance(hours: number): Promise<void> {
  const { db, clock } = server;
  const ctx = { db, clock, wakeups: localWakeups(), log: silentLog };
  await advanceTestClock(ctx, { tenant: tenant(), seconds: hours * 3_600 });
}

const WRONG: readonly (readonly [datev: object, param: string])[] = [
  [{ chart: 'skr05' }, 'datev.chart'],
  [{ rounding: undefined }, 'datev.rounding'],
  [{ rounding: null }, 'datev.rounding'],
  [{ clearing: '13 60' }, 'datev.clearing'],
  [{ bank: '123' }, 'datev.bank'],
  [{ bank: '123456789' }, 'datev.bank'],
  [{ tips: '' }, 'datev.tips'],
  [{ revenue: { 700: 8300 } }, 'datev.revenue.700'],
  [{ revenue: { '7': '8300', '19.5': '8400' } }, 'datev.revenue'],
  [{ revenue: { 10001: '8300' } }, 'datev.revenue'],
  [{ revenue: null }, 'datev.revenue'],
  [{ tax: '1776' }, 'datev.tax'],
];

for (const [wrong, param] of WRONG) {
  test(`accounts for DATEV with ${JSON.stringify(wrong)} are refused`, async () => {
    const refused = await edit({ datev: { ...SKR03, ...wrong } });
    assert.ok(refused.startsWith(`400 ${param}`), refused);
  });
}

test('the accounts for DATEV are stored, replaced and removed', async () => {
  assert.equal((await owner.get(path())).body.datev, null);
  for (const datev of [SKR03, { ...SKR04, tips: '4700' }, null]) {
    assert.equal(await edit({ datev }), '200');
    assert.deepEqual((await owner.get(path())).body.datev, datev);
  }
});

test('days start at a time from 00:00 to 11:59', async () => {
  assert.equal((await owner.get(path())).body.day_starts_at, '00:00');
  for (const day_starts_at of ['12:00', '5:00', '05:60', '24:00', '05:00:00', '', null, 5]) {
    assert.equal(await edit({ day_starts_at }), '400 day_starts_at');
  }
  assert.equal(await edit({ day_starts_at: '11:59' }), '200');
  assert.equal((await owner.get(path())).body.day_starts_at, '11:59');
  assert.equal(await edit({ day_starts_at: '00:00' }), '200');
});

/** The sums of a day, in the totals and in the statement. */
async function sumsOf(day: string) {
  const query = `from=${day}&to=${day}`;
  const { body } = await owner.get(`${path()}/test/totals?${query}`);
  const { text } = await owner.get(`${path()}/test/exports/statement?format=jsonl&${query}`);
  const listed = await owner.get(`${path()}/test/exports/payments?format=jsonl&${query}`);
  const { entries } = parseJsonl(text);
  const sum = entries.reduce((all, { amount }) => all + amount, 0);
  const rows = listed.text.split('\n').filter((line) => line !== '').length;
  return [(body.total as { sales: number }).sales, sum, rows];
}

test('a bar at 05:00 counts the night with the day before, everywhere alike', async () => {
  assert.equal(await edit({ time_zone: 'Europe/Berlin', day_starts_at: '05:00' }), '200');
  const sales = [
    ['2026-10-01T10:00:00Z', 1n],
    ['2026-10-02T00:30:00Z', 20n],
    ['2026-10-02T02:59:59Z', 300n],
    ['2026-10-02T03:00:00Z', 4_000n],
    ['2026-10-03T02:00:00Z', 50_000n],
    ['2026-10-03T03:00:00Z', 600_000n],
  ] as const;
  const rows = sales.map(([at, amount]) => ({ at: new Date(at), amount }));
  await advance(48);
  await addSales(server.db, tenant(), rows);
  // 00:00 on 1 October to 05:00 on 2 October: 29 hours.
  assert.deepEqual(await sumsOf('2026-10-01'), [321, 321, 3]);
  assert.deepEqual(await sumsOf('2026-10-02'), [54_000, 54_000, 2]);
  const now = (await owner.get(`${path()}/test/totals`)).body;
  assert.deepEqual([now.from, (now.total as { sales: number }).sales], ['2026-10-03', 600_000]);
  assert.equal(await edit({ day_starts_at: '00:00' }), '200');
  assert.deepEqual(await sumsOf('2026-10-01'), [321, 321, 3], 'closed days do not move');
  assert.deepEqual(await sumsOf('2026-10-02'), [54_000, 54_000, 2]);
  await advance(12);
  const next = (await owner.get(`${path()}/test/totals`)).body;
  assert.equal(next.from, '2026-10-04', 'the day of the change has 19 hours');
  const rules = [
    { from: '2026-10-02', at: '05:00' },
    { from: '2026-10-04', at: '00:00' },
  ];
  const { test: inTest } = (await owner.get(path())).body.day_starts as { test: object };
  assert.deepEqual(inTest, rules, 'the account tells since when');
});
