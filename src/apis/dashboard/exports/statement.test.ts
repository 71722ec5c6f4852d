import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { STATEMENT_FORMATS } from '#books/statement-formats.ts';
import { type DashboardServer, startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addOwner, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import {
  addMovements,
  addSales,
  parseCsv,
  parseJsonl,
  SKR03,
} from '#testkit/fixtures/payments/books.ts';

let server: DashboardServer;
let client: PersonClient;
let accountId = '';

const tenant = () => ({ accountId, livemode: false });
const path = (query: string) => `/accounts/${accountId}/test/exports/statement?${query}`;

before(async () => {
  server = await startDashboardServer();
  accountId = (await addOwner(server, 'olga@books.test')).accountId;
  client = await signInAs(server, 'olga@books.test');
  const at = (time: string) => new Date(`2026-09-${time}:00.000Z`);
  await addSales(server.db, tenant(), [
    {
      ...{ at: at('01T10:00'), amount: 2_500_000n, shopRate: '1.08695652174' },
      description: '=HYPERLINK("http://evil.example")',
    },
    {
      ...{ at: at('01T23:30'), amount: 1_000_001n, shopRate: '1.08695652174' },
      presentment: { currency: 'eur', amount: 92 },
    },
  ]);
  const payout = { type: 'payout', objectId: 'wdr_1', amount: -500_000n, happened: null } as const;
  await addMovements(server.db, tenant(), [{ ...payout, at: at('02T08:00') }]);
});
after(() => server.close());

/** Changes settings. @returns the status and the parameter that was refused. */
async function edit(settings: object): Promise<string> {
  const { version } = (await client.get(`/accounts/${accountId}`)).body as { version: number };
  const { status, body } = await client.patch(`/accounts/${accountId}`, { version, ...settings });
  return status === 200 ? '200' : `${status} ${body.error?.param}`;
}

async function refusal(query: string) {
  const { status, body } = await client.get(path(query));
  return `${status} ${body.error?.code}`;
}

test('a statement names exactly one period', async () => {
  assert.equal(await refusal('format=csv'), '400 parameter_missing');
  assert.equal(await refusal('from=2026-09-01'), '400 parameter_missing');
  assert.equal(await refusal('to=2026-09-01'), '400 parameter_missing');
  for (const wrong of [
    'month=2026-09&from=2026-09-01&to=2026-09-02',
    'month=2026-09&payout=wdr_1',
    'from=2026-09-02&to=2026-09-01',
    'from=2026-02-30&to=2026-03-01',
    'month=2026-13',
    'month=2026-9',
    'month=2026-09&format=mt940',
    'payout=',
  ]) {
    assert.equal(await refusal(wrong), '400 parameter_invalid', wrong);
  }
  assert.equal(await refusal('payout=wdr_2'), '404 resource_missing');
  assert.equal(await refusal('month=2026-09&after=x'), '400 parameter_unknown');
});

test('days, months and payouts have the entries of their period, and their balances', async () => {
  const read = async (query: string) => {
    const { status, text, headers } = await client.get(path(`format=jsonl&${query}`));
    assert.equal(status, 200, text);
    const { head, entries } = parseJsonl(text);
    assert.equal(headers.get('statement-entries'), String(entries.length));
    const { opening_balance, closing_balance } = head;
    return [opening_balance, ...entries.map(({ amount }) => amount), closing_balance];
  };
  assert.deepEqual(await read('from=2026-09-01&to=2026-09-01'), [0, 2500000, 1000001, 3500001]);
  assert.deepEqual(await read('month=2026-09'), [0, 2500000, 1000001, -500000, 3000001]);
  assert.deepEqual(await read('payout=wdr_1'), [0, 2500000, 1000001, -500000, 3000001]);
  assert.deepEqual(await read('month=2026-08'), [0, 0]);
  assert.deepEqual(await read('from=2026-09-03&to=2026-09-04'), [3000001, 3000001]);
  await edit({ time_zone: 'Europe/Berlin' });
  assert.deepEqual(await read('from=2026-09-01&to=2026-09-01'), [0, 2500000, 2500000]);
  assert.deepEqual(
    await read('from=2026-09-02&to=2026-09-02'),
    [2500000, 1000001, -500000, 3000001],
  );
});

test('every format is a file that can be downloaded', async () => {
  await edit({ datev: SKR03, currency: 'eur' });
  const camt = 'camt.053.001.08';
  const files = await Promise.all(
    STATEMENT_FORMATS.map(async (format) => {
      const { status, headers, text } = await client.get(path(`format=${format}&month=2026-09`));
      assert.equal(status, 200, text);
      const [, name = ''] =
        /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '') ?? [];
      return [format, name, headers.get('content-type'), text.split(/\r?\n/)[0]] as const;
    }),
  );
  const name = (format: string) => `tapline-${accountId}-${format}-2026-09-01-2026-09-30`;
  assert.deepEqual(
    files.map(([format, file, type]) => [format, file, type]),
    [
      ['csv', `${name('csv')}.csv`, 'text/csv; charset=utf-8'],
      ['jsonl', `${name('jsonl')}.jsonl`, 'application/jsonl; charset=utf-8'],
      [camt, `${name(camt)}.xml`, 'application/xml; charset=utf-8'],
      ['datev', `EXTF_${name('datev')}.csv`, 'text/csv; charset=windows-1252'],
      ['xero', `${name('xero')}.csv`, 'text/csv; charset=utf-8'],
      ['quickbooks', `${name('quickbooks')}.csv`, 'text/csv; charset=utf-8'],
      ['ofx', `${name('ofx')}.ofx`, 'application/x-ofx; charset=utf-8'],
    ],
  );
  assert.equal(new Set(files.map(([, file]) => file)).size, files.length, 'no two names are equal');
  assert.equal(files[5]?.[3], 'Date,Description,Amount');
});

