import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

/** Evaluates the alerts of deploy/prometheus with Prometheus itself. */

const FOLDER = path.join(import.meta.dirname, '../../deploy/prometheus');
const TESTS = [
  'tapline-rules-test.yml',
  'tapline-rules-soon-test.yml',
  'tapline-rules-week-test.yml',
];
const run = promisify(execFile);

test('each alert fires as intended', async (t) => {
  const has = await run('promtool', ['--version']).then(
    () => true,
    () => false,
  );
  if (!has) return t.skip('promtool is not installed (Debian: apt install prometheus)');
  const { stdout } = await run('promtool', ['test', 'rules', ...TESTS], {
    cwd: FOLDER,
  });
  assert.match(stdout, /SUCCESS/);
  await run('promtool', ['check', 'config', 'prometheus.yml'], { cwd: FOLDER });
});
