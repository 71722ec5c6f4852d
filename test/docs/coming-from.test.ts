import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { insteadOf, STRIPE_PATHS } from '#http/foreign-paths.ts';

const ROOT = path.join(import.meta.dirname, '../..');

/** Returns every text and name in a document: properties, paths, event types, values. */
function wordsOf(value: unknown, into = new Set<string>()): Set<string> {
  if (typeof value === 'string') into.add(value);
  if (typeof value !== 'object' || value === null) return into;
  for (const [name, inner] of Object.entries(value)) wordsOf(inner, into.add(name));
  return into;
}

test('every API name on the page exists in the merchant API', () => {
  const guide = readFileSync(path.join(ROOT, 'docs/guides/coming-from.md'), 'utf8');
  const words = wordsOf(JSON.parse(readFileSync(path.join(ROOT, 'openapi.json'), 'utf8')));
  const ours = [...guide.matchAll(/^\| (`[^|]*) \|/gm)].map(([, cell = '']) => cell);
  assert.ok(ours.length >= 20);
  for (const cell of ours) {
    for (const [, name = ''] of cell.matchAll(/`([^`]+)`/g)) {
      assert.ok(words.has(name.replace(/^(?:GET|POST) /, '')), `${name} is not in openapi.json`);
    }
  }
  const rows = [...guide.matchAll(/^\|.*\|$/gm)].map(([row]) => row);
  for (const row of rows) assert.ok([4, 6, 7].includes(row.split('|').length), row);
});

test('each path of Stripe Terminal gets its replacement in the response', () => {
  const guide = readFileSync(path.join(ROOT, 'docs/guides/coming-from.md'), 'utf8');
  for (const [template, instead] of STRIPE_PATHS) {
    assert.ok(guide.includes(`\`${template}\``), `${template} is not in the guide`);
    const said = insteadOf(`/api/v1${template.replace('{id}', 'tmr_1')}`);
    assert.equal(said?.replaceAll('/api/v1/', '/v1/'), instead);
    assert.doesNotMatch(said ?? '', /(?<!\/api)\/v1\//, 'the path can be requested');
    const { paths } = JSON.parse(readFileSync(path.join(ROOT, 'openapi.json'), 'utf8'));
    for (const [, ours = ''] of instead.matchAll(/[A-Z]+ (\/v1\/[\w/{}]+)/g)) {
      assert.ok(paths[ours] !== undefined, `${ours} does not exist`);
    }
  }
  assert.match(insteadOf('/api/v1/terminal/readers/') ?? '', /^GET \/api\/v1\/terminals;/);
  for (const other of ['/api/v1/terminal', '/terminal/readers', '/api/v1/nothing']) {
    assert.equal(insteadOf(other), null);
  }
});

test('the added lines of the diff are those of the example', () => {
  const guide = readFileSync(path.join(ROOT, 'docs/guides/coming-from.md'), 'utf8');
  const example = readFileSync(path.join(ROOT, 'examples/server-driven.mjs'), 'utf8').split('\n');
  const [, codeBlock = ''] = /```diff\n(.*?)```/s.exec(guide) ?? [];
  const lines = (prefix: string) =>
    codeBlock.split('\n').flatMap((line) => (line.startsWith(prefix) ? [line.slice(1)] : []));
  for (const line of lines('+')) assert.ok(example.includes(line), line);
  // The port adds fewer lines than it removes, and shows each Tapline call of the example.
  assert.ok(lines('+').length < lines('-').length && lines('-').length <= 22, codeBlock);
  const calls = example.filter((line) => /tapline\.|new Tapline/.test(line));
  assert.deepEqual(lines('+').toSorted(), calls.toSorted());
});
