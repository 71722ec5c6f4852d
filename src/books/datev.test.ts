import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { inflateRawSync } from 'node:zlib';
import type { DatevBooks } from '#books/datev.ts';
import { datevFile, MAX_ROWS, planBatches, tooLongForDatev } from '#books/datev-file.ts';
import type { Entry } from '#books/entry-queries.ts';
import { isRefusal } from '#core/answer.ts';
import type { RateTax } from '#prices/sale-lines.ts';
import {
  entryOf,
  type MadePeriod,
  parseCsv,
  periodOf,
  SKR03,
  SKR04,
  textOf,
} from '#testkit/fixtures/payments/books.ts';

/**
 * Compares DATEV files with files that were reckoned by hand: `golden-datev.md` has the reckoning
 * beside each row.
 */

const row = (rate: number, net: number, tax: number): RateTax => {
  return { rate, net, tax, gross: net + tax };
};
const at = (time: string) => new Date(`${time}:00.000Z`);
const EUR = { currency: 'eur', shop_currency: 'eur', shop_rate: '1.08542277217' } as const;
const BERLIN = { timeZone: 'Europe/Berlin', starts: [] };
const BAR = { timeZone: 'Europe/Berlin', starts: [{ from: '2026-01-01', at: '05:00' }] };

let position = 0n;

function entry(given: Partial<Entry> & Pick<Entry, 'created'>): Entry {
  position += 1n;
  return entryOf({ object_id: `pay_${position}`, position, ...given });
}

const LUNCH = [row(700, 1_136, 80), row(1_900, 639, 121)];

