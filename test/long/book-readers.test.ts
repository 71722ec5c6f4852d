import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { StatementFormat } from '#books/statement-formats.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { entryOf, periodOf, textOf } from '#testkit/fixtures/payments/books.ts';

/**
 * Reads statements with programs that are not ours, as `/docs/books` describes: AqBanking (camt.053
 * and OFX), which GnuCash and KMyMoney use; libofx, which GnuCash, HomeBank and KMyMoney use; and
 * node-ofx-parser. Debian has the first two as `aqbanking-tools` and `ofx`.
 */

const run = promisify(execFile);
const folder = testFolder();
const at = (time: string) => new Date(`2026-11-${time}:00.000Z`);

const ENTRIES = [
  entryOf({
    ...{ created: at('05T11:00'), object_id: 'pay_1', amount: 21_447_953n, position: 1n },
    ...{ currency: 'eur', minor: 1_976n, receipt_number: 'K7-1', description: 'Lunch; "hot" = 1' },
  }),
  entryOf({
    ...{ created: at('06T23:30'), object_id: 're_1', type: 'refund', amount: -1_085_422n },
    position: 2n,
  }),
  entryOf({ created: at('07T12:00'), object_id: 'pay_2', amount: 7_000n, position: 3n }),
  entryOf({
    ...{ created: at('30T11:00'), object_id: 'wdr_1', type: 'payout', amount: -5_000_000n },
    position: 4n,
  }),
];
const MADE = periodOf(ENTRIES, { from: '2026-11-01', to: '2026-11-30', opening: 1_234_567n });
/** Cents: 21.44 − 1.08 − 5.00, and ROUNDING: 16.60 − 1.23 − 15.36. */
const BANK = [
  ['20261105', 2_144],
  ['20261106', -108],
  ['20261130', -500],
  ['20261130', 1],
] as const;
const CLOSING = 1_660;

async function fileOf(format: StatementFormat): Promise<string> {
  const file = path.join(folder, `${format}.txt`);
  await writeFile(file, await textOf(MADE, format));
  return file;
}

async function isInstalled(program: string): Promise<boolean> {
  return run('sh', ['-c', `command -v ${program}`]).then(
    () => true,
    () => false,
  );
}

/** Reads a file with AqBanking. Its values are URL-encoded fractions: `2144%2F100%3AUSD`. */
async function throughAqbanking(importer: readonly string[], format: StatementFormat) {
  const context = path.join(folder, `context-${format}`);
  await run('aqbanking-cli', [
    ...['-D', path.join(folder, 'aqbanking'), '-n', 'import', ...importer],
    ...['-f', await fileOf(format), '-c', context],
  ]);
  const { stdout: text } = await run('cat', [context]);
  const values = (name: string) =>
    [...text.matchAll(new RegExp(`char ${name}="([^"]*)"`, 'g'))].map(([, value = '']) =>
      decodeURIComponent(value),
    );
  return { values, cents: values('value').map((value) => Number(value.split('/')[0])) };
}

test('AqBanking reads the day, the amount and the words of each camt entry', async (t) => {
  if (!(await isInstalled('aqbanking-cli'))) return t.skip('aqbanking-tools is not installed');
  const importer = ['--importer=xml', '--profile=camt_053_001_04'];
  const { values, cents } = await throughAqbanking(importer, 'camt.053.001.08');
  const days = values('valutaDate');
  const shown = ['20261105', '20261106', '20261107', '20261130', '20261130'];
  assert.deepEqual(days, shown, 'also an entry of less than a cent');
  assert.deepEqual(cents, [123, CLOSING, 2_144, -108, 0, -500, 1]);
  const purposes = values('purpose');
  assert.match(purposes[0] ?? '', /^Sale K7-1: Lunch/);
  assert.ok(purposes.every((purpose) => /^[A-Z]/.test(purpose)));
});

test('AqBanking reads the day, the amount and the words of each OFX transaction', async (t) => {
  if (!(await isInstalled('aqbanking-cli'))) return t.skip('aqbanking-tools is not installed');
  const { values, cents } = await throughAqbanking(['--importer=ofx'], 'ofx');
  assert.deepEqual(
    values('valutaDate'),
    BANK.map(([day]) => day),
  );
  assert.deepEqual(cents, [CLOSING, ...BANK.map(([, sum]) => sum)]);
  assert.match(values('purpose')[0] ?? '', /^Sale K7-1: Lunch.*EUR 19\.76/);
});

test('libofx, in GnuCash and HomeBank, reads transactions and the closing balance', async (t) => {
  if (!(await isInstalled('ofxdump'))) return t.skip('the Debian package ofx is not installed');
  const { stdout } = await run('ofxdump', [await fileOf('ofx')], {
    env: { ...process.env, TZ: 'America/Los_Angeles' },
  });
  const amounts = [...stdout.matchAll(/Total money amount: (-?[\d.]+)/g)].map(([, sum]) => sum);
  assert.deepEqual(amounts, ['21.44', '-1.08', '-5.00', '0.01']);
  assert.match(stdout, /Sale K7-1: Lunch; "hot" = 1/);
  assert.match(stdout, /Ledger balance: 16\.60/);
  assert.match(stdout, /Default Currency: USD/);
  const days = [...stdout.matchAll(/Date posted: \w+ (\w+ +\d+)/g)].map(([, day]) => day);
  assert.deepEqual(days, ['Nov  5', 'Nov  6', 'Nov 30', 'Nov 30']);
});

test('node-ofx-parser reads the transactions', async (t) => {
  const install = [
    'install',
    '--prefix',
    folder,
    '--no-audit',
    '--no-fund',
    'node-ofx-parser@0.5.1',
  ];
  const installed = await run('npm', install).then(
    () => true,
    () => false,
  );
  if (!installed) return t.skip('the npm registry cannot be reached');
  const { parse } = createRequire(path.join(folder, 'index.js'))('node-ofx-parser');
  const { OFX } = parse(await textOf(MADE, 'ofx'));
  const { STMTRS } = OFX.BANKMSGSRSV1.STMTTRNRS;
  const list: { DTPOSTED: string; TRNAMT: string }[] = STMTRS.BANKTRANLIST.STMTTRN;
  const read = list.map(({ DTPOSTED, TRNAMT }) => [DTPOSTED, Math.round(Number(TRNAMT) * 100)]);
  assert.deepEqual(read, BANK);
  assert.equal(Math.round(Number(STMTRS.LEDGERBAL.BALAMT) * 100), CLOSING);
});
