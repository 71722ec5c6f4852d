import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMs } from '#core/clock.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addOwner, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { addSales, type StoredSale } from '#testkit/fixtures/payments/books.ts';

/** Tests lists, totals and exports of an organization on days when clocks change. */

interface Day {
  readonly day: string;
  readonly start: string;
  readonly end: string;
}

/** Days on which clocks change, north and south of the equator. They have 23 or 25 hours. */
const BERLIN: readonly Day[] = [
  { day: '2026-10-25', start: '2026-10-24T22:00:00.000Z', end: '2026-10-25T23:00:00.000Z' },
  { day: '2027-03-28', start: '2027-03-27T23:00:00.000Z', end: '2027-03-28T22:00:00.000Z' },
];
const AUCKLAND: readonly Day[] = [
  { day: '2026-09-27', start: '2026-09-26T12:00:00.000Z', end: '2026-09-27T11:00:00.000Z' },
  { day: '2027-04-04', start: '2027-04-03T11:00:00.000Z', end: '2027-04-04T12:00:00.000Z' },
];
const DAYS = [...BERLIN, ...AUCKLAND].map(({ day }) => day);

let olga: PersonClient;
let organization = '';
let cafe = '';
let bar = '';
/** IDs of the café's two locations. The bar has no location. */
let berlin = '';
let auckland = '';

/** Returns sales right before and right after the midnights at both ends of a day. */
function salesOf({ start, end }: Day, location?: string): StoredSale[] {
  const [first, last] = [new Date(start), new Date(end)];
  return [addMs(first, -1), first, addMs(last, -1), last].map((at, n) => ({
    at,
    amount: 1_000_000n * 2n ** BigInt(n),
    ...(location === undefined ? {} : { location }),
  }));
}

const byTime = (one: StoredSale, other: StoredSale) => one.at.getTime() - other.at.getTime();
const path = (rest: string) => `/organizations/${organization}/test/${rest}`;

const server = openForTests(startDashboardServer, async () => {
  cafe = (await addOwner(server, 'olga@sales.test')).accountId;
  olga = await signInAs(server, 'olga@sales.test');
  bar = String((await olga.post('/accounts', { name: 'Bar' })).body.id);
  organization = String((await olga.post('/organizations', { name: 'Olga' })).body.id);
  for (const account of [cafe, bar]) {
    await olga.send('PUT', `/accounts/${account}/organization`, { organization });
  }
  const add = async (name: string, time_zone: string) => {
    const location = { account: cafe, name, time_zone };
    return String((await olga.post(`/organizations/${organization}/locations`, location)).body.id);
  };
  berlin = await add('Berlin', 'Europe/Berlin');
  auckland = await add('Auckland', 'Pacific/Auckland');
  const sold = [
    ...BERLIN.flatMap((day) => salesOf(day, berlin)),
    ...AUCKLAND.flatMap((day) => salesOf(day, auckland)),
  ];
  await addSales(server.db, { accountId: cafe, livemode: false }, sold.toSorted(byTime));
  // The bar has sales at the same instants as the café, so lists must sort rows of both accounts.
  const elsewhere = BERLIN.flatMap((day) => salesOf(day)).toSorted(byTime);
  await addSales(server.db, { accountId: bar, livemode: false }, elsewhere);
});

interface LocationTotals {
  readonly location: string | null;
  readonly account: string;
  readonly sales: number;
  readonly payments: number;
}

async function totalsOf(day: string, query = '') {
  const { body, text, status } = await olga.get(path(`totals?from=${day}&to=${day}${query}`));
  assert.equal(status, 200, text);
  return {
    total: body.total as { readonly sales: number },
    locations: body.locations as LocationTotals[],
  };
}

interface Sold {
  readonly id: string;
  readonly created: string;
  readonly account: string;
}

async function exported(query: string): Promise<Sold[]> {
  const { text, status } = await olga.get(path(`exports/payments?format=jsonl&${query}`));
  assert.equal(status, 200, text);
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Sold);
}

async function listed(query: string): Promise<Sold[]> {
  const all: Sold[] = [];
  let cursor = '';
  for (;;) {
    const { body, text, status } = await olga.get(path(`payments?limit=3${query}${cursor}`));
    assert.equal(status, 200, text);
    all.push(...(body.data as Sold[]));
    if (body.has_more !== true) return all;
    cursor = `&cursor=${body.next_cursor}`;
  }
}

const ids = (sold: readonly Sold[]) => sold.map(({ id }) => id).toSorted();