/** Each case of `golden-datev.md`, by its heading. */
const CASES: Readonly<Record<string, { made: MadePeriod; books: Partial<DatevBooks> }>> = {
  'SKR 03, a EUR shop': {
    made: periodOf(
      [
        entry({
          ...{ created: at('2026-11-05T11:00'), receipt_number: 'K7-1', description: 'Lunch' },
          ...{ ...EUR, amount: 23_592_748n, minor: 2_174n, taxes: LUNCH },
        }),
        entry({
          ...{ created: at('2026-11-06T11:00'), type: 'refund', receipt_number: 'RK7-1' },
          ...{ ...EUR, amount: -1_085_422n, minor: 100n, taxes: [row(700, 93, 7)] },
        }),
        entry({
          ...{ created: at('2026-11-30T11:00'), type: 'payout', object_id: 'wdr_1' },
          ...{ ...EUR, currency: null, amount: -20_000_000n, shop_rate: '1.1' },
        }),
      ],
      { from: '2026-11-01', to: '2026-11-30', shop: BERLIN },
    ),
    books: { accounts: SKR03, base: 'EUR' },
  },
  'SKR 04, a USDC shop': {
    made: periodOf(
      [
        entry({ created: at('2026-11-05T11:00'), amount: 1_000_001n }),
        entry({ created: at('2026-11-05T12:00'), amount: 2_000_009n }),
        entry({ created: at('2026-11-05T13:00'), amount: 3_333_333n }),
        entry({ created: at('2026-11-05T14:00'), amount: 6_661n }),
        entry({
          ...{ created: at('2026-11-05T15:00'), amount: 10_000_000n, tip: 0n },
          taxes: [row(700, 3_115_141, 218_059), row(1_900, 5_602_353, 1_064_447)],
        }),
      ],
      { from: '2026-11-01', to: '2026-11-30' },
    ),
    books: { accounts: SKR04, base: 'USD' },
  },
  'JPY in a EUR base': {
    made: periodOf(
      [
        entry({
          ...{
            created: at('2026-11-05T11:00'),
            currency: 'jpy',
            minor: 1_500n,
            amount: 9_975_000n,
          },
          ...{ shop_currency: 'jpy', shop_rate: '0.00665', taxes: [row(1_900, 1_261, 239)] },
        }),
      ],
      { from: '2026-11-05', to: '2026-11-05', shop: BERLIN },
    ),
    books: { base: 'EUR', rates: [{ shop_currency: 'eur', shop_rate: '1.08542277217' }] },
  },
  'A JPY shop': {
    made: periodOf(
      [
        entry({
          ...{
            created: at('2026-11-05T11:00'),
            currency: 'jpy',
            minor: 1_500n,
            amount: 9_975_000n,
          },
          ...{ shop_currency: 'jpy', shop_rate: '0.00665', taxes: [row(1_900, 1_261, 239)] },
        }),
      ],
      { from: '2026-11-05', to: '2026-11-05' },
    ),
    books: { base: 'USD' },
  },
  'A bar at 05:00': {
    made: periodOf(
      [
        entry({
          ...{ created: at('2026-11-08T02:30'), ...EUR, minor: 1_190n, amount: 12_916_530n },
          taxes: [row(1_900, 1_000, 190)],
        }),
        entry({
          ...{ created: at('2026-11-08T04:00'), ...EUR, minor: 1_190n, amount: 12_916_530n },
          taxes: [row(1_900, 1_000, 190)],
        }),
      ],
      { from: '2026-11-07', to: '2026-11-08', shop: BAR },
    ),
    books: { base: 'EUR' },
  },
  'Refunds by line and by sum over the end of a month': {
    made: periodOf(
      [
        entry({
          ...{ created: at('2026-12-01T09:00'), type: 'refund', object_id: 're_1', ...EUR },
          ...{ amount: -8_249_213n, minor: 760n, taxes: [row(1_900, 639, 121)] },
        }),
        entry({
          ...{ created: at('2026-12-02T09:00'), type: 'refund', object_id: 're_2', ...EUR },
          ...{ amount: -10_854_227n, minor: 1_000n },
          taxes: [row(700, 803, 57), row(1_900, 0, 0)],
        }),
      ],
      { from: '2026-12-01', to: '2026-12-31', shop: BERLIN },
    ),
    books: { base: 'EUR' },
  },
  'An offline sale in euros, a rate below 0': {
    made: periodOf(
      [
        entry({
          ...{ created: at('2026-11-09T09:00'), ...EUR, minor: 950n, amount: 10_569_000n },
          ...{ quote_rate: '1.112526', taxes: [row(0, -250, 0), row(1_900, 1_008, 192)] },
        }),
      ],
      { from: '2026-11-09', to: '2026-11-09', shop: BERLIN },
    ),
    books: { base: 'EUR', accounts: { ...SKR03, revenue: { ...SKR03.revenue, 0: '8195' } } },
  },
  'An exchange loss stays on clearing': {
    made: periodOf(
      [
        entry({
          ...{ created: at('2026-11-10T09:00'), ...EUR, shop_rate: '1.1', minor: 10_000n },
          ...{ amount: 110_000_000n, taxes: [row(1_900, 8_403, 1_597)] },
        }),
        entry({
          ...{ created: at('2026-11-30T09:00'), type: 'payout', object_id: 'wdr_2' },
          ...{ ...EUR, currency: null, amount: -110_000_000n, shop_rate: '1.12' },
        }),
      ],
      { from: '2026-11-01', to: '2026-11-30', shop: BERLIN },
    ),
    books: { base: 'EUR' },
  },
};

/** Returns the columns that our files fill, without the ID in the last two. */
function shortRows(text: string): string[] {
  const rows = parseCsv(text.split('\r\n').slice(2).join('\r\n'), ';');
  return rows.map((cells) => [...cells.slice(0, 8), cells[9], cells[10], cells[13]].join(';'));
}

async function readGolden(): Promise<ReadonlyMap<string, string[]>> {
  const text = await readFile(path.join(import.meta.dirname, 'golden-datev.md'), 'utf8');
  const sections = text.split('\n## ').slice(1);
  return new Map(
    sections.map((section) => {
      const [heading = '', ...lines] = section.split('\n');
      const rows = lines.filter((line) => line.startsWith('    ')).map((line) => line.trim());
      return [heading, rows];
    }),
  );
}

