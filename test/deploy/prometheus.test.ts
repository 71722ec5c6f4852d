import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { before, test } from 'node:test';
import { promisify } from 'node:util';

/** Alert rules, their tests, their runbook and the dashboard must match. */

const ROOT = path.join(import.meta.dirname, '../..');
const FOLDER = path.join(ROOT, 'deploy/prometheus');
const TESTS = [
  'tapline-rules-test.yml',
  'tapline-rules-soon-test.yml',
  'tapline-rules-week-test.yml',
];
const run = promisify(execFile);

let rules = '';
let alerts: readonly string[] = [];

const matches = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, result]) => result ?? '');

before(async () => {
  rules = await readFile(path.join(FOLDER, 'tapline-rules.yml'), 'utf8');
  alerts = matches(rules, /^ +- alert: (\w+)$/gm);
  assert.ok(alerts.length >= 20, `only ${alerts.length} alerts were found`);
});

/**
 * Returns the names of the program's metrics, without the suffixes that Prometheus adds to
 * histograms.
 */
async function namesInSource(): Promise<ReadonlySet<string>> {
  // Written by deploy/backup/backup-age.sh.
  const names = new Set(['backup_completed_timestamp_seconds']);
  for await (const file of glob('{src,cli/src}/**/*.ts', { cwd: ROOT })) {
    if (file.endsWith('.test.ts')) continue;
    const text = await readFile(path.join(ROOT, file), 'utf8');
    for (const name of matches(text, /name: 'tapline_(\w+)'/g)) names.add(name);
    for (const name of matches(text, /sample\(\s*'(\w+)'/g)) names.add(name);
  }
  return names;
}

function unknownNames(text: string, known: ReadonlySet<string>): string[] {
  return matches(text, /tapline_(\w+)/g).filter(
    (name) => !known.has(name) && !known.has(name.replace(/_(bucket|count|sum)$/, '')),
  );
}

test('every alert has a paragraph in the runbook, and the runbook has no other', async () => {
  const runbook = await readFile(path.join(ROOT, 'docs/alerts.md'), 'utf8');
  assert.deepEqual(matches(runbook, /^### (\w+)$/gm), alerts);
  const anchors = matches(
    rules,
    /runbook_url: "\{\{ \$externalLabels\.runbooks \}\}\/alerts\.md#(\w+)"$/gm,
  );
  assert.deepEqual(
    anchors,
    alerts.map((name) => name.toLowerCase()),
  );
});

test('every alert has a test in which it fires and one in which it does not', async () => {
  const files = TESTS.map((name) => readFile(path.join(FOLDER, name), 'utf8'));
  const tests = (await Promise.all(files)).join('\n');
  for (const name of alerts) {
    assert.match(
      tests,
      new RegExp(`alertname: ${name}\\n +eval_time: .*\\n +exp_alerts:\\n`),
      name,
    );
    assert.match(tests, new RegExp(`alertname: ${name}, .*exp_alerts: \\[\\]`), name);
  }
});

test('rules and dashboard use only metrics that the program exports', async () => {
  const known = await namesInSource();
  assert.ok(known.size > 30, `only ${known.size} names were found`);
  const board = await readFile(path.join(ROOT, 'deploy/grafana/tapline.json'), 'utf8');
  const { panels } = JSON.parse(board) as { panels: unknown[] };
  assert.ok(panels.length > 20);
  // Names of variables and tags are not metrics, so this reads only the expressions.
  const expressions = matches(board, /"expr": "(.*)"/g).join('\n');
  const inRules = matches(rules.replaceAll(/name: tapline-\w+/g, ''), /(.*tapline_.*)/g).join('\n');
  assert.deepEqual(unknownNames(inRules, known), []);
  assert.deepEqual(unknownNames(expressions, known), []);
});

test('a page calls, a ticket sends email, and consequences of a cause are muted', async (t) => {
  const file = path.join(FOLDER, 'alertmanager.yml');
  const tool = (...args: string[]) => run('amtool', args);
  const read = await tool('check-config', file).catch((error) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (read === null) return t.skip('no amtool (Debian: apt install prometheus-alertmanager)');
  for (const [severity, receiver] of [
    ['page', 'pager'],
    ['ticket', 'tickets'],
  ] as const) {
    const args = ['config', 'routes', 'test', `--config.file=${file}`, `severity=${severity}`];
    assert.equal((await tool(...args)).stdout.trim(), receiver);
  }
  const config = await readFile(file, 'utf8');
  const inhibited = matches(config, /alertname=~?"([\w|]+)"/g).flatMap((names) => names.split('|'));
  assert.deepEqual(
    inhibited.filter((name) => !alerts.includes(name)),
    [],
  );
});
