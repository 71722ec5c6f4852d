import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry } from '#books/entry-queries.ts';
import { toCents } from '#books/round-entries.ts';
import type { RateTax } from '#prices/sale-lines.ts';
import { createRandom } from '#testkit/fixtures/core/random.ts';
import {
  entryOf,
  type MadePeriod,
  periodOf,
  SKR03,
  textOf,
} from '#testkit/fixtures/payments/books.ts';

/** Reads random days back from every format, and compares their sums with the receipts. */

const DAYS = Number(process.env.BOOKS_RANDOM_DAYS ?? 10_000);
const DAY = { from: '2026-11-10', to: '2026-11-10' };
const NOON = new Date('2026-11-10T12:00:00.000Z');
const ACCOUNTS = { ...SKR03, revenue: { ...SKR03.revenue, '0': '8195' }, tips: '8500' };

const { below } = createRandom(108, 'books');

function taxesOf(): RateTax[] | null {
  if (below(4) === 0) return null;
  const rates = [0, 700, 1_900].filter(() => below(2) === 0);
  return rates.map((rate, index) => {
    // A deposit that is given back is below 0, beside something that costs more.
    const gross = rate === 0 && index < rates.length - 1 ? -below(200) : 300 + below(5_000);
    const tax = Math.round((gross * rate) / (10_000 + rate));
    return { rate, net: gross - tax, tax, gross };
  });
}

function entryAt(n: number): Entry {
  const place = { created: NOON, position: BigInt(n + 1) };
  const rates = { shop_currency: 'eur', shop_rate: '1.08542277217', quote_rate: '1.0854' };
  const kind = below(10);
  if (kind === 0) {
    const amount = -BigInt(1 + below(9_000_000));
    return entryOf({ ...place, ...rates, type: 'payout', object_id: `wdr_${n}`, amount });
  }
  const type = kind < 3 ? 'refund' : 'payment';
  const sign = type === 'refund' ? -1n : 1n;
  const taxes = taxesOf();
  const tip = BigInt(below(3) * 100);
  const lines = taxes?.reduce((sum, { gross }) => sum + BigInt(gross), 0n) ?? 0n;
  const whole = lines > 0n ? lines + tip : BigInt(1 + below(5_000)) + tip;
  const sale = { type, object_id: `${type}_${n}`, taxes: lines > 0n ? taxes : null } as const;
  const facts = { ...place, ...rates, ...sale, tip: lines > 0n ? 0n : tip };
  if (below(2) === 0) return entryOf({ ...facts, amount: sign * whole });
  const amount = sign * BigInt(1 + below(50_000_000));
  return entryOf({ ...facts, currency: 'eur', minor: whole, amount });
}

type Sums = Map<string, bigint>;

function add(sums: Sums, key: string, amount: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount);
}

const plain = (text: string) => BigInt(text.replace(/[.,]/, ''));
const withoutZeros = (sums: Sums) => [...sums].filter(([, sum]) => sum !== 0n).sort();

/** The trial balance of a DATEV file: credits minus debits, by account and currency. */
async function trialBalance(made: MadePeriod): Promise<Sums> {
  const sums: Sums = new Map();
  const text = await textOf(made, 'datev', { accounts: ACCOUNTS, base: 'EUR' });
  for (const line of text.split('\r\n').slice(2, -1)) {
    const [size = '', letter, currency, , , , account, contra] = line.split(';');
    const cents = letter === '"H"' ? plain(size) : -plain(size);
    add(sums, `${account} ${currency}`, cents);
    add(sums, `${contra} ${currency}`, -cents);
  }
  return sums;
}

/** What the receipts in euros say: revenue by rate, and tips. */
function receiptsInEuros(entries: readonly Entry[]): Sums {
  const sums: Sums = new Map();
  for (const { amount, currency, minor, taxes, tip } of entries) {
    if (currency === null) continue;
    const sign = amount < 0n ? -1n : 1n;
    let left = minor ?? 0n;
    for (const { rate, gross } of taxes ?? []) {
      add(sums, `${ACCOUNTS.revenue[rate as 0]} "EUR"`, sign * BigInt(gross));
      left -= BigInt(gross);
    }
    if (taxes === null) add(sums, '8200 "EUR"', sign * (left - tip));
    add(sums, '8500 "EUR"', sign * (taxes === null ? tip : left));
  }
  return sums;
}

