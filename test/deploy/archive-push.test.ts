import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';

/**
 * Tests the script that passes each machine's log files to pgBackRest
 * (deploy/ha/pgbackrest-push.sh), with a fake pgBackRest. `npm run machines` uses the real one,
 * PostgreSQL and a primary that dies.
 */

const SCRIPT = path.join(import.meta.dirname, '../../deploy/ha/pgbackrest-push.sh');
const IS_ANOTHER = 45;
const NO_WAY = 125;
const run = promisify(execFile);

let folder: string;

beforeEach(async (t) => {
  folder = testFolder(t as TestContext);
  await mkdir(path.join(folder, 'pg_wal/archive_status'), { recursive: true });
  const program = path.join(folder, 'pgbackrest');
  await writeFile(
    program,
    `#!/bin/sh
[ "$1 $2" = "--stanza=tapline archive-push" ] || exit 1
code=$(cat "$3.code" 2>/dev/null || echo 0)
[ "$code" = 0 ] && echo "$3" >> pushed
exit "$code"
`,
  );
  await chmod(program, 0o755);
});

/** Adds a WAL file with PostgreSQL's archive status. */
async function addFile(name: string, status: 'done' | 'ready', code = 0): Promise<void> {
  const file = path.join(folder, 'pg_wal', name);
  await writeFile(file, name);
  await writeFile(path.join(folder, 'pg_wal/archive_status', `${name}.${status}`), '');
  if (code !== 0) await writeFile(`${file}.code`, `${code}`);
}

const push = (name: string) =>
  run('sh', [SCRIPT, `pg_wal/${name}`], {
    cwd: folder,
    env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
  });
const pushed = async () =>
  (await readFile(path.join(folder, 'pushed'), 'utf8').catch(() => ''))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => path.basename(line));
const segment = (n: number) => `0000000100000000${n.toString(16).toUpperCase().padStart(8, '0')}`;

test('a WAL file is archived on its own', async () => {
  await addFile(segment(1), 'done');
  await addFile(segment(2), 'ready');
  await push(segment(2));
  assert.deepEqual(await pushed(), [segment(2)]);
});

test('a new primary first archives the finished files of the previous one', async () => {
  for (const n of [1, 2, 3]) await addFile(segment(n), 'done');
  await addFile(`${segment(4)}.partial`, 'ready');
  await addFile('00000002.history', 'ready');
  await push('00000002.history');
  assert.deepEqual(await pushed(), [segment(1), segment(2), segment(3), '00000002.history']);
});

test('a file whose archived content differs does not block later ones', async () => {
  await addFile(segment(1), 'done', IS_ANOTHER);
  await addFile(segment(2), 'done');
  await addFile('00000002.history', 'ready');
  const { stderr } = await push('00000002.history');
  assert.match(stderr, new RegExp(segment(1)));
  assert.deepEqual(await pushed(), [segment(2), '00000002.history']);
});

test('no timeline is archived before the files that lead to it', async () => {
  await addFile(segment(1), 'done', NO_WAY);
  await addFile('00000002.history', 'ready');
  await assert.rejects(push('00000002.history'), { code: NO_WAY });
  assert.deepEqual(await pushed(), []);
});

test('only the last hour of WAL files is examined', async () => {
  for (let n = 1; n <= 70; n++) await addFile(segment(n), 'done');
  await addFile('00000002.history', 'ready');
  await push('00000002.history');
  const names = await pushed();
  assert.equal(names.length, 65);
  assert.equal(names[0], segment(7));
});
