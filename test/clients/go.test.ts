import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const FOLDER = path.join(import.meta.dirname, '../../go');
const isHere = spawnSync('go', ['version']).error === undefined;
const env = { ...process.env, GOPROXY: 'off', GOTOOLCHAIN: 'local' };

test('the Go client proves webhooks, iterates over lists and keeps its key', async (t) => {
  if (!isHere) return t.skip('go: not on this machine');
  const { stdout } = await run('go', ['test', '-timeout', '60s', './...'], { cwd: FOLDER, env });
  assert.match(stdout, /^ok\s+tapline/m);
});

test('the Go client is formatted by gofmt, and vet finds nothing', async (t) => {
  if (!isHere) return t.skip('go: not on this machine');
  const { stdout } = await run('gofmt', ['-l', '.'], { cwd: FOLDER, env });
  assert.equal(stdout, '');
  await run('go', ['vet', './...'], { cwd: FOLDER, env });
});