test('each location counts its own days of 23 and 25 hours, north and south', async () => {
  for (const [location, days] of [[berlin, BERLIN] as const, [auckland, AUCKLAND] as const]) {
    for (const { day, start, end } of days) {
      const { locations, total } = await totalsOf(day, `&location=${location}`);
      assert.deepEqual(
        locations.map((one) => [one.location, one.account, one.payments, one.sales]),
        [[location, cafe, 2, 6_000_000]],
        day,
      );
      assert.equal(total.sales, 6_000_000);
      const of = `location=${location}`;
      const inDay = await exported(`${of}&from=${day}&to=${day}`);
      assert.equal(inDay.length, 2, day);
      const span = `&${of}&created_gte=${start}&created_lt=${end}`;
      assert.deepEqual(ids(inDay), ids(await listed(span)), 'export and list agree');
    }
  }
});

test('the totals over all locations are the sum of each in its own day', async () => {
  for (const day of DAYS) {
    const { locations, total } = await totalsOf(day);
    const named = locations.filter(({ location }) => location !== null);
    assert.deepEqual(
      named.map(({ location }) => location).toSorted(),
      [berlin, auckland].toSorted(),
    );
    const sum = locations.reduce((all, { sales }) => all + sales, 0);
    assert.equal(total.sales, sum, day);
    const inDay = await exported(`from=${day}&to=${day}`);
    const count = locations.reduce((all, { payments }) => all + payments, 0);
    assert.equal(inDay.length, count, day);
  }
});

test('sales at no location count in the days of the account', async () => {
  const { locations } = await totalsOf('2026-10-25');
  const none = locations.filter(({ location }) => location === null);
  // The bar's days are in UTC, so its sales at 22:59:59 and 23:00 count, and earlier ones do not.
  assert.deepEqual(
    none.map(({ account, payments, sales }) => [account, payments, sales]),
    [[bar, 2, 12_000_000]],
  );
});

test('a list over all accounts has each payment once, newest first', async () => {
  const all = await listed('');
  assert.equal(all.length, 24);
  assert.equal(new Set(ids(all)).size, 24);
  const times = all.map(({ created }) => created);
  assert.deepEqual(times, times.toSorted().toReversed());
  assert.deepEqual(
    [...new Set(all.map(({ account }) => account))].toSorted(),
    [cafe, bar].toSorted(),
  );
  assert.deepEqual(ids(await exported('')), ids(all));
  const here = await listed(`&location=${berlin}`);
  assert.equal(here.length, 8);
  const stolen = await olga.get(path('payments?limit=3'));
  const other = path(`refunds?limit=3&cursor=${stolen.body.next_cursor}`);
  assert.equal((await olga.get(other)).body.error?.code, 'cursor_invalid');
  assert.deepEqual((await olga.get(path('refunds'))).body.data, []);
});

test('an interrupted export continues after the last row received', async () => {
  const all = await exported('');
  for (const n of [0, 7, 8, 15, 16, 22]) {
    const rest = await exported(`after=${all[n]?.id}`);
    assert.deepEqual(rest, all.slice(n + 1), `after row ${n}`);
  }
  const last = await olga.get(path('exports/payments'));
  assert.equal(last.headers.get('oldest-row'), all.at(-1)?.id);
  const [head = '', first = ''] = last.text.split('\r\n');
  assert.ok(head.endsWith(',account'), head);
  assert.ok(first.endsWith(`"${cafe}"`) || first.endsWith(`"${bar}"`), first);
  assert.equal(last.text.split('\r\n').length, 26);
  const unknown = await olga.get(path('exports/payments?after=pay_nothing'));
  assert.equal(unknown.body.error?.code, 'cursor_invalid');
});

test('a location of others, and payouts of a location, are refused', async () => {
  for (const rest of ['payments', 'refunds', 'totals', 'exports/payments', 'exports/refunds']) {
    for (const location of ['loc_0000000000000000000000', 'tml_1']) {
      const refused = await olga.get(path(`${rest}?location=${location}`));
      assert.deepEqual([refused.status, refused.body.error?.param], [400, 'location'], rest);
    }
  }
  const payouts = await olga.get(path(`exports/withdrawals?location=${berlin}`));
  assert.equal(payouts.body.error?.param, 'location');
  assert.equal((await olga.get(path('exports/withdrawals'))).status, 200);
});

test('without days, each location counts its own today', async () => {
  const { body } = await olga.get(path('totals'));
  const rows = body.locations as {
    location: string;
    from: string;
    to: string;
    time_zone: string;
  }[];
  for (const { location, from, to, time_zone } of rows.filter((row) => row.location !== null)) {
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: time_zone, dateStyle: 'short' });
    // Without dates, each location counts one day: today in its time zone.
    assert.equal(from, to, location);
    assert.match(day.format(server.clock.now()), /^\d{4}/);
  }
  assert.ok(String(body.from) <= String(body.to));
});
