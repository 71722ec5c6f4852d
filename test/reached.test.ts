import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { selectTests } from './reached.ts';

/** Names of this repository would make this test depend on it. */
const FILES: Readonly<Record<string, string>> = {
  'src/base/coin.ts': '',
  'src/sale/pay.ts': "import { atoms } from '#base/coin.ts';",
  'src/sale/pay.test.ts': "import { pay } from './pay.ts'; const mode = 'test';",
  'src/base/id.test.ts': "import assert from 'node:assert';",
  'src/start/first.ts': "import { pay } from '#sale/pay.ts';",
  'src/start/routes.ts': "import Type from 'typebox';",
  'test/days/start.test.ts': "spawn(path.join(ROOT, 'src/start/first.ts'));",
  'test/days/long.slow.test.ts': "import '#start/first.ts';",
  'src/rows/move.ts': "const FOLDER = path.join(import.meta.dirname, '../../moves');",
  'src/rows/move.test.ts': "import { move } from './move.ts';",
  'src/rows/dots.test.ts': "path.join(import.meta.dirname, '..', 'x'); './';",
  'src/rows/types.test.ts': "import type { Coin } from '#base/coin.ts';",
  'src/rows/list.test.ts':
    "/**\n * `src/base/coin.ts`\n */\nconst TESTS = ['src/sale/pay.test.ts'];",
  'src/rows/prefix.test.ts': "name.startsWith('src/');",
  'test/mutations/kinds.ts': "const LIST = ['src/base/coin.ts'];",
  'test/mutations/kinds.test.ts': "import './kinds.ts';",
  'moves/0001_first.sql': '',
  'web/ui/knob.tsx': '',
  'web/purse/pay.browser.test.ts': "import '#start/first.ts'; import '#start/routes.ts';",
  'web/purse/pins.browser.slow.test.ts': '',
};

test('a change reaches tests that import it, start it or read its folder, and no others', () => {
  const root = mkdtempSync(path.join(tmpdir(), 'tapline-reached-'));
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  const tests = Object.keys(FILES).filter((name) => name.includes('.test.'));
  const select = (...changed: string[]) => selectTests(changed, tests, root);
  assert.deepEqual(select('src/base/coin.ts'), {
    run: ['src/sale/pay.test.ts', 'test/days/start.test.ts'],
    leftOut: ['test/days/long.slow.test.ts', 'web/purse/pay.browser.test.ts'],
  });
  const run = (changed: string) => select(changed).run;
  assert.deepEqual(run('test/mutations/kinds.ts'), ['test/mutations/kinds.test.ts']);
  assert.deepEqual(run('moves/0002_second.sql'), ['src/rows/move.test.ts']);
  assert.deepEqual(run('src/start/routes.ts'), ['web/purse/pay.browser.test.ts']);
  assert.deepEqual(select('web/ui/knob.tsx'), {
    run: ['web/purse/pay.browser.test.ts'],
    leftOut: ['web/purse/pins.browser.slow.test.ts'],
  });
  assert.deepEqual(run('src/base/id.test.ts'), ['src/base/id.test.ts']);
  assert.deepEqual(run('LICENSE'), []);
  rmSync(root, { recursive: true });
});
