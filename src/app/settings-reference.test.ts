import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { envExample, settingsPage } from '#app/settings-reference.ts';
import { CHAIN_SECTIONS } from '#settings/chain-setting-table.ts';
import { GENERAL_SECTIONS, type SettingRow } from '#settings/setting-table.ts';

const ROWS: readonly SettingRow[] = [...GENERAL_SECTIONS, ...CHAIN_SECTIONS].flatMap(
  ({ rows }): readonly SettingRow[] => rows,
);

test('docs/settings.md and .env.example match the code', async () => {
  const stale = 'stale: run npm run settings-reference';
  assert.equal(await readFile('docs/settings.md', 'utf8'), settingsPage(), stale);
  assert.equal(await readFile('.env.example', 'utf8'), envExample(), stale);
});

test('every setting is described in whole sentences', () => {
  for (const { name, what } of ROWS) assert.match(what, /^[A-Z].*\.$/, name);
});
