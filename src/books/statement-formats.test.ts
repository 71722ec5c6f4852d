import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { QUICKBOOKS_COLUMNS, XERO_COLUMNS } from '#books/bank-csv.ts';
import { DATEV_COLUMNS } from '#books/datev-rows.ts';
import type { Entry } from '#books/entry-queries.ts';
import { partsOf } from '#books/round-entries.ts';
import { CSV_COLUMNS } from '#books/table-formats.ts';
import { dayBounds } from '#core/calendar.ts';
import { divide } from '#prices/sale-lines.ts';
import {
  entryOf,
  type MadePeriod,
  parseCsv,
  periodOf,
  SKR03,
  textOf,
} from '#testkit/fixtures/payments/books.ts';

/**
 * Number of random days with which every format is tested: files are well-formed and complete, and
 * add up to the atom.
 */

const DAYS = Number(process.env.BOOKS_DAYS ?? 150);
const ZONES = ['Europe/Berlin', 'Australia/Lord_Howe', 'America/Santiago', 'Pacific/Apia'];
/** Days when the clocks change in one of these zones, in each direction, and one other day. */
const CALENDAR = [
  '2026-03-29',
  '2026-10-25',
  '2026-04-05',
  '2026-10-04',
  '2026-04-04',
  '2026-09-06',
  '2026-06-01',
];

const anAmount = fc.oneof(
  fc.bigInt(1n, 20n),
  fc.bigInt(1n, 3_000_000n),
  fc.bigInt(1n, 1_000_000_000_000n),
);
const aText = fc.oneof(
  fc.constantFrom(
    'Café "Zwei; drei"',
    '=1+1',
    '-2',
    '@x',
    '<a&b>',
    'é'.repeat(80),
    '＂＝１ ﬁ',
    '寿司 👍',
    '\t',
  ),
  fc.string({ unit: 'grapheme', maxLength: 90 }),
);

const aRow = fc.record({
  rate: fc.constantFrom(0, 700, 1_900, 2_000),
  gross: fc.integer({ min: -300, max: 50_000 }),
});

const anEntry = fc.record({
  type: fc.constantFrom('payment', 'refund', 'payout', 'correction' as const),
  amount: anAmount,
  second: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  description: fc.option(aText),
  currency: fc.option(fc.constantFrom('eur', 'jpy', 'kwd')),
  rows: fc.uniqueArray(aRow, { maxLength: 3, selector: ({ rate }) => rate }),
  tip: fc.constantFrom(0n, 0n, 7n, 350n),
  isOut: fc.boolean(),
});

/** Returns a sale's taxes, if it has lines, and its sum in the unit of its lines. */
function saleOf({ rows, tip, currency, amount }: FromDraft) {
  const taxes = rows
    .toSorted((one, other) => one.rate - other.rate)
    .map(({ rate, gross }) => {
      const tax = Number(divide(BigInt(gross * rate), BigInt(10_000 + rate)));
      return { rate, net: gross - tax, tax, gross };
    });
  const whole = taxes.reduce((sum, { gross }) => sum + BigInt(gross), BigInt(tip));
  const hasLines = taxes.length > 0 && whole > 0n;
  const minor = hasLines ? whole : amount + tip;
  const facts = { taxes: hasLines ? taxes : null, tip: hasLines ? 0n : tip };
  if (currency !== null) return { ...facts, currency, minor, amount };
  return { ...facts, amount: minor };
}

type FromDraft = typeof anEntry extends fc.Arbitrary<infer Draft> ? Draft : never;

const aCase: fc.Arbitrary<MadePeriod> = fc
  .record({
    zone: fc.constantFrom(...ZONES),
    at: fc.constantFrom('00:00', '02:30', '05:00'),
    day: fc.constantFrom(...CALENDAR),
    opening: fc.bigInt(0n, 10_000_000_000n),
    drafts: fc.array(anEntry, { maxLength: 12 }),
  })
  .map(({ zone, at, day, opening, drafts }) => {
    const shop = { timeZone: zone, starts: [{ from: '2026-01-01', at }] };
    const { since, until } = dayBounds(shop, day);
    const span = until.getTime() - since.getTime();
    const entries = drafts.map((draft, n): Entry => {
      const { type, isOut, description } = draft;
      const leaves = type === 'payment' ? false : type === 'correction' ? isOut : true;
      const sale = type === 'payout' ? { amount: draft.amount } : saleOf(draft);
      return entryOf({
        ...sale,
        ...{ type, created: new Date(since.getTime() + Math.floor(draft.second * span)) },
        ...{ amount: leaves ? -sale.amount : sale.amount, position: BigInt(n + 1) },
        object_id: type === 'payout' ? `wdr_${n}` : `${type}_${n}`,
        order_id: type === 'payout' ? null : `O-${n}`,
        description: type === 'payout' ? null : description,
        receipt_number: type === 'payment' ? `K7XQM-${n}` : null,
        terminal: 'tml_1',
        ...{ quote_rate: '1.1', shop_currency: 'eur', shop_rate: '1.08542277217' },
      });
    });
    return periodOf(entries, { from: day, to: day, shop, opening });
  });

