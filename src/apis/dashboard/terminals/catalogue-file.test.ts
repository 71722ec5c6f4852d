import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOGUE_PROBLEMS } from '#core/catalogue-problems.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addMember, addOwner, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

let owner: PersonClient;
let account = '';
let path = '';

const server = openForTests(startDashboardServer, async () => {
  const { accountId } = await addOwner(server, 'olga@shop.test');
  await addMember(server, { email: 'mia@shop.test', accountId, role: 'member' });
  owner = await signInAs(server, 'olga@shop.test');
  account = `/accounts/${accountId}`;
  path = `${account}/test/catalogue`;
});

const HEADER = 'name,price,tax_rate,category,barcode,color';

async function send(file: string | Uint8Array, query = 'preview=false', by = owner) {
  const bytes = typeof file === 'string' ? Buffer.from(file) : file;
  return by.send('POST', `${path}/import?${query}`, bytes, { 'Content-Type': 'text/csv' });
}

interface Row {
  readonly row: number;
  readonly action: string;
  readonly name: string;
  readonly error: string | null;
}

async function imported(file: string | Uint8Array, query?: string) {
  const { status, body, text } = await send(file, query);
  assert.equal(status, 200, text);
  const { rows, applied } = body as unknown as { readonly rows: readonly Row[]; applied: boolean };
  return { rows, applied, actions: rows.map(({ action }) => action) };
}

/** Imports rows of which one is refused. @returns the reasons, which keep all rows out. */
async function refusals(rows: readonly string[], header = HEADER): Promise<(string | null)[]> {
  const count = (await items()).length;
  const { rows: result, applied } = await imported([header, ...rows].join('\n'));
  assert.deepEqual([applied, (await items()).length], [false, count]);
  return result.map(({ error }) => error);
}

interface Item {
  readonly id: string;
  readonly name: string;
  readonly unit_amount: number;
  readonly tax_rate: number;
  readonly category: string | null;
  readonly barcode: string | null;
  readonly color: string | null;
}

const items = () => owner.list<Item>(path);
const shown = async () =>
  (await items()).map(({ name, unit_amount, tax_rate, category, barcode, color }) => [
    ...[name, unit_amount, tax_rate, category, barcode, color],
  ]);

async function clear(settings: object = {}): Promise<void> {
  for (const { id } of await items()) await owner.delete(`${path}/${id}`);
  const { version } = (await owner.get(account)).body;
  const tax_rates = [{ name: 'Drinks', rate: 1_900 }];
  const shop = { currency: 'eur', tax_rates, prices_include_tax: true, ...settings };
  assert.equal((await owner.patch(account, { version, ...shop })).status, 200);
}

const TEA = ['Tea', 250, 1_900, null, null, null];

test('a file of a German spreadsheet becomes items, after a preview without effect', async () => {
  await clear();
  const file = [
    'Name;Price;Tax_Rate;Category;Barcode;Color;;',
    'Käsekuchen;"3,80 €";7 %;Kuchen;4006381333931;#A05a2c;;',
    '"Tee; ""Earl Grey""";1.234,50;Drinks;;;;',
    ';;;;;;;',
    'Pfand;-0,25;19,00;;;;;',
  ].join('\r\n');
  const bytes = Buffer.from(file, 'latin1').map((byte, at) => (file[at] === '€' ? 0x80 : byte));
  const preview = await imported(bytes, 'preview=true');
  assert.deepEqual(
    preview.rows.map(({ row, action, name, error }) => [row, action, name, error]),
    [
      [2, 'create', 'Käsekuchen', null],
      [3, 'create', 'Tee; "Earl Grey"', null],
      [5, 'create', 'Pfand', null],
    ],
  );
  assert.deepEqual([preview.applied, await items()], [false, []]);
  assert.equal((await imported(bytes, '')).applied, false, 'a preview unless asked otherwise');
  assert.equal((await imported(bytes)).applied, true);
  assert.deepEqual(await shown(), [
    ['Käsekuchen', 380, 700, 'Kuchen', '4006381333931', '#A05a2c'],
    ['Tee; "Earl Grey"', 123_450, 1_900, null, null, null],
    ['Pfand', -25, 1_900, null, null, null],
  ]);
  const utf16 = Buffer.from(`\ufeff${HEADER.replaceAll(',', '\t')}\nTee 2\t2,5\t\t\t\t`, 'utf16le');
  assert.deepEqual((await imported(utf16)).actions, ['create']);
});