test('every file that was reckoned by hand is written to the letter', async () => {
  const golden = await readGolden();
  assert.deepEqual([...golden.keys()], Object.keys(CASES));
  for (const [heading, { made, books }] of Object.entries(CASES)) {
    const text = await textOf(made, 'datev', books);
    assert.deepEqual(shortRows(text), golden.get(heading), heading);
  }
});

test('the first line names the base currency, the chart and the length of accounts', async () => {
  const head = async (name: string) => {
    const { made, books } = CASES[name] ?? assert.fail(name);
    const cells = (await textOf(made, 'datev', books)).split('\r\n')[0]?.split(';') ?? [];
    return [cells[12], cells[13], cells[14], cells[15], cells[21], cells[26]].join(' ');
  };
  const eur = await head('SKR 03, a EUR shop');
  assert.equal(eur, '20260101 4 20261101 20261130 "EUR" "03"');
  const usd = await head('SKR 04, a USDC shop');
  assert.equal(usd, '20260101 4 20261101 20261130 "USD" "04"');
});

const full = (books: Partial<DatevBooks>): DatevBooks => {
  return { accounts: SKR03, base: 'USD', rates: [], ...books };
};

async function planOf({ period, entries }: MadePeriod, books: Partial<DatevBooks> = {}) {
  const chunks = async function* () {
    yield entries;
  };
  return planBatches(full(books), period, chunks());
}

const NOVEMBER = { from: '2026-11-01', to: '2026-11-30' };

test('a rate, a tip or a sale without an account is refused, and named', async () => {
  const sale = (given: Partial<Entry>) => {
    return periodOf([entry({ created: at('2026-11-05T11:00'), ...given })], NOVEMBER);
  };
  const refusal = async (made: MadePeriod, accounts: Partial<DatevBooks['accounts']>) => {
    const plan = await planOf(made, { accounts: { ...SKR03, ...accounts } });
    return isRefusal(plan) ? `${plan.code} ${plan.message}` : 'planned';
  };
  const taxed = sale({ taxes: [row(1_050, 904_977, 95_023)] });
  assert.match(await refusal(taxed, {}), /^parameter_invalid .*10\.50 %.*revenue\.1050/);
  assert.match(await refusal(sale({}), { revenue: { 700: '8300' } }), /revenue\.none/);
  const tipped = sale({ taxes: [row(700, 841_121, 58_879)] });
  assert.equal(await refusal(tipped, { revenue: { 700: '8300' } }), 'planned');
  assert.equal(await refusal(sale({ amount: 9_999n }), { revenue: {} }), 'planned', 'no row');
});

test('a row in another currency without any rate is refused, and its entry named', async () => {
  const given = { created: at('2026-11-05T11:00'), shop_currency: 'eur' };
  const usdc = periodOf([entry({ ...given, object_id: 'pay_named' })], NOVEMBER);
  const plan = await planOf(usdc, { base: 'EUR' });
  assert.match(isRefusal(plan) ? plan.message : '', /^pay_named .*EUR/);
  const rates = [{ shop_currency: 'eur', shop_rate: '1.25' }];
  assert.match(
    shortRows(await textOf(usdc, 'datev', { base: 'EUR', rates }))[0] ?? '',
    /;1,250000;/,
  );
});

test('a third digit of a currency is dropped once, and the rows add up', async () => {
  const taxes = [row(700, 1_990, 139), row(1_900, 1_790, 340)];
  const sale = { currency: 'kwd', minor: 4_259n, taxes, quote_rate: '3.25', shop_rate: '3.25' };
  const given = { created: at('2026-11-05T11:00'), shop_currency: 'kwd', ...sale };
  const made = periodOf([entry({ ...given, amount: 13_841_750n })], NOVEMBER);
  const rows = shortRows(await textOf(made, 'datev', { base: 'USD' }));
  const sums = rows.filter((line) => line.includes(';KWD;')).map((line) => line.split(';')[0]);
  assert.deepEqual(sums, ['2,12', '2,13'], 'of KWD 4.259');
});

