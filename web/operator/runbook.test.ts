import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { slug } from '#docs/markdown.ts';

const ROOT = path.join(import.meta.dirname, '../..');

/** Patterns for the ways in which the code raises an alarm. Each captures the alarm's kind. */
const ALARMS = [
  // The lookahead excludes the table's definition, whose columns have the same names.
  /\bkind: '([a-z_]+)',\s+subject\b(?!: 'text')/g,
  /\balertOnce\(relayer, '([a-z_]+)'/g,
  /\balarm\(tx, deps, \{ kind: '([a-z_]+)'/g,
  /\balarmOf\(row, '([a-z_]+)'\)/g,
  /\braise\('([a-z_]+)'/g,
  // The budgets of strangers' gas have an alarm for each kind of call.
  /^ {2}\w+: '([a-z_]+_limit)',$/gm,
];

async function alarmKinds(): Promise<Set<string>> {
  const kinds = new Set<string>();
  for await (const name of glob('src/**/*.ts', { cwd: ROOT })) {
    if (name.endsWith('.test.ts')) continue;
    const text = readFileSync(path.join(ROOT, name), 'utf8');
    if (!/\balarm/i.test(text)) continue;
    for (const pattern of ALARMS) {
      for (const [, kind = ''] of text.matchAll(pattern)) kinds.add(kind);
    }
  }
  return kinds;
}

test('each alarm has the paragraph that the Alarms page links to', async () => {
  const guide = readFileSync(path.join(ROOT, 'docs/operate.md'), 'utf8');
  const [, section = ''] = guide.split('\n## Alarms\n');
  const [alarms = ''] = section.split('\n## ');
  const told = [...alarms.matchAll(/^### (.+)$/gm)].map(([, heading = '']) => heading);
  const raised = await alarmKinds();
  assert.deepEqual(told, [...raised].sort());
  // The page derives the link from the alarm's kind, so the headings must match it.
  assert.deepEqual(told.map(slug), told);
});