test('the exported file changes nothing when it is imported, and runs no formula', async () => {
  for (const currency of ['eur', 'kwd', 'jpy', null]) {
    await clear({ currency });
    const names = ['=1+1', '-5', 'a "b", c', 'Twice', 'Twice', ' Spaces '];
    for (const [n, name] of names.entries()) {
      const more = { category: '+1', barcode: `=${n}`, tax_rate: 725, color: '#000000' };
      const made = await owner.post(path, { name, unit_amount: n * 1_005, ...more });
      assert.equal(made.status, 201, made.text);
    }
    await owner.post(path, { name: 'Other currency', unit_amount: 1, currency: 'usd' });
    const before = await items();
    const { text, headers } = await owner.get(`${path}.csv`);
    assert.match(headers.get('content-type') ?? '', /^text\/csv/);
    assert.match(text, new RegExp(`^\ufeff?${HEADER}\r\n"'=1\\+1",`));
    assert.doesNotMatch(text, /(^|[,\n])"?[=+@]/);
    const { actions, applied } = await imported(text);
    assert.deepEqual(actions, Array(names.length).fill('none'), text);
    assert.deepEqual([applied, await items()], [true, before]);
  }
});

test('a row changes the item with its barcode, or else the item with its name', async () => {
  await clear();
  await imported(`${HEADER}\nTea,2.50,Drinks,Hot,111,#112233\nMilk,1,,,222,\nCola,3,,,,`);
  const [tea] = await items();
  const file =
    'barcode,name,price,category\n111,Green tea,2.60,\n,Milk,1.10,\n333,Cola,3,\n444,Cola,4,';
  const { actions } = await imported(file);
  assert.deepEqual(actions, ['update', 'update', 'update', 'create']);
  assert.deepEqual(await shown(), [
    ['Green tea', 260, 1_900, null, '111', '#112233'],
    ['Milk', 110, 0, null, null, null],
    ['Cola', 300, 0, null, '333', null],
    ['Cola', 400, 0, null, '444', null],
  ]);
  assert.equal((await items())[0]?.id, tea?.id);
  assert.deepEqual((await imported(file)).actions, Array(4).fill('none'));
});

test('each refused row says why, and keeps all rows out', async () => {
  await clear();
  await imported(`${HEADER}\nTea,2.50,19,,,`);
  const bad: [string, keyof typeof CATALOGUE_PROBLEMS][] = [
    [',1,,,,', 'name'],
    [`${'x'.repeat(201)},1,,,,`, 'name'],
    ['"two\nlines",1,,,,', 'name'],
    ['Price,,,,,', 'price'],
    ['Price 1,x,,,,', 'price'],
    ['Price 2,1.234567,,,,', 'price'],
    ['Price 3,--1,,,,', 'price'],
    ['Price 4,"12,34,56",,,,', 'price'],
    ['Price 5,1e3,,,,', 'price'],
    ['Price 6,9999999999999999,,,,', 'price'],
    ['Price 7,1.500,,,,', 'price_two_readings'],
    ['Price 8,"-1,500",,,,', 'price_two_readings'],
    ['Rate,1,Food,,,', 'tax_rate'],
    ['Rate 1,1,-7,,,', 'tax_rate'],
    ['Rate 2,1,100.5,,,', 'tax_rate'],
    ['Rate 3,1,10001,,,', 'tax_rate'],
    [`Category,1,,${'x'.repeat(61)},,`, 'category'],
    ['Code,1,,,12 34,', 'barcode'],
    ['Code 1,1,,,"4,00638E+12",', 'barcode_rounded'],
    ['Color,1,,,,red', 'color'],
    ['Cells,1,,,,,x', 'cells'],
    ['Tea,1,,,,', 'name_twice'],
    ['One code,1,,,9,', 'barcode_twice'],
  ];
  const good = ['Tea,2.60,,,,', 'Code 9,1,,,9,'];
  assert.deepEqual(await refusals([...good, ...bad.map(([row]) => row)]), [
    ...[null, null],
    ...bad.map(([, problem]) => CATALOGUE_PROBLEMS[problem]),
  ]);
  assert.deepEqual(await shown(), [TEA]);
  const rates = ['A,1,19.5 %,,,', 'B,1,"19,5",,,', 'C,1,1950,,,', 'D,1,0,,,'];
  assert.equal((await imported([HEADER, ...rates].join('\n'))).applied, true);
  const stored = (await items()).slice(1).map(({ tax_rate }) => tax_rate);
  assert.deepEqual(stored, [1_950, 1_950, 1_950, 0]);
});

test('no cell of a file keeps the service busy', async () => {
  await clear();
  const cells = ['Tea,0.', 'Tea,1,0.'].map((start) => `${start}${'0'.repeat(100_000)}1`);
  const begun = performance.now();
  assert.deepEqual(await refusals([`${cells[0]},,,,`, `${cells[1]},,,`]), [
    ...[CATALOGUE_PROBLEMS.price, CATALOGUE_PROBLEMS.tax_rate],
  ]);
  assert.ok(performance.now() - begun < 2_000);
});

test('a file that is no catalog is refused as a whole', async () => {
  await clear();
  const many = `${HEADER}\n${'Tea,1,,,,\n'.repeat(2_001)}`;
  for (const [file, words] of [
    ['', /has no column name/],
    ['name\nTea', /has no column price/],
    ['name,price,prize\nTea,1,1', /"prize" is none of name, price/],
    ['name,price,name\nTea,1,1', /name occurs twice/],
    [`${HEADER}\n"Tea,1`, /does not end/],
    [many, /at most 2000 rows/],
  ] as const) {
    const { status, body, text } = await send(file);
    assert.deepEqual([status, body.error?.code], [400, 'parameter_invalid'], text);
    assert.match(String(body.error?.message), words);
  }
  const large = await send(`${HEADER}\n${'x'.repeat(1_100_000)}`);
  assert.deepEqual([large.status, large.body.error?.code], [413, 'body_too_large']);
  const member = await signInAs(server, 'mia@shop.test');
  assert.equal((await send(`${HEADER}\nTea,1,,,,`, 'preview=true', member)).status, 403);
  assert.equal((await member.get(`${path}.csv`)).status, 200);
  assert.deepEqual(await items(), []);
});

test('2,000 items are imported at once, and none above them', async () => {
  await clear();
  const rows = Array.from({ length: 2_000 }, (_, n) => `Item ${n},${n / 100},7,,b${n},`);
  assert.equal((await imported([HEADER, ...rows].join('\n'))).applied, true);
  assert.equal((await items()).length, 2_000);
  assert.deepEqual(await refusals(['More,1,,,,']), [CATALOGUE_PROBLEMS.full]);
});

test('no two items have the same barcode', async () => {
  await server.db.query('delete from catalogue_items');
  const tea = await owner.post(path, { name: 'Tea', unit_amount: 1, barcode: '1' });
  const other = { name: 'Coffee', unit_amount: 1, barcode: '1' };
  const made = await owner.post(path, other);
  assert.deepEqual([made.status, made.body.error?.param], [400, 'barcode']);
  const coffee = await owner.post(path, { ...other, barcode: '2' });
  const edit = { version: 1, barcode: '1' };
  const changed = await owner.patch(`${path}/${coffee.body.id}`, edit);
  assert.deepEqual([changed.status, changed.body.error?.param], [400, 'barcode']);
  assert.equal((await owner.patch(`${path}/${tea.body.id}`, edit)).status, 200);
  const live = await owner.post(`${account}/live/catalogue`, other);
  assert.equal(live.status, 201, live.text);
});
