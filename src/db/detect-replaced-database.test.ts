import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  clusterIdOf,
  type DatabasePlace,
  type DatabaseView,
  DatabaseWatch,
  walPosition,
} from '#db/detect-replaced-database.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';

const ALIKE: DatabaseView = {
  system: '7710284294591495551/16384',
  timeline: '00000001',
  position: 1_000n,
  checkpoint: { timeline: '00000001', position: 500n },
};

function guarded(): { watch: DatabaseWatch; turns: () => number } {
  const watch = new DatabaseWatch();
  let turns = 0;
  watch.meet(ALIKE);
  watch.guard(false, () => {
    turns++;
  });
  watch.stand(false, { state: 'signing', trust: 'unknown' }, watch.epoch);
  return { watch, turns: () => turns };
}

describe('the state that a process tracks of its database', () => {
  it('reads positions of the log', () => {
    assert.equal(walPosition('0/0'), 0n);
    assert.equal(walPosition('16/B374D848'), 0x16_b374_d848n);
  });

  it('a network is closed until its guard has checked it, and open without a guard', () => {
    const watch = new DatabaseWatch();
    assert.ok(watch.serves(false) && watch.signs(false));
    const giveUp = watch.guard(false, () => {});
    assert.ok(!watch.serves(false) && !watch.signs(false));
    assert.ok(watch.serves(true) && watch.signs(true), 'the other network is not affected');
    watch.stand(false, { state: 'serving', trust: 'unknown' }, watch.epoch);
    assert.ok(watch.serves(false) && !watch.signs(false));
    giveUp();
    assert.ok(watch.signs(false));
  });

  it('another connection to the same database changes nothing', () => {
    const { watch, turns } = guarded();
    watch.note(1_500n);
    watch.meet({ ...ALIKE, position: 1_500n });
    assert.ok(watch.signs(false));
    assert.deepEqual([watch.changes, turns(), watch.trust(false)], [0, 0, 'unknown']);
  });

  it('commits acknowledged while a new connection is being identified are no loss', () => {
    const { watch, turns } = guarded();
    watch.note(1_500n);
    const { highest } = watch;
    watch.note(1_700n);
    watch.meet({ ...ALIKE, position: 1_600n }, highest);
    assert.ok(watch.signs(false));
    assert.deepEqual([watch.changes, turns(), watch.trust(false)], [0, 0, 'unknown']);
  });

  it('a commit detects another database, even over a connection that did not break', () => {
    const { watch } = guarded();
    watch.note(1_500n);
    const { highest } = watch;
    const { timeline } = ALIKE;
    assert.equal(watch.isOther({ timeline, position: 1_500n }, highest), false);
    assert.equal(watch.isOther({ timeline, position: 1_499n }, highest), true);
    assert.equal(watch.isOther({ timeline: '00000002', position: 1_700n }, highest), true);
  });

  it('a broken connection stops the senders, not the API', () => {
    const { watch, turns } = guarded();
    watch.broke();
    assert.ok(watch.serves(false) && !watch.signs(false));
    assert.equal(turns(), 1);
  });

  it('a failover without loss closes the network and shows no loss', () => {
    const { watch, turns } = guarded();
    watch.meet({ ...ALIKE, timeline: '00000002', position: 1_100n });
    assert.ok(!watch.serves(false));
    assert.deepEqual([watch.changes, turns(), watch.trust(false)], [1, 1, 'unknown']);
  });

  it('a failover with a lost tail shows the loss', () => {
    const { watch } = guarded();
    watch.note(2_000n);
    watch.meet({ ...ALIKE, timeline: '00000002', position: 1_999n });
    assert.ok(!watch.serves(false) && watch.trust(false) === 'confirmed');
    watch.lossRecorded(false);
    assert.ok(watch.trust(false) === 'unknown');
  });

  it('a lost tail also shows after the new timeline has written more than that', () => {
    const { watch } = guarded();
    watch.note(2_000n);
    const checkpoint = { timeline: '00000002', position: 1_900n };
    watch.meet({ ...ALIKE, timeline: '00000002', position: 9_000n, checkpoint });
    assert.ok(watch.trust(false) === 'confirmed');
  });

  it('a copy that was restored on the same timeline shows the loss once', () => {
    const { watch } = guarded();
    watch.note(2_000n);
    watch.meet({ ...ALIKE, position: 1_200n });
    assert.ok(!watch.serves(false) && watch.trust(false) === 'confirmed');
    watch.lossRecorded(false);
    watch.meet({ ...ALIKE, position: 1_300n });
    assert.ok(watch.trust(false) === 'unknown');
    assert.equal(watch.changes, 1);
  });

  it('a copy that was restored before the start is detected by the recorded position', () => {
    const shows = (slot: Partial<DatabasePlace>) => {
      const watch = new DatabaseWatch();
      watch.expect({ ...ALIKE, position: 1_000n, ...slot });
      watch.meet(ALIKE);
      watch.guard(false, () => {});
      return watch.trust(false) === 'confirmed';
    };
    assert.equal(shows({}), false);
    assert.equal(shows({ position: 1_001n }), true);
    assert.equal(shows({ position: 1_001n, system: 'another/16384' }), false);
    assert.equal(shows({ position: 501n, timeline: '00000000' }), true);
    assert.equal(shows({ position: 500n, timeline: '00000000' }), false);
  });

  it('notices a loss once ledger and chain have agreed, or a position was recorded', () => {
    const { watch } = guarded();
    watch.stand(false, { state: 'signing', trust: 'agreed' }, watch.epoch);
    assert.deepEqual([watch.trust(false), watch.trust(true)], ['agreed', 'unknown']);
    watch.meet({ ...ALIKE, timeline: '00000002', position: 1_100n });
    assert.equal(watch.trust(false), 'unknown', 'it is another database');
    const remembers = (slot: Partial<DatabasePlace>) => {
      const next = new DatabaseWatch();
      next.expect({ ...ALIKE, ...slot });
      next.meet(ALIKE);
      return next.trust(false) === 'agreed';
    };
    assert.equal(remembers({ position: 900n }), true);
    assert.equal(remembers({ position: 1_001n }), false, 'it went back');
    assert.equal(remembers({ system: 'another/16384' }), false);
  });

  it('records no position while a loss is not handled', () => {
    const watch = new DatabaseWatch();
    watch.meet(ALIKE);
    assert.equal(watch.place, null, 'no position is known to be on disk');
    watch.note(1_500n);
    const { system, timeline } = ALIKE;
    assert.deepEqual(watch.place, { system, timeline, position: 1_500n });
    watch.showLoss();
    assert.equal(watch.place, null);
    for (const livemode of [false, true]) watch.lossRecorded(livemode);
    assert.deepEqual(watch.place, { system, timeline, position: 1_500n });
  });

  it('positions of another system are ignored', () => {
    const { watch } = guarded();
    watch.note(2_000n);
    watch.meet({ ...ALIKE, system: 'another/16384', position: 10n });
    assert.ok(!watch.serves(false) && watch.trust(false) === 'unknown');
  });

  it('findings about an earlier connection open nothing', () => {
    const { watch } = guarded();
    const { epoch } = watch;
    watch.meet({ ...ALIKE, timeline: '00000002' });
    watch.stand(false, { state: 'signing', trust: 'agreed' }, epoch);
    assert.ok(!watch.serves(false));
    assert.equal(watch.trust(false), 'unknown');
  });

  it('a connection identifies its database before its first statement', async () => {
    const { db, close } = await testDatabase(2);
    try {
      assert.equal(db.watch.clusterId, null);
      await db.transaction(async (tx) => assert.notEqual(tx.watch.clusterId, null));
      const rows = await db.query<{ name: string }>('select current_database() as name');
      assert.equal(rows.length, 1);
      assert.match(String(db.watch.clusterId), /^\d+\/\d+\/0000000\d$/);
      assert.equal(clusterIdOf(ALIKE), '7710284294591495551/16384/00000001');
    } finally {
      await close();
    }
  });
});
