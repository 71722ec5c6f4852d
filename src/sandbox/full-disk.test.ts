import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { createChainSaver } from './chain-state.ts';
import { openDataFolder } from './data-folder.ts';
import { waitUntil } from './find-and-stop-processes.ts';
import { startPostgres } from './start-postgres.ts';

const run = promisify(execFile);
const DISK_MB = 160;
/** Space that the rows may take before the disk is full. */
const LEFT_MB = 12;

const root = testFolder();

/** Returns an empty disk of its own; `null` if this user cannot mount one. */
async function smallDisk(t: TestContext): Promise<string | null> {
  const folder = await mkdtemp(path.join(root, 'disk-'));
  const options = ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=755`, 'tmpfs', folder];
  const mounted = await run('mount', options).then(
    () => true,
    () => false,
  );
  if (!mounted) return null;
  t.after(() => run('umount', ['-l', folder]));
  return folder;
}

async function fill(disk: string, leftMb: number): Promise<string> {
  const ballast = path.join(disk, `ballast-${leftMb}`);
  const { stdout } = await run('df', ['--output=avail', '-m', disk]);
  const free = Number(stdout.trim().split('\n').at(-1));
  const bytes = Math.max(0, free - leftMb) * 1024 * 1024;
  // `df` rounds up, so the last bytes may find no room.
  await writeFile(ballast, Buffer.alloc(bytes)).catch(() => {});
  return ballast;
}

test('a full disk ends no sandbox: PostgreSQL returns with all that it acknowledged', async (t) => {
  const disk = await smallDisk(t);
  if (disk === null) return t.skip('only root can mount a small disk');
  const folder = await openDataFolder(path.join(disk, 'data'));
  const lines: string[] = [];
  const server = await startPostgres({ folder, log: (line) => lines.push(line) });
  t.after(async () => {
    await server.stop();
    await folder.close();
  });
  let lost: string | null = null;
  void server.lost.then((reason) => {
    lost = reason;
  });
  const connect = async () => {
    const client = new pg.Client({ connectionString: server.url });
    client.on('error', () => {});
    await client.connect();
    return client;
  };
  const client = await connect();
  await client.query('create table sales (n int, what text)');
  const ballast = await fill(disk, LEFT_MB);
  let answered = 0;
  const sells = async () => {
    await client.query('insert into sales values ($1::int, repeat(md5($1::text), 4000))', [
      answered + 1,
    ]);
    answered += 1;
  };
  for (let tries = 0; tries < 300; tries++) {
    if (
      !(await sells().then(
        () => true,
        (error) => error.code === '53100',
      ))
    )
      break;
  }
  await client.end().catch(() => {});
  // PostgreSQL survives some full disks by itself. The kernel, out of memory, ends it in others.
  const pidFile = path.join(disk, 'data/postgres/postmaster.pid');
  const [pid] = (await readFile(pidFile, 'utf8')).split('\n');
  await fill(disk, 0);
  process.kill(Number(pid), 'SIGKILL');
  const isDown = () =>
    connect().then(
      (one) => one.end().then(() => false),
      () => true,
    );
  await sleep(3_000);
  assert(await isDown(), 'it waits for room');
  await rm(ballast);
  assert(await waitUntil(async () => !(await isDown()), 30_000), `it returns: ${lines.join(', ')}`);
  const after = await connect();
  const { rows } = await after.query('select count(*)::int as n from sales');
  await after.end();
  assert(rows[0].n >= answered && answered > 0, `${rows[0].n} of ${answered} rows`);
  assert.equal(lost, null);
  assert.match(lines.join('\n'), /disk of .* is full/);
});

test('a database that cannot start again after a full disk is lost, without a crash', async (t) => {
  const disk = await smallDisk(t);
  if (disk === null) return t.skip('only root can mount a small disk');
  const folder = await openDataFolder(path.join(disk, 'data'));
  const server = await startPostgres({ folder, log: () => {} });
  t.after(async () => {
    await server.stop();
    await folder.close();
  });
  const cluster = path.join(disk, 'data/postgres');
  const [pid] = (await readFile(path.join(cluster, 'postmaster.pid'), 'utf8')).split('\n');
  await fill(disk, 0);
  await rename(cluster, `${cluster}-moved`);
  process.kill(Number(pid), 'SIGKILL');
  // A rejection that nothing handles would end this test's process, too.
  assert.match(await server.lost, /^PostgreSQL ended \(SIGKILL\); see .*: Error: ENOENT/);
});

test('a chain goes on while its state cannot be saved, and leaves no drafts', async (t) => {
  const disk = await smallDisk(t);
  if (disk === null) return t.skip('only root can mount a small disk');
  const ballast = await fill(disk, 0);
  const lines: string[] = [];
  const state = `0x1f8b${'00'.repeat(100_000)}`;
  const file = path.join(disk, 'state.gz');
  const saver = createChainSaver(
    async () => state,
    file,
    (line) => lines.push(line),
  );
  await saver.saveWhenDue(true);
  await saver.saveWhenDue(true);
  assert.equal(lines.length, 1);
  assert.deepEqual(await readdir(disk), ['ballast-0']);
  await rm(ballast);
  assert(
    await waitUntil(async () => {
      await saver.saveWhenDue(true);
      return (await readdir(disk)).includes('state.gz');
    }, 10_000),
  );
});
