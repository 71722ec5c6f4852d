import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { testsReachedBy } from './reached.ts';

const FILES: Readonly<Record<string, string>> = {
  'src/core/money.ts': '',
  'src/payments/pay.ts': "import { atoms } from '#core/money.ts';",
  'src/payments/pay.test.ts': "import { pay } from './pay.ts'; const mode = 'test';",
  'src/core/ids.test.ts': "import assert from 'node:assert';",
  'src/app/main.ts': "import { pay } from '#payments/pay.ts';",
  'test/journeys/start.test.ts': "spawn(path.join(ROOT, 'src/app/main.ts'));",
  'src/db/migrate.ts': "const FOLDER = path.join(import.meta.dirname, '../../migrations');",
  'src/db/migrate.test.ts': "import { migrate } from './migrate.ts';",
  'migrations/0001_first.sql': '',
  'web/ui/button.tsx': '',
  'web/wallet/pay.browser.test.ts': '',
  'web/wallet/pins.browser.slow.test.ts': '',
};

test('a change reaches tests that import it, start it or read its folder, and no others', () => {
  const root = mkdtempSync(path.join(tmpdir(), 'tapline-reached-'));
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  const tests = Object.keys(FILES).filter((name) => name.includes('.test.'));
  const reached = (...changed: string[]) => testsReachedBy(changed, tests, root);
  const money = ['src/payments/pay.test.ts', 'test/journeys/start.test.ts'];
  assert.deepEqual(reached('src/core/money.ts'), money);
  assert.deepEqual(reached('migrations/0002_second.sql'), ['src/db/migrate.test.ts']);
  assert.deepEqual(reached('web/ui/button.tsx'), [
    'web/wallet/pay.browser.test.ts',
    'web/wallet/pins.browser.slow.test.ts',
  ]);
  assert.deepEqual(reached('src/core/ids.test.ts'), ['src/core/ids.test.ts']);
  assert.deepEqual(reached('LICENSE'), []);
  rmSync(root, { recursive: true });
});