test('a statement has a row for each rate, whose USDC add up to the atom', async () => {
  const taxes = [
    { rate: 700, net: 1136, tax: 80, gross: 1216 },
    { rate: 1900, net: 639, tax: 121, gross: 760 },
  ];
  const presentment = { currency: 'eur', amount: 1976, tipAmount: 198, rate: '1.08542277217' };
  const at = new Date('2026-10-01T06:00:00.000Z');
  const sale = { at, amount: 23_592_748n, tip: 2_144_795n, taxes, presentment };
  await addSales(server.db, tenant(), [{ ...sale, shopRate: '1.08542277217' }]);
  const { text } = await client.get(path('from=2026-10-01&to=2026-10-01'));
  const [header = [], ...rows] = parseCsv(text.slice(1));
  const cells = (row: string[], ...names: string[]) => {
    return names.map((name) => row[header.indexOf(name)]);
  };
  const shown = ['amount', 'net', 'tax', 'tax_rate', 'gross', 'presentment.amount', 'balance'];
  assert.deepEqual(
    rows.slice(1, -1).map((row) => cells(row, ...shown)),
    [
      ['13.196311', '11.36', '0.80', '7.00', '12.16', '', ''],
      ['8.247695', '6.39', '1.21', '19.00', '7.60', '', ''],
      ['2.148742', '1.98', '0.00', '', '1.98', '21.74', '26.592749'],
    ],
  );
  const payments = await client.get(
    `/accounts/${accountId}/test/exports/payments?from=2026-10-01&to=2026-10-01`,
  );
  const [columns = [], ...listed] = parseCsv(payments.text.slice(1));
  const whole = ['tax_rate', 'gross', 'amount', 'sale', 'tip', 'total_charged', 'paid'];
  assert.deepEqual(
    listed.map((row) => whole.map((name) => row[columns.indexOf(name)])),
    [
      ['7.00', '12.16', '', '', '', '', ''],
      ['19.00', '7.60', '', '', '', '', ''],
      ['', '1.98', '23.592748', '21.447953', '2.144795', '23.592753', '23.592752'],
    ],
  );
});

test('a statement for DATEV says what it lacks, and needs a split over New Year', async () => {
  const message = async (query: string) => {
    const { status, body } = await client.get(path(`format=datev&${query}`));
    return status === 200 ? '200' : `${status} ${body.error?.param} ${body.error?.message}`;
  };
  const year = 'from=2025-12-31&to=2026-10-01';
  const halves = /^400 from .*2025-12-31 to 2025-12-31 and 2026-01-01 to 2026-10-01/;
  assert.match(await message(year), halves);
  const split = await client.get(path(`format=datev&${year}&split=true`));
  assert.match(split.text, /^PK.*-2026-01-01-2026-10-01\.csv/s, 'an archive: only 2026 has sales');
  assert.equal(await message('payout=wdr_1'), '200');
  const closed = 'select count(*)::int as count from statement_closings';
  const before = await server.db.query(closed);
  assert.equal(await refusal('format=csv&month=2026-08&split=true'), '400 parameter_invalid');
  assert.deepEqual(await server.db.query(closed), before, 'a refusal closes no days');
  assert.equal(await edit({ datev: { ...SKR03, revenue: { 1900: '8400', none: '8200' } } }), '200');
  assert.match(await message('month=2026-10'), /^400 format .*7\.00 %.*revenue\.700/);
  assert.equal(await edit({ datev: null }), '200');
  assert.match(await message('month=2026-10'), /^400 format Set the accounts first/);
});

test('a row without a stored rate has the nearest earlier one, or is refused', async () => {
  await edit({ datev: SKR03 });
  const sale = { amount: 2_000_000n, at: new Date('2026-10-01T07:00:00.000Z') };
  await addSales(server.db, tenant(), [sale]);
  const { text } = await client.get(path('format=datev&month=2026-10'));
  const rows = parseCsv(text.split('\r\n').slice(2).join('\r\n'), ';');
  assert.deepEqual(rows.at(-1)?.slice(0, 6), ['2,00', 'H', 'USD', '1,085423', '1,84', 'EUR']);
  await server.db.query('update payments set shop_rate = null where account_id = $1', [accountId]);
  const { status, body } = await client.get(path('format=datev&month=2026-10'));
  assert.equal(status, 400);
  assert.match(body.error?.message ?? '', /^pay_\w+ cannot be exported: no exchange rate for EUR/);
});
