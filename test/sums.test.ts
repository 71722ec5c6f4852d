import assert from 'node:assert/strict';
import { test } from 'node:test';
import { all, FEWEST_FILES } from './sources.ts';

/**
 * Sums of money are written by `src/core/sums.ts` alone, so that a sale has the same sum wherever
 * it is read. Files that format other numbers, or sums in another way, and the reason why.
 */
const OTHERS: Readonly<Record<string, string>> = {
  'src/core/rate-text.ts': 'exchange rates',
  'src/core/sums.ts': 'the module itself',
  'src/i18n/text-format.ts': 'numbers in texts, such as counts',
  'src/i18n/text.ts': 'percentages',
  'src/ops/check-settings.ts': 'seconds',
  'web/ui/numbers.ts': 'counts',
  'web/ui/percent.ts': 'percentages in fields',
  'web/ui/typed-sum.ts': 'sums in fields, with all decimals',
  'web/wallet/wallet-chain-node.ts': 'the coin of the chain',
  'web/operator/pages/relayers.tsx': 'the coin of the chain, and counts',
  'web/operator/parts/fee-percent.ts': 'percentages',
  'web/operator/parts/network-table.tsx': 'counts',
  'web/operator/parts/policy-form.tsx': 'percentages',
  'web/operator/parts/recovery-progress.ts': 'counts',
  'web/operator/parts/recovery.tsx': 'counts',
  'web/operator/parts/verify-log.tsx': 'counts',
  'web/dashboard/statistics/chart-scale.ts': 'percentages',
  'web/dashboard/terminals/tag-files.ts': 'coordinates',
};

const FORMATS = /Intl\.NumberFormat\(|\.toFixed\(|\.toLocaleString\(|style: 'currency'/;

test('no other module formats sums of money', () => {
  const shown = all.filter(
    ({ name }) => /^(src|web)\//.test(name) && !/\.test\.tsx?$|^web\/testing\//.test(name),
  );
  assert.ok(shown.length >= FEWEST_FILES, `only ${shown.length} files were seen`);
  const results = shown.filter(({ text }) => FORMATS.test(text)).map(({ name }) => name);
  assert.deepEqual(results.sort(), Object.keys(OTHERS).sort());
});