/** The sum of cents in a file with two decimals, found by its pattern. */
function centsIn(text: string, pattern: RegExp): bigint {
  return [...text.matchAll(pattern)].reduce((sum, [, sign = '', size = '']) => {
    return sum + (sign === '-' || sign === 'DBIT' ? -plain(size) : plain(size));
  }, 0n);
}

async function checkDay(made: MadePeriod): Promise<void> {
  const { entries, period } = made;
  const trial = await trialBalance(made);
  const euros = receiptsInEuros(entries);
  const revenue = [...trial].filter(([key]) => /^8\d* "EUR"$/.test(key));
  assert.deepEqual(withoutZeros(new Map(revenue)), withoutZeros(euros));
  const inUsd = entries.filter(({ currency }) => currency === null);
  const atoms = inUsd.reduce((sum, { amount }) => sum + amount, period.opening);
  const clearing = -(trial.get('1360 "USD"') ?? 0n);
  assert.equal(clearing, toCents(atoms) - toCents(period.opening));
  const change = toCents(period.closing) - toCents(period.opening);
  assert.equal(centsIn(await textOf(made, 'xero'), /^[\d-]{10},(-?)(\d+\.\d\d),/gm), change);
  assert.equal(centsIn(await textOf(made, 'quickbooks'), /,(-?)(\d+\.\d\d)\r\n/g), change);
  assert.equal(centsIn(await textOf(made, 'ofx'), /<TRNAMT>(-?)([\d.]+)</g), change, 'ofx');
  const camt = (await textOf(made, 'camt.053.001.08')).replaceAll(
    /<Amt Ccy="USD">([\d.]+)<\/Amt><CdtDbtInd>(\w+)</g,
    '<Signed>$2 $1<',
  );
  const rows = camt.slice(camt.indexOf('<Ntry>'));
  const shown = camt.includes('<Ntry>') ? centsIn(rows, /<Signed>(\w+) ([\d.]+)</g) : 0n;
  assert.equal(shown, change, 'camt');
  await checkCsv(made);
}

/** Compares USDC and taxes by rate with the receipts. */
async function checkCsv({ entries, period }: MadePeriod): Promise<void> {
  const [header = '', , ...rows] = (await textOf({ entries, period }, 'csv')).split('\r\n');
  const slot = (name: string) => header.replace('\uFEFF', '').split(',').indexOf(name);
  const [amount, tax, rate, price] = ['amount', 'tax', 'tax_rate', 'presentment.currency'].map(
    slot,
  );
  const [taxes, receipts]: [Sums, Sums] = [new Map(), new Map()];
  let atoms = 0n;
  for (const row of rows.slice(0, -2)) {
    const cells = row.split(',');
    const unit = cells[price ?? 0] === '' ? 6 : 2;
    const read = (text: string, digits: number) => {
      const [whole = '', rest = ''] = text.split('.');
      return BigInt(whole + rest.slice(0, digits).padEnd(digits, '0'));
    };
    atoms += read(cells[amount ?? 0] ?? '', 6);
    if (cells[rate ?? 0] !== '')
      add(taxes, cells[rate ?? 0] ?? '', read(cells[tax ?? 0] ?? '', unit));
  }
  for (const entry of entries) {
    const sign = entry.amount < 0n ? -1n : 1n;
    for (const one of entry.taxes ?? []) {
      add(receipts, (one.rate / 100).toFixed(2), sign * BigInt(one.tax));
    }
  }
  assert.equal(atoms, period.closing - period.opening, 'csv');
  assert.deepEqual(withoutZeros(taxes), withoutZeros(receipts));
}

test(`${DAYS} random days: every format adds up; taxes and accounts are the receipts`, async () => {
  for (let day = 0; day < DAYS; day++) {
    const entries = Array.from({ length: below(6) }, (_, n) => entryAt(n));
    await checkDay(
      periodOf(entries, { ...DAY, opening: BigInt(100_000_000 + below(900_000_000)) }),
    );
  }
});
