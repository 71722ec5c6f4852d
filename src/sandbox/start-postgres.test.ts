import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import pg from 'pg';
import { StartError } from '#core/start-error.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { startThrowawayPostgres } from '#testkit/fixtures/db/throwaway-postgres.ts';
import { startInstance } from '#testkit/network/sandbox-instance.ts';
import { openDataFolder } from './data-folder.ts';
import { findByArgument, isRunning, waitUntil } from './find-and-stop-processes.ts';
import { startPostgres } from './start-postgres.ts';

const IS_ROOT = process.getuid?.() === 0;
const NOBODY = 65_534;

const root = testFolder();
let places = 0;
const emptyPlace = () => join(root, String(places++));

async function ask(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function serverPid(folder: string): Promise<number> {
  const text = await fs.readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}

async function startHere(path: string) {
  const lines: string[] = [];
  const folder = await openDataFolder(path);
  const server = await startPostgres({ folder, log: (line) => lines.push(line) });
  const stop = async () => {
    await server.stop();
    await folder.close();
  };
  return { url: server.url, lost: server.lost, lines, stop };
}

let stopped: Promise<string> | null = null;

async function makeStopped(): Promise<string> {
  const path = emptyPlace();
  await (await startHere(path)).stop();
  return path;
}

/**
 * Returns a folder with the cluster of a stopped server. initdb creates only the first cluster; the
 * others are copies.
 */
async function usedPlace(): Promise<string> {
  stopped ??= makeStopped();
  const path = emptyPlace();
  // Unlike `fs.cp`, `cp -a` keeps the files' owner, which is another account if we are root.
  await promisify(execFile)('cp', ['-a', await stopped, path]);
  return path;
}

test('the data and the address survive a stop, and durability is never turned off', async () => {
  const path = emptyPlace();
  const first = await startHere(path);
  await ask(first.url, 'create table kept as select 42 as n');
  await first.stop();
  const second = await startHere(path);
  assert.equal(second.url, first.url);
  assert.deepEqual(await ask(second.url, 'select n from kept'), [{ n: 42 }]);
  const settings = await ask(
    second.url,
    `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
       current_setting('full_page_writes') as pages, current_setting('data_checksums') as sums,
       current_setting('server_encoding') as encoding, 'B' < 'a' as by_code_point,
       upper('é') as upper, rolsuper from pg_roles where rolname = current_user`,
  );
  const on = { fsync: 'on', commit: 'on', pages: 'on', sums: 'on' };
  const text = { encoding: 'UTF8', by_code_point: true, upper: 'É' };
  assert.deepEqual(settings, [{ ...on, ...text, rolsuper: false }]);
  await second.stop();
});

test('the server that a killed instance left is adopted, connections included', async () => {
  const path = await usedPlace();
  const instance = await startInstance(path, ['postgres']);
  const url = instance.report.url ?? '';
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const pid = await serverPid(path);
  await instance.kill('SIGKILL');
  const again = await startHere(path);
  assert.equal(await serverPid(path), pid);
  assert.equal(again.url, url);
  assert.match(again.lines.join(), /adopted/);
  assert.deepEqual((await client.query('select 1 as n')).rows, [{ n: 1 }]);
  await client.end();
  await again.stop();
  assert.equal(isRunning(pid), false);
});

test('after kill -9 of instance and server every committed row is there', async () => {
  const path = await usedPlace();
  const instance = await startInstance(path, ['postgres']);
  await ask(instance.report.url ?? '', 'create table kept as select 42 as n');
  await instance.kill('SIGKILL');
  process.kill(await serverPid(path), 'SIGKILL');
  const again = await startHere(path);
  assert.deepEqual(await ask(again.url, 'select n from kept'), [{ n: 42 }]);
  await again.stop();
});

test('a foreign process with the id of the old server is left alone', async () => {
  const path = await usedPlace();
  const instance = await startInstance(path, ['postgres']);
  const pidFile = join(path, 'postgres', 'postmaster.pid');
  const content = await fs.readFile(pidFile, 'utf8');
  process.kill(await serverPid(path), 'SIGKILL');
  await instance.kill('SIGKILL');
  // Use the ID of the test's parent process: it is running, is not PostgreSQL, and must not get a
  // signal.
  await fs.writeFile(pidFile, content.replace(/^\d+/, String(process.ppid)));
  const again = await startHere(path);
  assert.equal(isRunning(process.ppid), true);
  assert.notEqual(await serverPid(path), process.ppid);
  await again.stop();
});

test('a server ends when its instance exits without stopping it', async () => {
  const path = await usedPlace();
  const instance = await startInstance(path, ['postgres']);
  const pid = await serverPid(path);
  await instance.kill('SIGTERM');
  assert.equal(await waitUntil(() => !isRunning(pid), 5000), true);
});

test('a lost server is reported, a stopped one is not', async () => {
  const path = await usedPlace();
  const server = await startHere(path);
  process.kill(await serverPid(path), 'SIGKILL');
  assert.match(await server.lost, /PostgreSQL ended \(SIGKILL\)/);
  await server.stop();
  const again = await startHere(path);
  await again.stop();
  const pending = Symbol('pending');
  assert.equal(await Promise.race([again.lost, Promise.resolve(pending)]), pending);
});

test('a port taken by another program is replaced', async () => {
  const path = await usedPlace();
  const first = await startHere(path);
  await first.stop();
  const port = Number(new URL(first.url).port);
  const stranger = createServer().listen(port, '127.0.0.1');
  const second = await startHere(path);
  assert.notEqual(Number(new URL(second.url).port), port);
  assert.deepEqual(await ask(second.url, 'select 1 as n'), [{ n: 1 }]);
  await second.stop();
  stranger.close();
});

test('a wrong password is refused', async () => {
  const server = await startHere(await usedPlace());
  const url = new URL(server.url);
  url.password = 'x';
  await assert.rejects(ask(url.href, 'select 1'), { code: '28P01' });
  await server.stop();
});

test('files of another PostgreSQL version are refused with the remedy, in one line', async () => {
  const path = await usedPlace();
  await fs.writeFile(join(path, 'postgres', 'PG_VERSION'), '17\n');
  const folder = await openDataFolder(path);
  await assert.rejects(startPostgres({ folder, log: () => undefined }), (error) => {
    assert.ok(error instanceof StartError && !error.message.includes('\n'));
    return /PostgreSQL 17, but this is .* 18\..*pg_dump.*TAPLINE_DATA_DIR/.test(error.message);
  });
  await folder.close();
});

test('an interrupted first start is restarted', async () => {
  const path = emptyPlace();
  await fs.mkdir(join(path, 'postgres.draft', 'base'), { recursive: true });
  const server = await startHere(path);
  assert.deepEqual(await ask(server.url, 'select 1 as n'), [{ n: 1 }]);
  await server.stop();
});

test('a throwaway cluster lets a test create databases and is deleted at its stop', async () => {
  const server = await startThrowawayPostgres();
  await ask(server.url, 'create database made_by_a_test');
  await server.stop();
  await assert.rejects(ask(server.url, 'select 1'), { code: 'ECONNREFUSED' });
});

test('throwaway servers and their folders are deleted when their process is killed', async (t) => {
  const temporary = testFolder(t);
  const env = { ...process.env, TMPDIR: temporary };
  const instance = await startInstance(join(temporary, 'data'), ['throwaways'], { env });
  const made = async () =>
    (await fs.readdir(temporary)).filter((name) => /^tapline-(postgres|chain)-/.test(name));
  const folders = await made();
  assert.equal(folders.length, 2);
  await instance.kill('SIGKILL');
  assert.equal(await waitUntil(async () => (await made()).length === 0, 5000), true);
  for (const folder of folders) {
    assert.deepEqual(findByArgument(join(temporary, folder, 'postgres')), []);
    assert.deepEqual(findByArgument(join(temporary, folder, 'cache')), []);
  }
});

const rootOnly = { skip: IS_ROOT ? false : 'only root needs another account' };

test('root without user namespaces keeps its closed folder and its data', rootOnly, async (t) => {
  const path = await usedPlace();
  const programs = join(path, '..', 'programs');
  await fs.mkdir(programs);
  // Prints the error of a container that forbids namespaces.
  const refusing = '#!/bin/sh\necho "unshare failed: Operation not permitted" >&2; exit 1\n';
  await fs.writeFile(join(programs, 'unshare'), refusing, { mode: 0o755 });
  const env = { ...process.env, PATH: `${programs}:${process.env.PATH}` };
  const first = await startHere(path);
  await ask(first.url, 'create table kept as select 42 as n');
  await first.stop();
  const instance = await startInstance(path, ['postgres'], { env }).catch((cause: unknown) => {
    if (/capability/.test(String(cause))) return undefined;
    throw cause;
  });
  if (instance === undefined) return t.skip('this root may not grant capabilities');
  assert.deepEqual(await ask(instance.report.url ?? '', 'select n from kept'), [{ n: 42 }]);
  assert.equal((await fs.stat(path)).mode & 0o777, 0o700);
  await instance.kill('SIGTERM');
  const gone = () => findByArgument(join(path, 'postgres')).length === 0;
  assert.equal(await waitUntil(gone, 5000), true);
});

test('any user can run PostgreSQL', { skip: IS_ROOT ? false : 'already one' }, async (t) => {
  const own = testFolder(t);
  await fs.chown(own, NOBODY, NOBODY);
  const user = { uid: NOBODY, gid: NOBODY };
  const path = join(own, 'data');
  const instance = await startInstance(path, ['postgres'], user).catch((cause: unknown) => {
    // The checkout may be in a folder that other users cannot read.
    if (/EACCES|Cannot find module|ERR_MODULE_NOT_FOUND/.test(String(cause))) return undefined;
    throw cause;
  });
  if (instance === undefined) return t.skip('the checkout is closed to other users');
  assert.equal((await fs.stat(join(path, 'postgres'))).uid, NOBODY);
  assert.deepEqual(await ask(instance.report.url ?? '', 'select 1 as n'), [{ n: 1 }]);
  await instance.kill('SIGTERM');
  const gone = () => findByArgument(join(path, 'postgres')).length === 0;
  assert.equal(await waitUntil(gone, 5000), true);
});

test('a start that takes too long says for what, and which setting helps', async () => {
  const folder = await openDataFolder(emptyPlace());
  const options = { folder, log: () => {}, durable: false, readyMs: 1 };
  await assert.rejects(startPostgres(options), {
    name: 'StartError',
    message: /^PostgreSQL was not ready within \d+ s\. .* set SANDBOX_START_SECONDS higher/,
  });
  await folder.close();
});