/** Parses a decimal into units of its last digit; `digits` is the number of decimals. */
function unitsOf(text: string, digits: number): bigint {
  const result = /^(-?)(\d+)(?:[.,](\d+))?$/.exec(text);
  assert.ok(result !== null && (result[3] ?? '').length <= digits, text);
  const size = BigInt((result[2] ?? '') + (result[3] ?? '').padEnd(digits, '0'));
  return result[1] === '-' ? -size : size;
}

function check(name: string, run: (one: MadePeriod) => Promise<void>): void {
  test(name, () => fc.assert(fc.asyncProperty(aCase, run), { numRuns: DAYS }));
}

const RATES = { accounts: { ...SKR03, revenue: { ...SKR03.revenue, 0: '8100', 2000: '8401' } } };

check('csv: every entry with its exact sum, between the two balances', async (one) => {
  const text = await textOf(one, 'csv');
  assert.ok(text.startsWith('\uFEFF'));
  const [header, ...rows] = parseCsv(text.slice(1));
  assert.deepEqual(header, [...CSV_COLUMNS]);
  const sold = one.entries.filter(({ type }) => type !== 'payout');
  const parts = sold.flatMap(partsOf).length;
  assert.equal(rows.length, parts + (one.entries.length - sold.length) + 2);
  assert.ok(rows.every((row) => row.length === CSV_COLUMNS.length));
  const of = (row: string[] | undefined, column: (typeof CSV_COLUMNS)[number]) =>
    row?.[CSV_COLUMNS.indexOf(column)] ?? '';
  let balance = unitsOf(of(rows[0], 'balance'), 6);
  assert.equal(balance, one.period.opening);
  for (const row of rows.slice(1, -1)) {
    balance += unitsOf(of(row, 'amount'), 6);
    if (of(row, 'balance') !== '') assert.equal(unitsOf(of(row, 'balance'), 6), balance);
    assert.match(of(row, 'created'), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/);
    if (of(row, 'gross') === '') continue;
    const [net, tax, gross] = (['net', 'tax', 'gross'] as const).map((name) => {
      return unitsOf(of(row, name), 6);
    });
    assert.equal((net ?? 0n) + (tax ?? 0n), gross);
  }
  assert.equal(rows.filter((row) => of(row, 'balance') !== '').length, one.entries.length + 2);
  assert.equal(unitsOf(of(rows.at(-1), 'balance'), 6), balance);
  assert.equal(balance, one.period.closing);
  for (const cell of rows.flat()) assert.doesNotMatch(cell, /^([=+@\t]|-(?!\d+(\.\d+)?$))/);
});

interface Node {
  readonly name: string;
  readonly children: Node[];
  text: string;
}

/** Parses the XML that we write: elements, text and the three entities. */
function parseXml(xml: string): Node {
  const root: Node = { name: '', children: [], text: '' };
  const open = [root];
  for (const [, close, name = '', , text = ''] of xml.matchAll(
    /<(?:(\/)?([A-Za-z0-9]+)([^<>]*)|\?[^<>]*\?)>([^<>]*)/g,
  )) {
    if (name === '') continue;
    if (close === '/') {
      assert.equal(open.pop()?.name, name);
    } else {
      const node: Node = { name, children: [], text };
      open.at(-1)?.children.push(node);
      open.push(node);
    }
  }
  assert.equal(open.length, 1, 'every element is closed');
  return root;
}

const SCHEMA = JSON.parse(
  await readFile(path.join(import.meta.dirname, 'camt-053-001-08.json'), 'utf8'),
) as {
  readonly order: Readonly<Record<string, readonly string[]>>;
  readonly required: Readonly<Record<string, readonly string[]>>;
};