test('a period over New Year is refused with its halves, or an archive of two files', async () => {
  const days = { from: '2026-12-31', to: '2027-01-01', shop: BERLIN };
  const made = periodOf(
    [entry({ created: at('2026-12-31T22:59') }), entry({ created: at('2026-12-31T23:00') })],
    days,
  );
  const plan = await planOf(made);
  assert.ok(!isRefusal(plan));
  const refused = tooLongForDatev(days, plan);
  assert.match(refused?.message ?? '', /2026-12-31 to 2026-12-31 and 2027-01-01 to 2027-01-01/);
  const files = await unzip(made, plan);
  assert.deepEqual(
    files.map(({ name }) => name.replace(/^.*-datev-/, '')),
    ['2026-12-31-2026-12-31.csv', '2027-01-01-2027-01-01.csv'],
  );
  assert.ok(files.every(({ name }) => name.startsWith('EXTF_tapline-acct_')));
  const dates = files.map(({ text }) => [text.split(';')[12], shortRows(text).length]);
  assert.deepEqual(dates, [
    ['20260101', 1],
    ['20270101', 1],
  ]);
});

/** Reads the archive's files from its central directory. */
async function unzip({ period, entries }: MadePeriod, plan: Awaited<ReturnType<typeof planOf>>) {
  assert.ok(!isRefusal(plan));
  const chunks = async function* () {
    for (let n = 0; n < entries.length; n += 1_000) yield entries.slice(n, n + 1_000);
  };
  const parts: Buffer[] = [];
  for await (const part of datevFile(period, plan, chunks())) parts.push(part);
  const zip = Buffer.concat(parts);
  const end = zip.length - 22;
  assert.equal(zip.readUInt32LE(end), 0x06054b50);
  let slot = zip.readUInt32LE(end + 16);
  return Array.from({ length: zip.readUInt16LE(end + 10) }, () => {
    const [packed, length] = [zip.readUInt32LE(slot + 20), zip.readUInt16LE(slot + 28)];
    const start = zip.readUInt32LE(slot + 42) + 30 + length;
    const name = zip.toString('latin1', slot + 46, slot + 46 + length);
    const bytes = inflateRawSync(zip.subarray(start, start + packed));
    assert.equal(bytes.length, zip.readUInt32LE(slot + 24));
    slot += 46 + length;
    return { name, text: new TextDecoder('windows-1252').decode(bytes) };
  });
}

test('99,999 rows are one file, one more is two, and no row is lost', async () => {
  const created = at('2026-11-05T11:00');
  const one = entry({ created });
  const many = Array.from({ length: MAX_ROWS }, () => one);
  const whole = await planOf(periodOf(many, NOVEMBER));
  assert.ok(!isRefusal(whole));
  assert.equal(tooLongForDatev(NOVEMBER, whole), null);
  const made = periodOf([...many, one], NOVEMBER);
  const plan = await planOf(made);
  assert.ok(!isRefusal(plan));
  const refused = tooLongForDatev(NOVEMBER, plan)?.message ?? '';
  assert.match(refused, /99999 rows.*2026-11-01 to 2026-11-15 and 2026-11-16 to 2026-11-30/);
  const files = await unzip(made, plan);
  assert.deepEqual(
    files.map(({ text }) => text.split('\r\n').length - 3),
    [MAX_ROWS, 1],
  );
  const names = new Set(files.map(({ name }) => name));
  assert.equal(names.size, 2);
  const rounded = periodOf([...many.slice(1), entry({ created, amount: 1_010_001n })], {
    ...NOVEMBER,
    opening: 9_999n,
  });
  const last = await planOf(rounded);
  assert.ok(!isRefusal(last));
  assert.equal(
    last.batches.reduce((sum, { rows }) => sum + rows, 0),
    MAX_ROWS + 1,
    'rounding',
  );
});
