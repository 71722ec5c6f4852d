import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getAddress } from 'viem';
import { searchPayments } from '#apis/dashboard/payments/search-queries.ts';
import { dayAfter, dayIn, dayStart } from '#core/calendar.ts';
import { createTerminal } from '#terminals/create-terminal.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addOwner, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

/** Tests search, exports, statistics and the live feed with an account that has many payments. */

const OWNER = 'olga@data.test';
const COUNT = 30_000;
const actor = { type: 'system', name: 'test' } as const;
/** A day in the middle of the sales. */
const DAY = 'created_gte=2026-09-02T00:00:00Z&created_lt=2026-09-03T00:00:00Z';
const PAYER = getAddress('0x00000000000000000000000000000000000000aa');

let client: PersonClient;
let stranger: PersonClient;
let account = '';

/**
 * Inserts twenty days of sales. Every third intent expires, every fifth of them after a decline.
 */
async function seed(): Promise<void> {
  const { db } = server;
  const start = '2026-09-01T00:00:00Z';
  const id = (prefix: string) => `'${prefix}' || lpad(i::text, 22, '0')`;
  const at = `$2::timestamptz + i * interval '1728000 seconds' / ${COUNT}`;
  await db.query(
    `insert into payers (id, livemode, address, created) values ('pyr_1', false, $1, $2)`,
    [PAYER, start],
  );
  await db.query(
    `insert into payment_intents (id, account_id, livemode, position, created, amount, terminal_id,
       order_id, description, metadata, source, expires_at, tapped_at, status, attempt,
       last_payment_error, payment_id, tx_hash, cancellation_reason, canceled_at)
     select ${id('pi_')}, $1, false, i, ${at}, 1000000 + i % 50000, 'tml_' || i % 3, 'o' || i,
       case when i = 7 then '=HYPERLINK("http://evil.example")' end, '{}', 'api',
       ${at} + interval '120 seconds', ${at} + interval '1 second',
       case when i % 3 = 0 then 'canceled' else 'succeeded' end,
       case when i % 3 = 0 then null else '{}'::jsonb end,
       case when i % 15 = 0 then '{"decline_code":"insufficient_funds"}'::jsonb end,
       case when i % 3 = 0 then null else ${id('pay_')} end,
       case when i % 3 = 0 then null else '0x' || lpad(to_hex(i / 10), 64, '0') end,
       case when i % 3 = 0 then 'expired' end, case when i % 3 = 0 then ${at} end
     from generate_series(1, ${COUNT}) i`,
    [account, start],
  );
  // Without statistics, PostgreSQL would cache a slow plan for the payments' foreign key check.
  await db.query('analyze payment_intents');
  await db.query(
    `insert into payments (id, account_id, livemode, position, created, payment_intent_id,
       terminal_id, payer_id, payer_address, order_id, method_type, credential_type, amount,
       fee_acquirer, fee_protocol, fee_cashback, chain_id, settlement_number, batch_number, tx_hash,
       block_number, log_index, settled_at, refundable_until)
     select payment_id, account_id, livemode, position, created + interval '2 seconds', id,
       terminal_id, case when position % 1000 = 1 then 'pyr_1' else 'pyr_2' end, $2, order_id,
       'wallet_pass', 'nfc_id', amount, 3, 2, 1, 31337, position, position / 10, tx_hash,
       position, 0, created + interval '2 seconds', created + interval '180 days'
     from payment_intents where account_id = $1 and status = 'succeeded'`,
    [account, PAYER],
  );
  await db.query('analyze payments');
}

const server = openForTests(startDashboardServer, async () => {
  account = (await addOwner(server, OWNER)).accountId;
  await addOwner(server, 'stranger@data.test');
  await seed();
  client = await signInAs(server, OWNER);
  stranger = await signInAs(server, 'stranger@data.test');
});

const path = (rest: string) => `/accounts/${account}/test/${rest}`;

