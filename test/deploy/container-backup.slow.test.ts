import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';

/** Runs `deploy/container/backup.sh` with a real PostgreSQL, the way compose.yaml calls it. */

const SCRIPT = path.join(import.meta.dirname, '../../deploy/container/backup.sh');
const DEBIAN = '/usr/lib/postgresql';
const run = promisify(execFile);

let folder = '';
let binaries = '';
let why: string | null = null;

/** Runs as user `postgres`, because PostgreSQL refuses to run as root. */
async function shell(script: string): Promise<string> {
  const env = {
    PATH: `${binaries}:/usr/bin:/bin`,
    PGDATA: `${folder}/data`,
    PGHOST: folder,
    PGUSER: 'tapline',
    PGDATABASE: 'postgres',
    BACKUP_PLACE: `${folder}/backup`,
    BACKUP_DAYS: '7',
  };
  const user = ['--reuid=postgres', '--regid=postgres', '--clear-groups'];
  return (await run('setpriv', [...user, 'sh', '-ec', script], { env, cwd: folder })).stdout.trim();
}

const sql = (text: string) => shell(`psql -Atqc "${text}"`);
const step = (words: string) => shell(`sh ${folder}/backup.sh ${words}`);
const start = () =>
  shell(`pg_ctl start -w -l ${folder}/log -o "-c listen_addresses='' -k ${folder} \\
    -c archive_mode=on -c archive_command='sh ${folder}/backup.sh keep %p %f'" >/dev/null`);
const stop = () => shell('pg_ctl stop -m fast -w >/dev/null');

async function restoreTo(moment: string): Promise<void> {
  await stop();
  await step(`restore '${moment}'`);
  await start();
  const isOpen = async () => (await sql('select pg_is_in_recovery()')) === 'f';
  assert.ok(await waitUntil(isOpen, 20_000), 'it takes writes again');
}

before(async () => {
  const [version] = (await readdir(DEBIAN).catch(() => [])).sort().toReversed();
  binaries = `${DEBIAN}/${version}/bin`;
  if (version === undefined) why = 'PostgreSQL is not installed (Debian: apt install postgresql)';
  else if (process.getuid?.() !== 0) why = 'it needs root, to become the user postgres';
  if (why !== null) return;
  folder = await mkdtemp(path.join(tmpdir(), 'tapline-backup-'));
  await run('chown', ['postgres', folder]);
  await cp(SCRIPT, path.join(folder, 'backup.sh'));
  await run('chmod', ['0644', path.join(folder, 'backup.sh')]);
  await shell('mkdir backup; initdb -U tapline -E UTF8 >/dev/null');
  await start();
});

after(async () => {
  if (folder === '') return;
  await stop().catch(() => {});
  await rm(folder, { recursive: true });
});

test('a backup and the WAL since then restore any time, and nothing later', async (t) => {
  if (why !== null) return t.skip(why);
  await sql('create table sales (n int); insert into sales values (1)');
  await step('once');
  await sql('insert into sales values (2)');
  const moment = await sql(`select clock_timestamp()`);
  await sql('select pg_sleep(1.1)');
  await sql('insert into sales values (3); select pg_switch_wal()');
  await restoreTo(moment);
  assert.equal(await sql('select n from sales order by n'), '1\n2');
  await sql('insert into sales values (4)');
  assert.match(await shell('ls data'), /before-restore-/);
});

test('data written after a restore survives another restore', async (t) => {
  if (why !== null) return t.skip(why);
  const moment = await sql(`select clock_timestamp()`);
  await sql('select pg_sleep(1.1)');
  await sql('insert into sales values (5); select pg_switch_wal()');
  await restoreTo(moment);
  assert.equal(await sql('select n from sales order by n'), '1\n2\n4');
});

test('a time before every backup, or a running database, is refused with a reason', async (t) => {
  if (why !== null) return t.skip(why);
  await assert.rejects(step(`restore '2001-01-01 00:00:00+00'`), /stop it first/);
  await stop();
  await assert.rejects(step(`restore '2001-01-01 00:00:00+00'`), /No copy is older/);
  await start();
});

test('a WAL file is never replaced by another, and old backups are deleted', async (t) => {
  if (why !== null) return t.skip(why);
  await shell('echo one > a; echo two > b');
  await step('keep a 0001');
  await step('keep a 0001');
  await assert.rejects(step('keep b 0001'));
  assert.equal(await shell('cat backup/log/0001'), 'one');
  await step('once');
  await shell('first=$(ls backup/copies | head -n 1); touch -d "9 days ago" backup/copies/$first');
  await sql('select pg_switch_wal()');
  await shell(`timeout 5 sh ${folder}/backup.sh daily || true`);
  const left = (await shell('ls backup/copies')).split('\n');
  const log = await shell('ls backup/log');
  assert.equal(
    left.length,
    2,
    'the old copy was deleted; a copy of today and the newest one are left',
  );
  assert.doesNotMatch(log, /^000000010000000000000001$/m);
});
