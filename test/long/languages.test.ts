import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { LANGUAGES } from '#i18n/languages.ts';
import { LANGUAGE_SETTING } from '../../web/testing/tested-language.ts';

/**
 * Runs the language tests in every language; `npm test` runs them in the pseudo-language. On a
 * phone of 320 px, at normal and at double text size, nothing may overflow, no English text may
 * remain, and axe must report no violations.
 */
const ROOT = path.join(import.meta.dirname, '../..');
const FILES = [
  'web/front/front.browser.test.ts',
  'web/pay/languages.browser.slow.test.ts',
  'web/terminal/languages.browser.slow.test.ts',
  'web/terminal/offline-languages.browser.slow.test.ts',
  'web/wallet/languages.browser.slow.test.ts',
  'web/dashboard/languages.browser.slow.test.ts',
  'web/dashboard/pages/languages.browser.slow.test.ts',
];

for (const language of LANGUAGES.slice(1)) {
  test(`every screen in ${language}`, async () => {
    // Removes NODE_TEST_CONTEXT. With it, the child runner would behave like a file of this run and
    // hide its failures.
    const { NODE_TEST_CONTEXT: _own, ...env } = process.env;
    const child = spawn(process.execPath, ['test/run.ts', ...FILES], {
      cwd: ROOT,
      env: { ...env, [LANGUAGE_SETTING]: language },
      stdio: 'inherit',
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    assert.equal(code, 0);
  });
}
