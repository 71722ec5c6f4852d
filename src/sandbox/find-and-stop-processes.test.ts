import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import {
  findByArgument,
  freePort,
  isListed,
  isRunning,
  KILL_STEP,
  lastLine,
  openChildLog,
  stopProcess,
  waitUntil,
  within,
} from './find-and-stop-processes.ts';

const root = testFolder();

test('a log that grew too large is moved aside, and its writer continues in the same file', () => {
  const file = join(root, 'child.log');
  const writer = fs.openSync(file, 'a');
  fs.writeSync(writer, Buffer.alloc(9 * 1024 * 1024, 'x'));
  const log = openChildLog(file);
  fs.writeSync(writer, 'one\ntwo\n');
  assert.equal(fs.readFileSync(file, 'utf8'), 'one\ntwo\n');
  assert.equal(fs.statSync(`${file}.1`).size, 9 * 1024 * 1024);
  assert.equal(lastLine(file), 'two');
  log.close();
  fs.closeSync(writer);
});

test('a zombie counts as ended though its id is still taken', { skip: !linux() }, async () => {
  // The shell starts a child that ends soon, then becomes a program that never reaps it.
  const parent = spawn('/bin/sh', ['-c', 'sleep 0.1 & echo $!; exec sleep 30']);
  const [chunk] = await once(parent.stdout, 'data');
  const pid = Number(String(chunk));
  assert.equal(await waitUntil(() => !isRunning(pid), 3000), true);
  assert.equal(isListed(pid), true, 'the id is still taken');
  parent.kill('SIGKILL');
});

test('a process is found by one of its arguments, and only by all of it', async () => {
  const marker = join(root, 'marker');
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 9999)', marker]);
  await once(child, 'spawn');
  assert.equal(await waitUntil(() => findByArgument(marker).length === 1, 3000), true);
  assert.deepEqual(findByArgument(marker), [child.pid]);
  assert.deepEqual(findByArgument(marker.slice(0, -1)), []);
  child.kill('SIGKILL');
});

test('a process that ignores the first signal is ended by the next one', async () => {
  const program = `process.on('SIGTERM', () => {}); setInterval(() => {}, 9999); console.log('on')`;
  const child = spawn(process.execPath, ['-e', program]);
  const exit = once(child, 'exit');
  await once(child.stdout, 'data');
  await stopProcess(child.pid ?? 0, [{ signal: 'SIGTERM', waitMs: 100 }, KILL_STEP]);
  assert.deepEqual(await exit, [null, 'SIGKILL']);
});

test('a free port is kept, a taken one is replaced', async () => {
  const port = await freePort();
  assert.ok(port < 32_768, `${port} could be given to a connection`);
  assert.equal(await freePort(port), port);
  const taken = createServer().listen(port, '127.0.0.1');
  await once(taken, 'listening');
  assert.notEqual(await freePort(port), port);
  taken.close();
});

test('a wait ends at its limit', async () => {
  assert.equal(await within(Promise.resolve(7), 1000), 7);
  assert.equal(await within(new Promise(() => undefined), 20), undefined);
  assert.equal(await waitUntil(() => false, 20), false);
});

function linux(): boolean {
  return process.platform === 'linux';
}
