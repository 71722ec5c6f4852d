import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { DATEV_COLUMNS } from '#books/datev.ts';
import type { Entry } from '#books/entry-queries.ts';
import type { Period } from '#books/round-entries.ts';
import { FORMATS, type StatementFormat } from '#books/statement-formats.ts';
import { CSV_COLUMNS, QUICKBOOKS_COLUMNS, XERO_COLUMNS } from '#books/table-formats.ts';
import { dayBounds, dayIn } from '#core/calendar.ts';
import { encodeWindows1252 } from '#core/windows-1252.ts';
import { parseCsv } from '#testkit/fixtures/payments/books.ts';

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

interface Case {
  readonly period: Period;
  readonly entries: readonly Entry[];
}

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

const anEntry = fc.record({
  type: fc.constantFrom('payment', 'refund', 'payout', 'correction' as const),
  amount: anAmount,
  second: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  description: fc.option(aText),
  currency: fc.option(fc.constantFrom('eur', 'jpy', 'kwd')),
  minor: fc.bigInt(1n, 1_000_000n),
  isOut: fc.boolean(),
});

const aCase: fc.Arbitrary<Case> = fc
  .record({
    zone: fc.constantFrom(...ZONES),
    day: fc.constantFrom(...CALENDAR),
    opening: fc.bigInt(0n, 10_000_000_000n),
    drafts: fc.array(anEntry, { maxLength: 12 }),
  })
  .map(({ zone, day, opening, drafts }) => {
    const { since, until } = dayBounds(zone, day);
    const span = until.getTime() - since.getTime();
    const entries = drafts.map(({ type, amount, second, isOut, ...draft }, n): Entry => {
      const leaves = type === 'payment' ? false : type === 'correction' ? isOut : true;
      const hasPrice = draft.currency !== null && (type === 'payment' || type === 'refund');
      return {
        type: type as Entry['type'],
        amount: leaves ? -amount : amount,
        created: new Date(since.getTime() + Math.floor(second * span)),
        position: BigInt(n + 1),
        object_id: `${type}_${n}`,
        order_id: type === 'payout' ? null : `O-${n}`,
        description: type === 'payout' ? null : draft.description,
        receipt_number: type === 'payment' ? `K7XQM-${n}` : null,
        terminal: 'tml_1',
        currency: hasPrice ? draft.currency : null,
        minor: hasPrice ? draft.minor : null,
      };
    });
    const closing = entries.reduce((sum, { amount }) => sum + amount, opening);
    const tenant = { accountId: 'acct_1', livemode: false };
    const days = { from: day, to: day };
    return { entries, period: { tenant, timeZone: zone, ...days, since, until, opening, closing } };
  });

function fileOf({ period, entries }: Case, format: StatementFormat): string {
  const writer = FORMATS[format].open(period);
  let balance = period.opening;
  let text = writer.head;
  for (const entry of entries) {
    balance += entry.amount;
    text += writer.entry(entry, balance);
  }
  return text + writer.tail();
}

/** Parses a decimal into units of its last digit; `digits` is the number of decimals. */
function unitsOf(text: string, digits: number): bigint {
  const result = /^(-?)(\d+)(?:[.,](\d+))?$/.exec(text);
  assert.ok(result !== null && (result[3] ?? '').length <= digits, text);
  const size = BigInt((result[2] ?? '') + (result[3] ?? '').padEnd(digits, '0'));
  return result[1] === '-' ? -size : size;
}

const floored = (atoms: bigint, unit: bigint) => (atoms - (((atoms % unit) + unit) % unit)) / unit;

function check(name: string, run: (one: Case) => void): void {
  test(name, () => fc.assert(fc.property(aCase, run), { numRuns: DAYS }));
}

check('csv: every entry with its exact sum, between the two balances', (one) => {
  const text = fileOf(one, 'csv');
  assert.ok(text.startsWith('\uFEFF'));
  const [header, ...rows] = parseCsv(text.slice(1));
  assert.deepEqual(header, [...CSV_COLUMNS]);
  assert.equal(rows.length, one.entries.length + 2);
  assert.ok(rows.every((row) => row.length === CSV_COLUMNS.length));
  const of = (row: string[] | undefined, column: (typeof CSV_COLUMNS)[number]) =>
    row?.[CSV_COLUMNS.indexOf(column)] ?? '';
  let balance = unitsOf(of(rows[0], 'balance'), 6);
  assert.equal(balance, one.period.opening);
  for (const row of rows.slice(1, -1)) {
    balance += unitsOf(of(row, 'amount'), 6);
    assert.equal(unitsOf(of(row, 'balance'), 6), balance);
    assert.match(of(row, 'created'), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/);
  }
  assert.equal(unitsOf(of(rows.at(-1), 'balance'), 6), balance);
  assert.equal(balance, one.period.closing);
  for (const cell of rows.flat()) assert.doesNotMatch(cell, /^([=+@\t]|-(?!\d+(\.\d+)?$))/);
});

interface Node {
  readonly name: string;
  readonly children: Node[];
  text: string;
}

