import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';

/**
 * Property tests with a large budget. `npm test` runs the same files with a small one;
 * README.md lists both.
 */
const ROOT = path.join(import.meta.dirname, '../..');
const BUDGETS: readonly (readonly [file: string, settings: Readonly<Record<string, string>>])[] = [
  ['test/api/fuzz.test.ts', { FUZZ_REQUESTS: '50000' }],
  ['test/api/fuzz-surfaces.slow.test.ts', { FUZZ_REQUESTS: '20000' }],
  ['test/api/pagination.test.ts', { PAGINATION_ROWS: '1000000' }],
  ['reader/test/read-tap.test.ts', { READER_CONVERSATIONS: '10000' }],
  ['test/journeys/young-database.test.ts', { YOUNG_ROWS: '100000' }],
  ['src/payments/offline/repeat.test.ts', { MUTATED_RECORDS: '9999' }],
  ['src/payments/races.test.ts', { RACES: '10000' }],
  ['src/prices/sale-lines.test.ts', { TAXED_CARTS: '100000' }],
  ['src/prices/refund-taxes.test.ts', { REFUNDED_SALES: '5000' }],
  ['src/webhooks/fairness.test.ts', { WEBHOOK_BACKLOG: '100000' }],
  ['src/books/statement-formats.test.ts', { BOOKS_DAYS: '10000' }],
  ['src/books/statement.test.ts', { BOOKS_SHOPS: '200' }],
  ['test/faults/model.test.ts', { FAULTS_RUNS: '100' }],
  ['src/settlement/relayer/state-machine/explore.test.ts', { EXPLORE_DEEPER: '2' }],
  ['test/faults/failpoints.slow.test.ts', { FAULTS: 'nightly' }],
  ['contracts/contracts.test.ts', { FOUNDRY_PROFILE: 'long' }],
];

for (const [file, settings] of BUDGETS) {
  test(`${file} with ${JSON.stringify(settings)}`, async () => {
    // Removes NODE_TEST_CONTEXT. With it, the child runner would behave like a file of this run and
    // hide its failures.
    const { NODE_TEST_CONTEXT: _own, ...environment } = process.env;
    const child = spawn(process.execPath, ['--test', file], {
      cwd: ROOT,
      stdio: 'inherit',
      env: { ...environment, ...settings },
    });
    const code = await new Promise((resolve) => child.once('exit', resolve));
    assert.equal(code, 0);
  });
}
