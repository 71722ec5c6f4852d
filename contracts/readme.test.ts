import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { contractsFolder } from './forge.ts';
import { GAS_CEILINGS, readGasTable } from './measure-gas.ts';

/** Checks that the numbers and names in contracts/README.md match the contracts. */

const readme = readFileSync(join(contractsFolder, 'README.md'), 'utf8');

/** The name in gas.json for each row of README.md. */
const ROWS: Readonly<Record<string, string>> = {
  'batch of 100, one merchant': 'batchOf100',
  'batch of 100, ten merchants': 'batchOf100With10Merchants',
  'batch of 100, as real sales draw numbers': 'batchOf100AsSold',
  'batch of 10': 'batchOf10',
  single: 'single',
  'refund, first of its payment, fresh, out of a batch of 100': 'firstRefundOfBatchOf100',
  'refund, later ones, fresh': 'secondRefundOfBatchOf100',
  'refund, first of its payment, after 2^20 batches': 'firstRefundAfterAMillionBatches',
  'refund, later ones, after 2^20 batches': 'secondRefundAfterAMillionBatches',
  'withdrawal, later ones': 'laterWithdrawal',
};

test('the gas table equals gas.json, and its ceilings equal the tested ones', () => {
  const table = readGasTable();
  const number = (value: number | undefined) => value?.toLocaleString('en-US') ?? '';
  for (const [row, operation] of Object.entries(ROWS)) {
    const line = readme.split('\n').find((one) => one.startsWith(`| ${row} `)) ?? '';
    const cells = line.split('|').map((cell) => cell.trim());
    const { plainToken, testUsdc, realUsdc } = table;
    const measured = [plainToken, testUsdc, realUsdc].map((one) => number(one[operation]));
    const most = number(GAS_CEILINGS.realUsdc[operation]);
    assert.deepEqual(cells.slice(2, 6), [...measured, most], row);
  }
});

test('the list of errors has every error of the contracts, with its fields', () => {
  const files = readdirSync(contractsFolder).filter(
    (name) => name.endsWith('.sol') && name !== 'TestUSDC.sol',
  );
  const errors = files.flatMap((name) => {
    const source = readFileSync(join(contractsFolder, name), 'utf8');
    return [...source.matchAll(/^ +error (\w+)\(([^)]*)\);/gm)].map(
      ([, error, parameters = '']) => {
        const names = parameters.split(',').map((one) => one.trim().split(' ').at(-1) ?? '');
        return `${error}(${names.join(', ')})`;
      },
    );
  });
  assert.ok(errors.length > 40, `${errors.length} errors found`);
  const missing = errors.filter((one) => !readme.includes(`\`${one}\``));
  assert.deepEqual(missing, []);
});