/** Parses the XML that we write: elements, text and the five entities. */
function parseXml(xml: string): Node {
  const root: Node = { name: '', children: [], text: '' };
  const open = [root];
  for (const [, close, name = '', , text = ''] of xml.matchAll(
    /<(?:(\/)?([A-Za-z]+)([^<>]*)|\?[^<>]*\?)>([^<>]*)/g,
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
  const size = unitsOf(find(node, 'Amt')?.text ?? '', 5);
  return find(node, 'CdtDbtInd')?.text === 'DBIT' ? -size : size;
};

check('camt.053.001.08: elements in the order of the schema, and sums that add up', (one) => {
  const xml = fileOf(one, 'camt.053.001.08');
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
    const [, atoms = ''] = /^(\d+) atoms/.exec(find(entry, 'AddtlNtryInf')?.text ?? '') ?? [];
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
  assert.equal(signed(closing), floored(one.period.closing, 10n));
});

check('datev: the columns of its version, one row of rounding at the end', (one) => {
  const bytes = encodeWindows1252(fileOf(one, 'datev'));
  const text = new TextDecoder('windows-1252').decode(bytes);
  const [head, columns = [], ...rows] = text
    .split('\r\n')
    .slice(0, -1)
    .map((line) => line.split(';'));
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
  assert.equal(parsed.length, one.entries.length + rounding.length);
  assert.ok(rows.length >= parsed.length);
  for (const [n, row] of parsed.entries()) {
    const entry = one.entries[n];
    assert.match(row[0] ?? '', /^\d+,\d\d$/);
    assert.ok([...(row[13] ?? '')].length <= 60 && (row[10] ?? '').length <= 36);
    if (entry === undefined) continue;
    assert.equal(row[1], entry.amount < 0n ? 'S' : 'H');
    assert.equal(row[2], entry.currency?.toUpperCase() ?? 'USD');
    assert.equal(
      row[9],
      dayIn(one.period.timeZone, entry.created).replace(/^\d+-(\d\d)-(\d\d)$/, '$2$1'),
    );
  }
});

for (const format of ['xero', 'quickbooks'] as const) {
  check(`${format}: two decimals that add up to the balances, rounding at the end`, (one) => {
    const [header = [], ...rows] = parseCsv(fileOf(one, format));
    const columns = format === 'xero' ? XERO_COLUMNS : QUICKBOOKS_COLUMNS;
    assert.deepEqual(header, [...columns]);
    const slot = header.findIndex((name) => name.endsWith('Amount'));
    const words = header.indexOf('Description');
    const rounding = rows.filter((row) => row[words] === 'ROUNDING');
    assert.ok(rounding.length <= 1 && (rounding.length === 0 || rows.at(-1) === rounding[0]));
    assert.equal(rows.length, one.entries.length + rounding.length);
    if (format === 'quickbooks' && one.entries.some(({ currency }) => currency !== null)) return;
    const total = rows.reduce((all, row) => all + unitsOf(row[slot] ?? '', 2), 0n);
    const { opening, closing } = one.period;
    assert.equal(total, floored(closing, 10_000n) - floored(opening, 10_000n));
  });
}

test('a sale keeps its sum in the shop’s currency; rounding has the third decimal', () => {
  const { since, until } = dayBounds('UTC', '2026-06-01');
  const sale = (n: number, rest: Partial<Entry>): Entry => ({
    ...{ type: 'payment', object_id: `pay_${n}`, created: since, position: BigInt(n) },
    ...{ order_id: null, description: null, receipt_number: null, terminal: null },
    ...{ amount: 1_000_000n, currency: null, minor: null, ...rest },
  });
  const entries = [
    sale(1, { currency: 'eur', minor: 250n }),
    sale(2, { currency: 'jpy', minor: 400n }),
    sale(3, { currency: 'kwd', minor: 1_009n, amount: 3_027_000n }),
    sale(4, { amount: 1_009_999n }),
  ];
  const period = {
    tenant: { accountId: 'acct_1', livemode: false },
    ...{ timeZone: 'UTC', from: '2026-06-01', to: '2026-06-01', since, until },
    ...{ opening: 0n, closing: 6_036_999n },
  };
  const rows = parseCsv(fileOf({ period, entries }, 'quickbooks')).slice(1);
  assert.deepEqual(
    rows.map((row) => row[2]),
    ['2.50', '400.00', '1.00', '1.00', '0.03'],
  );
  assert.match(rows[2]?.[1] ?? '', /KWD/);
  assert.equal(rows.at(-1)?.[1], 'ROUNDING');
});

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
  for (const line of fileOf(one, 'jsonl').trimEnd().split('\n')) {
    for (const field of Object.keys(JSON.parse(line))) isNamed('jsonl', field);
  }
  const rows = parseCsv(fileOf(one, 'datev').split('\r\n').slice(2).join('\r\n'), ';');
  for (const [slot, column] of DATEV_COLUMNS.entries()) {
    if (rows.some((row) => row[slot] !== '')) isNamed('datev', column);
  }
  const leaves = (node: Node): string[] =>
    node.children.length === 0 ? [node.name] : node.children.flatMap(leaves);
  const explained = /^(Cd|Id|Ccy|Dt|DtTm|Issr)$/;
  for (const name of new Set(leaves(parseXml(fileOf(one, 'camt.053.001.08'))))) {
    if (!explained.test(name)) isNamed('camt.053.001.08', name);
  }
});
