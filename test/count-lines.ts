// Counts the lines of code at a commit: `node test/count-lines.ts [commit]` (default: HEAD).

import { execFileSync } from 'node:child_process';
import { ROOT } from './sources.ts';

/** Extensions that count. Documents, data, migrations, translations and settings do not. */
const CODE = /\.(ts|tsx|js|mjs|css|html|sol)$/;
/** Generated from the API's description. */
const GENERATED = 'sdk/src/types.ts';
/** What ships. In `contracts`, only Solidity ships; the programs there are tools. */
const PRODUCT = /^((src|web|sdk|cli|reader|x402)\/|contracts\/[^/]+\.sol$)/;
const TESTS = /^(testkit|bench|contracts)\/|(^|\/)test(ing)?\/|\.test\.|(^|[/-])shots\.ts$/;

const commit = process.argv[2] ?? 'HEAD';
const listed = execFileSync('git', ['grep', '-Ic', '', commit], { cwd: ROOT, encoding: 'utf8' });
const lines = { product: 0, tests: 0 };
for (const line of listed.trim().split('\n')) {
  const [, file = '', count] = line.split(':');
  if (!CODE.test(file) || file === GENERATED) continue;
  const isProduct = PRODUCT.test(file) && (file.endsWith('.sol') || !TESTS.test(file));
  if (isProduct) lines.product += Number(count);
  else if (TESTS.test(file)) lines.tests += Number(count);
}
process.stdout.write(`${commit}: ${lines.product} of product, ${lines.tests} of tests and tools\n`);