function checkOrder(node: Node, parent: string): void {
  const order = SCHEMA.order[`${parent}/${node.name}`] ?? SCHEMA.order[node.name] ?? [];
  const places = node.children.map(({ name }) => {
    assert.ok(order.includes(name), `${node.name} has no ${name}`);
    return order.indexOf(name);
  });
  assert.deepEqual(
    places,
    places.toSorted((one, other) => one - other),
    node.name,
  );
  for (const name of SCHEMA.required[node.name] ?? []) {
    assert.ok(
      node.children.some((child) => child.name === name),
      `${node.name} lacks ${name}`,
    );
  }
  for (const child of node.children) checkOrder(child, node.name);
}

function find(node: Node | undefined, ...names: readonly string[]): Node | undefined {
  return names.reduce(
    (result: Node | undefined, name) => result?.children.find((child) => child.name === name),
    node,
  );
}

const signed = (node: Node | undefined) => {
  const size = unitsOf(find(node, 'Amt')?.text ?? '', 2);
  return find(node, 'CdtDbtInd')?.text === 'DBIT' ? -size : size;
};

check('camt.053.001.08: elements in the order of the schema, and sums that add up', async (one) => {
  const xml = await textOf(one, 'camt.053.001.08');
  const document = parseXml(xml).children[0];
  assert.ok(document?.name === 'Document');
  checkOrder(document, '');
  const statement = find(document, 'BkToCstmrStmt', 'Stmt');
  const named = (name: string) => statement?.children.filter((child) => child.name === name) ?? [];
  const [opening, closing] = named('Bal');
  assert.deepEqual(
    [opening, closing].map((bal) => find(bal, 'Tp', 'CdOrPrtry', 'Cd')?.text),
    ['OPBD', 'CLBD'],
  );
  const entries = named('Ntry');
  const exact = entries.map((entry) => {
    const [, atoms = ''] = / \((\d+) atoms\)$/.exec(find(entry, 'AddtlNtryInf')?.text ?? '') ?? [];
    return find(entry, 'CdtDbtInd')?.text === 'DBIT' ? -BigInt(atoms) : BigInt(atoms);
  });
  assert.deepEqual(
    exact.slice(0, one.entries.length),
    one.entries.map(({ amount }) => amount),
  );
  const rounding = entries.filter((entry) =>
    /ROUNDING/.test(find(entry, 'AddtlNtryInf')?.text ?? ''),
  );
  assert.equal(entries.length, one.entries.length + rounding.length);
  assert.ok(rounding.length <= 1);
  assert.equal(
    exact.reduce((all, atoms) => all + atoms, one.period.opening),
    one.period.closing,
  );
  const total = entries.reduce((all, entry) => all + signed(entry), signed(opening));
  assert.equal(total, signed(closing));
  assert.equal(signed(closing), one.period.closing / 10_000n);
  for (const [index, entry] of one.entries.entries()) {
    const day = one.period.dayOf(entry.created);
    for (const name of ['BookgDt', 'ValDt']) {
      assert.equal(find(entries[index], name, 'Dt')?.text, day);
      assert.equal(find(entries[index], name, 'DtTm'), undefined);
    }
    assert.match(
      find(entries[index], 'NtryDtls', 'TxDtls', 'RmtInf', 'Ustrd')?.text ?? '',
      /^[A-Z]/,
    );
  }
  assert.equal(
    find(statement, 'AddtlStmtInf')?.text,
    entries.length === 0 ? 'No entries' : undefined,
  );
});

check('datev: the columns of its version, one row of rounding at the end', async (one) => {
  const text = await textOf(one, 'datev', RATES);
  const [head, columns = []] = text.split('\r\n').map((line) => line.split(';'));
  assert.deepEqual(head?.slice(0, 5), ['"EXTF"', '700', '21', '"Buchungsstapel"', '13']);
  assert.equal(head?.length, 31);
  assert.equal(columns.length, 125);
  assert.deepEqual(columns, DATEV_COLUMNS);
  const parsed = parseCsv(text.split('\r\n').slice(2).join('\r\n'), ';');
  assert.ok(
    parsed.every((row) => row.length === 125),
    'a text with a semicolon is quoted',
  );
  const rounding = parsed.filter((row) => row[13] === 'ROUNDING');
  assert.ok(rounding.length <= 1 && (rounding.length === 0 || parsed.at(-1) === rounding[0]));
  for (const row of parsed) {
    assert.match(row[0] ?? '', /^\d+,\d\d$/);
    assert.notEqual(row[0], '0,00');
    assert.equal(row[8], '', 'no key');
    assert.ok([...(row[13] ?? '')].length <= 60 && (row[10] ?? '').length <= 36);
    assert.equal(row[9], one.period.to.replace(/^\d+-(\d\d)-(\d\d)$/, '$2$1'));
    if (row[2] === 'USD') assert.deepEqual([row[3], row[4], row[5]], ['', '', '']);
    else assert.deepEqual([/^\d+,\d{6}$/.test(row[3] ?? ''), row[5]], [true, 'USD']);
  }
});