async function found(q: string, amount?: number): Promise<string[]> {
  const sum = amount === undefined ? '' : `&amount=${amount}`;
  const rows = await client.list<{ id: string }>(path(`search?q=${encodeURIComponent(q)}${sum}`));
  return rows.map(({ id }) => id);
}

const idOf = (prefix: string, i: number) => `${prefix}${String(i).padStart(22, '0')}`;

test('a payment is found by any of its identifiers', async () => {
  assert.deepEqual(await found(idOf('pi_', 1001)), [idOf('pi_', 1001)]);
  assert.deepEqual(await found(idOf('pay_', 1001)), [idOf('pay_', 1001)]);
  assert.deepEqual(await found('o1001'), [idOf('pi_', 1001), idOf('pay_', 1001)]);
  const hash = `0x${(100).toString(16).padStart(64, '0')}`;
  const inBatch = await found(hash.toUpperCase().replace('0X', '0x'));
  assert.ok(inBatch.includes(idOf('pay_', 1001)) && inBatch.length === 7);
  assert.ok((await found('1.001001', 1_001_001)).includes(idOf('pay_', 1001)));
  assert.equal((await found('1.00', 1_000_000)).length, 20, 'amounts that round to it');
  assert.ok(!(await found('1.001002', 1_001_002)).includes(idOf('pay_', 1001)));
  assert.equal((await found(PAYER.toLowerCase())).length, 20);
  for (const nothing of ['o999999', idOf('pay_', 999_999), `0x${'f'.repeat(40)}`, 'über']) {
    assert.deepEqual(await found(nothing), [], nothing);
  }
  assert.deepEqual(await found('9.99', 9_990_000), []);
});

test('a member of another account finds none of these payments', async () => {
  const [own] = await stranger.list<{ id: string }>('/accounts');
  for (const q of [idOf('pay_', 1001), 'o1001', '1.001001', PAYER]) {
    const path = `/accounts/${own?.id}/test/search?q=${q}&amount=1001001`;
    assert.deepEqual(await stranger.list(path), [], q);
  }
});

test('a search reads an index range, for any number of payments', async () => {
  const plans: string[] = [];
  const explain = {
    query: async <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> => {
      const rows = await server.db.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
      return [];
    },
  };
  const nothing = { txHash: null, amount: null, payerId: null, intentId: null, terminalId: null };
  const tenant = { accountId: account, livemode: false };
  const page = { limit: 20, after: null, createdGte: null, createdLt: null };
  for (const search of [
    { ...nothing, txHash: `0x${'0'.repeat(63)}a` },
    { ...nothing, amount: 1_001_001n },
    { ...nothing, amount: 1_000_000n },
    { ...nothing, amount: 1_000_000n, intentId: idOf('pi_', 1001) },
    { ...nothing, payerId: 'pyr_1' },
    { ...nothing, intentId: idOf('pi_', 1001) },
    { ...nothing, terminalId: 'tml_1' },
  ]) {
    await searchPayments(explain, { tenant, search }, page);
  }
  assert.equal(plans.length, 7);
  for (const plan of plans) {
    assert.match(plan, /Index Scan|Bitmap/);
    assert.doesNotMatch(plan, /Seq Scan/);
  }
});

