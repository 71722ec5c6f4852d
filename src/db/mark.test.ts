import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { silentLog } from '#core/log.ts';
import { openDatabase } from '#db/database.ts';
import { keepMark, readMark } from '#db/mark.ts';
import type { DataFolder } from '#sandbox/data-folder.ts';
import { openTemporaryFolder } from '#sandbox/temporary-folder.ts';
import { type TestDatabase, testDatabase } from '#testing/database.ts';

const FILE = 'database-mark.json';

interface WrittenMark {
  readonly id: string;
  readonly generation: number;
  readonly system: string;
  readonly timeline: string;
  readonly position: string;
}

let database: TestDatabase;
let folder: DataFolder;
before(async () => {
  database = await testDatabase();
});
beforeEach(async (t) => {
  const temporary = await openTemporaryFolder('tapline-mark');
  folder = temporary.folder;
  (t as TestContext).after(() => temporary.remove());
});
after(() => database.close());

/** Runs a process once. @returns true if the database lacked data when the process began. */
async function live(url = database.url): Promise<boolean> {
  const db = openDatabase({ url, maxConnections: 2 });
  try {
    const mark = await readMark(folder, db.watch);
    await db.query('select 1 as one');
    const marking = await keepMark({ db, folder, log: silentLog }, mark);
    const lost = db.watch.trust(false) === 'confirmed';
    assert.equal(db.watch.trust(true) === 'confirmed', lost);
    await db.transaction((tx) =>
      tx.query('create temporary table written on commit drop as select 1'),
    );
    await marking.stop();
    return lost;
  } finally {
    await db.close();
  }
}

const written = () => folder.readJson(FILE) as Promise<WrittenMark>;
const change = async (changed: Partial<WrittenMark>) =>
  folder.writeJson(FILE, { ...(await written()), ...changed });

describe('the mark that a process keeps in its data folder', () => {
  it('shows nothing at the next start if nothing was lost, and continues', async () => {
    assert.equal(await live(), false);
    const first = await written();
    assert.equal(await live(), false);
    const second = await written();
    assert.equal(second.id, first.id);
    assert.equal(second.generation, first.generation + 1);
    assert.ok(BigInt(second.position) > BigInt(first.position));
  });

  it('shows a log that is behind, and is kept until the loss was handled', async () => {
    await live();
    const { position } = await written();
    const ahead = String(BigInt(position) + 2n ** 40n);
    await change({ position: ahead });
    assert.equal(await live(), true);
    assert.equal((await written()).position, ahead);
    assert.equal(await live(), true);
  });

  it('shows a copy whose log has come as far, but not its generation', async () => {
    await live();
    await database.db.query('update database_marks set generation = generation - 1');
    assert.equal(await live(), true);
  });

  it('shows a copy that is older than the mark itself', async () => {
    await live();
    await database.db.query('delete from database_marks');
    assert.equal(await live(), true);
  });

  it('shows a copy on another server', async () => {
    await live();
    await change({ system: 'another/1' });
    assert.equal(await live(), false, 'nothing is missing');
    await change({ system: 'another/1', generation: 1_000 });
    assert.equal(await live(), true);
  });

  it('says nothing of a database that it has never seen', async () => {
    await live();
    const other = await testDatabase();
    assert.equal(await live(other.url), false);
    await other.close();
  });
});
