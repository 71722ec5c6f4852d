import assert from 'node:assert/strict';
import { beforeEach, describe, it, type TestContext } from 'node:test';
import { openDatabase } from '#db/database.ts';
import { keepWatermark, readWatermark } from '#db/detect-restore-while-stopped.ts';
import { silentLog } from '#observability/log.ts';
import type { DataFolder } from '#sandbox/data-folder.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import { openTemporaryFolder } from '#testkit/fixtures/db/temporary-folder.ts';

const FILE = 'database-watermark.json';

interface StoredWatermark {
  readonly id: string;
  readonly generation: number;
  readonly system: string;
  readonly timeline: string;
  readonly position: string;
}

const database = databaseForTests();
let folder: DataFolder;
beforeEach(async (t) => {
  const temporary = await openTemporaryFolder('tapline-watermark');
  folder = temporary.folder;
  (t as TestContext).after(() => temporary.remove());
});

/**
 * Simulates one run of a process.
 * @returns true if the database lacked data when the run began
 */
async function live(url = database.url): Promise<boolean> {
  const db = openDatabase({ url, maxConnections: 2 });
  try {
    const watermark = await readWatermark(folder, db.watch);
    await db.query('select 1 as one');
    const keeping = await keepWatermark(db, { folder, log: silentLog }, watermark);
    const lost = db.watch.trust(false) === 'confirmed';
    assert.equal(db.watch.trust(true) === 'confirmed', lost);
    await db.transaction((tx) =>
      tx.query('create temporary table written on commit drop as select 1'),
    );
    await keeping.stop();
    return lost;
  } finally {
    await db.close();
  }
}

const written = () => folder.readJson(FILE) as Promise<StoredWatermark>;
const change = async (changed: Partial<StoredWatermark>) =>
  folder.writeJson(FILE, { ...(await written()), ...changed });

describe('the watermark that a process keeps in its data folder', () => {
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

  it('shows a copy whose log is as long, but whose generation is older', async () => {
    await live();
    await database.db.query('update database_watermarks set generation = generation - 1');
    assert.equal(await live(), true);
  });

  it('shows a copy that is older than the watermark itself', async () => {
    await live();
    await database.db.query('delete from database_watermarks');
    assert.equal(await live(), true);
  });

  it('shows a copy on another server', async () => {
    await live();
    await change({ system: 'another/1' });
    assert.equal(await live(), false, 'nothing is missing');
    await change({ system: 'another/1', generation: 1_000 });
    assert.equal(await live(), true);
  });

  it('draws no conclusion about a database that it has never seen', async () => {
    await live();
    const other = await testDatabase();
    assert.equal(await live(other.url), false);
    await other.close();
  });
});