test('an export has every row once, in both formats', async () => {
  const csv = await client.get(path('exports/payment_intents?format=csv_atoms'));
  assert.equal(csv.status, 200);
  assert.match(csv.headers.get('content-disposition') ?? '', /payment_intents-atoms-.*\.csv"$/);
  const lines = csv.text.split('\r\n').filter((line) => line !== '');
  assert.equal(lines.length, COUNT + 1);
  assert.equal(new Set(lines).size, COUNT + 1);
  assert.ok(lines.some((line) => line.includes(`"'=HYPERLINK(`)));
  const part = await client.get(path(`exports/payments?format=jsonl&${DAY}`));
  const rows = part.text.trim().split('\n');
  assert.equal(rows.length, (COUNT / 20) * (2 / 3));
  for (const row of rows) assert.match(JSON.parse(row).created, /^2026-09-02/);
  assert.match(part.headers.get('content-disposition') ?? '', /payments-.*\.jsonl"$/);
});

test("the accountants' file has decimals, local times and labels", async () => {
  await server.db.query("update accounts set time_zone = 'Asia/Tokyo' where id = $1", [account]);
  await server.db.query(
    `insert into terminals (id, account_id, livemode, position, created, label, name)
     select 'tml_' || i, $1, false, 100000 + i, now(), 'Bar ' || i, 'Bar'
     from generate_series(0, 2) i`,
    [account],
  );
  const read = async (format: string) => {
    const { text } = await client.get(path(`exports/payments?format=${format}&${DAY}`));
    const [header = '', first = ''] = text.replace(/^\uFEFF/, '').split('\r\n');
    const cells = first.split(',');
    return Object.fromEntries(header.split(',').map((name, at) => [name, cells[at] ?? '']));
  };
  const [shown, atoms] = [await read('csv'), await read('csv_atoms')];
  await server.db.query('update accounts set time_zone = default where id = $1', [account]);
  await server.db.query('delete from terminals where account_id = $1', [account]);
  assert.equal(shown.id, atoms.id);
  assert.match(String(atoms.amount), /^\d+$/);
  assert.match(String(shown.amount), /^\d+\.\d{2,6}$/);
  assert.equal(Math.round(Number(shown.amount) * 1e6), Number(atoms.amount));
  const local = String(shown.created).replaceAll('"', '');
  assert.match(local, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\+09:00$/);
  const { created = '' } = atoms;
  const at = Date.parse(created.replaceAll('"', ''));
  assert.equal(Date.parse(local), Math.floor(at / 1000) * 1000);
  assert.deepEqual([shown.time_zone, shown.terminal_label?.slice(0, 5)], ['"Asia/Tokyo"', '"Bar ']);
});

test('the export of a payment in the shop’s currency has both amounts and the tax', async () => {
  const read = async (format: string) => {
    const { text } = await client.get(path(`exports/payments?format=${format}&${DAY}`));
    return text
      .replace(/^\uFEFF/, '')
      .split('\r\n')
      .map((line) => line.split(','));
  };
  const [[idName, ...names] = [], [id = ''] = []] = await read('csv_atoms');
  assert.equal(idName, 'id');
  const quote = { currency: 'kwd', amount: 1_005, rate: '3.255', source: 'feed', tipAmount: 0 };
  const at = '2026-09-02T10:00:00.000Z';
  const tea = { name: 'Tea', quantity: 1, unit_amount: 1_060, tax_rate: 2_500, discount: 0 };
  const lines = { lineItems: [{ ...tea, tax_inclusive: true }], discount: 55 };
  await server.db.query(
    'update payments set presentment = $2::text::jsonb, lines = $3::text::jsonb where id = $1',
    [
      id.replaceAll('"', ''),
      JSON.stringify({ ...quote, quotedAt: at, expiresAt: at }),
      JSON.stringify(lines),
    ],
  );
  const shown: Record<string, (string | undefined)[]> = {};
  for (const format of ['csv', 'csv_atoms']) {
    const [header = [], first = [], second = []] = await read(format);
    const quoted = ['currency', 'amount', 'tip_amount', 'rate'].map((one) => `presentment.${one}`);
    const cells = (row: string[]) =>
      [...quoted, 'discount', 'tax'].map((name) => row[header.indexOf(name)]);
    shown[format] = cells(first);
    assert.deepEqual(cells(second).slice(0, 4), ['', '', '', '']);
  }
  assert.ok(names.includes('amount'));
  assert.deepEqual(shown, {
    // Four decimals, because a spreadsheet with a decimal comma would read `1.005` as 1005.
    csv: ['"kwd"', '1.0050', '0.0000', '"3.2550"', '0.0550', '0.2010'],
    csv_atoms: ['"kwd"', '1005', '0', '"3.255"', '55', undefined],
  });
});

test('only the file for accountants has a byte order mark, and only its first part', async () => {
  const begin = async (query: string) => {
    const url = `${server.dashboard}${path(`exports/payments?${DAY}&${query}`)}`;
    const response = await fetch(url, { headers: client.headers() });
    const bytes = Buffer.from(await response.arrayBuffer());
    return { bytes: bytes.subarray(0, 3).toString('hex'), text: bytes.toString('utf8') };
  };
  const whole = await begin('format=csv');
  assert.equal(whole.bytes, 'efbbbf');
  assert.equal(whole.text.split('\uFEFF').length, 2);
  const [, first = ''] = whole.text.split('\r\n');
  const id = first.split(',')[0]?.replaceAll('"', '') ?? '';
  for (const query of [`format=csv&after=${id}`, 'format=csv_atoms', 'format=jsonl']) {
    assert.doesNotMatch((await begin(query)).text, /\uFEFF/, query);
  }
});

test('an export waits for a slow client instead of filling the memory', async (t) => {
  const queries = t.mock.method(server.db.standby, 'query');
  const pagesRead = () =>
    queries.mock.calls.filter(({ arguments: [text] }) => /from payment_intents(?! i )/.test(text))
      .length;
  const url = `${server.dashboard}${path('exports/payment_intents?format=jsonl')}`;
  const response = await fetch(url, { headers: client.headers() });
  const reader = response.body?.getReader();
  await reader?.read();
  // Waits until the socket buffers are full. Then the server must stop reading pages for this
  // client, which reads nothing.
  let before = -1;
  while (before !== pagesRead()) {
    before = pagesRead();
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  await reader?.cancel();
  assert.ok(before > 0, 'the spy sees no pages');
  assert.ok(before < COUNT / 500 - 5, `${before} pages were read for a client that reads none`);
});

test('an interrupted export resumes after the last row received', async () => {
  const whole = await client.get(path('exports/payments?format=csv_atoms'));
  const lines = whole.text.split('\r\n').filter((line) => line !== '');
  const id = lines[700]?.split(',')[0]?.replaceAll('"', '') ?? '';
  const rest = await client.get(path(`exports/payments?format=csv_atoms&after=${id}`));
  assert.equal(rest.text.trimEnd(), lines.slice(701).join('\r\n'));
  assert.ok(lines.at(-1)?.includes(whole.headers.get('oldest-row') ?? 'no header'));
  assert.ok(lines.at(-1)?.includes(whole.headers.get('oldest-row-created') ?? 'no header'));
  const foreign = await client.get(path('exports/refunds?after=pay_nothing'));
  assert.equal(foreign.body.error?.code, 'cursor_invalid');
});

interface Figures {
  readonly day: string;
  readonly intents: number;
  readonly succeeded: number;
  readonly canceled: number;
  readonly volume: number;
  readonly declines: Record<string, number>;
}

test('statistics match the rows, and a closed day is computed once', async () => {
  const query = path('statistics?from=2026-09-01&to=2026-09-20');
  const first = await client.get(query);
  assert.equal(first.status, 200, first.text);
  const days = first.body.data as Figures[];
  const sum = (figureOf: (day: Figures) => number) =>
    days.reduce((total, day) => total + figureOf(day), 0);
  assert.equal(
    sum((day) => day.succeeded),
    (COUNT * 2) / 3,
  );
  assert.ok(sum((day) => day.intents) >= COUNT - 1);
  const [totals] = await server.db.query<{ volume: bigint }>(
    'select sum(amount)::bigint as volume from payments where account_id = $1',
    [account],
  );
  assert.equal(
    sum((day) => day.volume),
    Number(totals?.volume),
  );
  assert.ok(sum((day) => day.declines.insufficient_funds ?? 0) >= COUNT / 15 - 1);
  await server.db.query('delete from payments where account_id = $1 and amount = 1000001', [
    account,
  ]);
  assert.deepEqual((await client.get(query)).body, first.body);
  const started = performance.now();
  await client.get(query);
  assert.ok(performance.now() - started < 250, 'twenty stored days are read at once');
  const split = await client.get(`${query}&by_terminal=true`);
  assert.equal((split.body.data as unknown[]).length, days.length * 4);
});

test('invalid days are refused', async () => {
  for (const query of [
    'from=2026-02-30&to=2026-03-01',
    'from=2026-03-02&to=2026-03-01',
    'from=2020-01-01&to=2026-03-01',
    'from=tomorrow&to=2026-03-01',
    'from=2026-03-01',
  ]) {
    assert.equal((await client.get(path(`statistics?${query}`))).status, 400, query);
  }
  assert.equal((await client.get(path('reports/daily/2026-13-01'))).status, 400);
});

test('a daily report adds up', async () => {
  const { body, status, text } = await client.get(path('reports/daily/2026-09-02'));
  assert.equal(status, 200, text);
  const lines = body.terminals as { gross: number; payments: number }[];
  const total = body.total as { gross: number; payments: number };
  assert.equal(lines.length, 2);
  assert.equal(
    total.gross,
    lines.reduce((sum, line) => sum + line.gross, 0),
  );
  assert.equal(body.net, total.gross);
});

test('totals by terminal match the report, as JSON and as a file', async () => {
  const report = (await client.get(path('reports/daily/2026-09-02'))).body;
  const total = report.total as { gross: number; payments: number };
  await server.db.query(
    `insert into refunds (id, account_id, livemode, position, created, updated, payment_id, amount,
       status, source, metadata, reference, tx_hash)
     select 're_1', account_id, livemode, 1, created, created, id, 250000, 'succeeded',
       'dashboard', '{}', decode(repeat('01', 16), 'hex'), tx_hash
     from payments where account_id = $1 and created >= '2026-09-02T12:00:00Z' limit 1`,
    [account],
  );
  const query = path('totals?from=2026-09-02');
  const { status, body, text } = await client.get(query);
  assert.equal(status, 200, text);
  const sum = body.total as Record<'payments' | 'sales' | 'tips' | 'declines', number>;
  const { refunds, refunded } = body.total as { refunds: number; refunded: number };
  assert.deepEqual([refunds, refunded], [1, 250_000]);
  assert.deepEqual([sum.payments, sum.sales + sum.tips], [total.payments, total.gross]);
  const terminals = body.terminals as { terminal: string; declines: number }[];
  assert.equal(terminals.length, 3);
  assert.ok(sum.declines > 0);
  const file = await client.get(`${query}&format=csv`);
  const [header, ...lines] = file.text.trim().split('\r\n');
  const figures = 'terminal,label,cashier,payments,sales,tips,refunds,refunded,declines';
  assert.equal(header, `${figures},currency,tax_rate,net,tax,gross,discounts,payouts`);
  assert.ok(lines[0]?.startsWith(`"${terminals[0]?.terminal}",,,`), lines[0]);
  // The only sale that has lines is priced in Kuwaiti dinars.
  assert.deepEqual(lines.slice(3), [
    ',"Sales",,,1005,0,,0,,"kwd",,,,,,',
    ',"Tax",,,,,,,,"kwd",2500,804,201,1005,,',
    ',"Discounts",,,,,,,,"kwd",,,,,55,',
  ]);
  await server.db.query(`delete from refunds where id = 're_1'`);
});

async function moveTo(timeZone: string) {
  const { body } = await client.get(`/accounts/${account}`);
  const edit = { version: body.version, time_zone: timeZone };
  return client.patch(`/accounts/${account}`, edit);
}

test("days are in the account's time zone", async () => {
  const span = path('statistics?from=2026-09-01&to=2026-09-20');
  const utc = (await client.get(span)).body;
  const moved = await moveTo('America/New_York');
  assert.equal(moved.status, 200, moved.text);
  assert.equal(moved.body.time_zone, 'America/New_York');
  const [result] = await server.db.query<{ volume: bigint; payments: bigint }>(
    `select sum(amount)::bigint as volume, count(*) as payments from payments
     where account_id = $1 and created >= '2026-09-02T04:00:00Z'
       and created < '2026-09-03T04:00:00Z'`,
    [account],
  );
  const expected = { volume: Number(result?.volume), payments: Number(result?.payments) };
  assert.notEqual(expected.payments, 0);
  for (const _read of ['computed', 'stored']) {
    const { data } = (await client.get(span)).body as { data: (Figures & { payments: number })[] };
    const day = data.find((row) => row.day === '2026-09-02');
    assert.deepEqual({ volume: day?.volume, payments: day?.payments }, expected);
    // In that time zone, midnight UTC belongs to the previous day.
    assert.equal(data.at(-1)?.day, '2026-09-20');
    assert.equal(data.length, 20);
  }
  const report = (await client.get(path('reports/daily/2026-09-02'))).body;
  const total = report.total as { gross: number; payments: number };
  assert.deepEqual({ volume: total.gross, payments: total.payments }, expected);
  const file = await client.get(
    path('exports/payments?format=jsonl&from=2026-09-02&to=2026-09-02'),
  );
  assert.equal(file.text.trim().split('\n').length, expected.payments);
  assert.equal((await moveTo('UTC')).status, 200);
  assert.deepEqual((await client.get(span)).body, utc);
});

test('an account chooses the language of its customers, or none', async () => {
  const choose = async (language: unknown) => {
    const { body } = await client.get(`/accounts/${account}`);
    return client.patch(`/accounts/${account}`, { version: body.version, language });
  };
  for (const language of ['en', 'de', 'fr', 'es', 'pt', 'ja', 'ar', null]) {
    const { status, body } = await choose(language);
    assert.deepEqual([status, body.language], [200, language]);
  }
  for (const wrong of ['it', 'qps', 'de-CH', 'DE', '', 7, ['de']]) {
    assert.equal((await choose(wrong)).status, 400, String(wrong));
  }
});

test('nonexistent time zones and impossible days are refused', async () => {
  for (const zone of ['Mars/Olympus', 'europe/berlin', '+02:00', 'posix/UTC', 'FOO+3', '']) {
    const { status, body } = await moveTo(zone);
    assert.equal(status, 400, zone);
    assert.equal(body.error?.code, 'parameter_invalid');
    assert.equal(body.error?.param, 'time_zone');
  }
  for (const query of [
    'from=2026-02-30',
    'from=2026-03-02&to=2026-03-01',
    'from=2026-03-02&created_lt=2026-03-02T00:00:00Z',
  ]) {
    assert.equal((await client.get(path(`exports/refunds?${query}`))).status, 400, query);
  }
});

/** Follows the feed until this many events have arrived. @returns their IDs. */
async function follow(count: number, lastId?: string, act = async () => {}): Promise<string[]> {
  const response = await fetch(`${server.dashboard}${path('feed')}`, {
    headers: { ...client.headers(), ...(lastId === undefined ? {} : { 'Last-Event-ID': lastId }) },
  });
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const ids: string[] = [];
  let text = '';
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  await act();
  while (ids.length < count) {
    const { value, done } = (await reader?.read()) ?? { value: '', done: true };
    if (done) break;
    text += value;
    ids.splice(
      0,
      ids.length,
      ...[...text.matchAll(/^id: (\S+)$/gm)].map((match) => match[1] ?? ''),
    );
  }
  await reader?.cancel();
  return ids;
}

async function addTerminals(count: number): Promise<void> {
  const tenant = { accountId: account, livemode: false };
  for (let i = 0; i < count; i++) {
    const input = { tenant, label: `Counter ${i}`, actor, now: server.clock.now() };
    await server.db.transaction((tx) => createTerminal(tx, input));
  }
}

test('the live feed begins now, and resumes where it broke off without a gap', async () => {
  await addTerminals(2);
  const seen = await follow(1, undefined, () => addTerminals(1));
  assert.equal(seen.length, 1);
  await addTerminals(3);
  const missed = await follow(3, seen[0]);
  const rows = await server.db.query<{ id: string }>(
    'select id from events where account_id = $1 order by position desc limit 3',
    [account],
  );
  assert.deepEqual(missed, rows.map((row) => row.id).reverse());
});

/** Moves the oldest sale to this time, calls `read`, and moves the sale back. */
async function soldAt(at: Date, read: () => Promise<void>): Promise<void> {
  const moved = `with was as (
      select id, payment_intent_id, created from payments where account_id = $1
      order by created limit 1
    ), sale as (
      update payments p set created = $2 from was where p.id = was.id
    ), wish as (
      update payment_intents i set created = $2, tapped_at = $2
      from was where i.id = was.payment_intent_id
    )
    select * from was`;
  const [was] = await server.db.query<{ id: string; payment_intent_id: string; created: Date }>(
    moved,
    [account, at],
  );
  try {
    await read();
  } finally {
    await server.db.query('update payments set created = $2 where id = $1', [
      was?.id,
      was?.created,
    ]);
    await server.db.query(
      `update payment_intents set created = $2::timestamptz - interval '2 seconds',
         tapped_at = $2::timestamptz - interval '1 second' where id = $1`,
      [was?.payment_intent_id, was?.created],
    );
    await server.db.query('delete from statistics_days where account_id = $1', [account]);
    await server.db.query('delete from statistics_hours where account_id = $1', [account]);
  }
}

test('around midnight, every view puts a sale on the day that its receipt shows', async () => {
  server.clock.advance(60 * 86_400_000);
  client = await signInAs(server, OWNER);
  // Zones in which PostgreSQL and the runtime may disagree: their time zone data differ, or a day
  // has two midnights.
  const cases = [
    ['America/Havana', '2026-11-01'],
    ['America/Edmonton', '2026-11-20'],
    ['Africa/Casablanca', '2026-11-20'],
    ['America/Vancouver', '2026-11-20'],
    ['Africa/Cairo', '2026-10-30'],
    ['Asia/Kathmandu', '2026-11-20'],
  ] as const;
  for (const [zone, day] of cases) {
    assert.equal((await moveTo(zone)).status, 200);
    for (const minutes of [-30, 30]) {
      const at = new Date(dayStart(zone, day).getTime() + minutes * 60_000);
      const printed = dayIn(zone, at);
      assert.equal(printed, minutes < 0 ? dayAfter(day, -1) : day);
      await soldAt(at, async () => {
        const span = `from=${printed}&to=${printed}`;
        const file = (await client.get(path(`exports/payments?format=csv&${span}`))).text;
        assert.equal(file.split('\r\n').length, 3, `${zone} ${at.toISOString()}`);
        assert.ok(file.includes(`"${printed}T`));
        const totals = (await client.get(path(`totals?${span}`))).body.total;
        assert.equal((totals as Figures & { payments: number }).payments, 1);
        const days = (await client.get(path(`statistics?${span}`))).body.data;
        assert.equal((days as { payments: number }[])[0]?.payments, 1);
        const report = (await client.get(path(`reports/daily/${printed}`))).body.total;
        assert.equal((report as { payments: number }).payments, 1);
      });
    }
  }
  assert.equal((await moveTo('UTC')).status, 200);
});