/** Reads the amounts of a file with two decimals, with the ID or `ROUNDING`. */
async function readBank(one: MadePeriod, format: 'xero' | 'quickbooks' | 'ofx') {
  const text = await textOf(one, format);
  if (format === 'ofx') {
    const list = find(parseXml(text).children[0], 'BANKMSGSRSV1', 'STMTTRNRS', 'STMTRS');
    const rows = find(list, 'BANKTRANLIST')?.children.slice(2) ?? [];
    const closing = find(list, 'LEDGERBAL', 'BALAMT')?.text ?? '';
    assert.equal(unitsOf(closing, 2), one.period.closing / 10_000n);
    return rows.map((row) => {
      const cents = unitsOf(find(row, 'TRNAMT')?.text ?? '', 2);
      assert.equal(find(row, 'TRNTYPE')?.text, cents < 0n ? 'DEBIT' : 'CREDIT');
      return { cents, words: find(row, 'MEMO')?.text ?? '' };
    });
  }
  const [header = [], ...rows] = parseCsv(text);
  assert.deepEqual(header, [...(format === 'xero' ? XERO_COLUMNS : QUICKBOOKS_COLUMNS)]);
  const [slot, words] = [
    header.findIndex((name) => /Amount/.test(name)),
    header.indexOf('Description'),
  ];
  return rows.map((row) => ({ cents: unitsOf(row[slot] ?? '', 2), words: row[words] ?? '' }));
}

for (const format of ['xero', 'quickbooks', 'ofx'] as const) {
  check(`${format}: cents of USD that add up to the balances, no row of 0.00`, async (one) => {
    const rows = await readBank(one, format);
    const rounding = rows.filter(({ words }) => words === 'ROUNDING');
    assert.ok(rounding.length <= 1 && (rounding.length === 0 || rows.at(-1) === rounding[0]));
    const shown = one.entries.filter(({ amount }) => amount / 10_000n !== 0n);
    assert.equal(rows.length, shown.length + rounding.length);
    assert.ok(rows.every(({ cents, words }) => cents !== 0n && /^[A-Z]/.test(words)));
    const total = rows.reduce((all, { cents }) => all + cents, 0n);
    const { opening, closing } = one.period;
    assert.equal(total, closing / 10_000n - opening / 10_000n);
  });
}

test('the guide explains every column that a file fills', async () => {
  const guide = await readFile(
    path.join(import.meta.dirname, '../../docs/guides/books.md'),
    'utf8',
  );
  const sections = new Map(
    guide.split('\n## ').map((part) => [part.split('\n')[0] ?? '', part] as const),
  );
  const isNamed = (format: string, column: string) =>
    assert.ok(sections.get(format)?.includes(`\`${column}\``), `${format}: ${column}`);
  const [one] = fc.sample(
    aCase.filter(({ entries }) => entries.length > 8),
    1,
  );
  assert.ok(one !== undefined);
  for (const column of CSV_COLUMNS) isNamed('csv', column);
  for (const column of XERO_COLUMNS) isNamed('xero', column);
  for (const column of QUICKBOOKS_COLUMNS) isNamed('quickbooks', column);
  for (const line of (await textOf(one, 'jsonl')).trimEnd().split('\n')) {
    for (const field of Object.keys(JSON.parse(line))) isNamed('jsonl', field);
  }
  const rows = parseCsv(
    (await textOf(one, 'datev', RATES)).split('\r\n').slice(2).join('\r\n'),
    ';',
  );
  for (const [slot, column] of DATEV_COLUMNS.entries()) {
    if (rows.some((row) => row[slot] !== '')) isNamed('datev', column);
  }
  const leaves = (node: Node): string[] =>
    node.children.length === 0 ? [node.name] : node.children.flatMap(leaves);
  const explained = /^(Cd|Id|Ccy|Dt|DtTm|Issr)$/;
  for (const name of new Set(leaves(parseXml(await textOf(one, 'camt.053.001.08'))))) {
    if (!explained.test(name)) isNamed('camt.053.001.08', name);
  }
  for (const name of new Set(leaves(parseXml(await textOf(one, 'ofx'))))) isNamed('ofx', name);
});
