import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { FAILPOINTS } from '#core/failpoints.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { startChaosProcess } from '#testkit/simulation/chaos/chaos-process.ts';
import { openRestoreGround, REST_MS } from '#testkit/simulation/restore-ground.ts';

/** Workers that die during a recovery. */

const NIGHTLY = process.env.FAULTS === 'nightly';
/** The crash point that leaves the most work. The others run nightly. */
const SHORT = 'recovery.payments_booked';

const world = await openRestoreGround();
after(() => world.close());

describe('a worker that dies at a step of the recovery', () => {
  for (const point of FAILPOINTS.filter((name) => name.startsWith('recovery.'))) {
    const skip = point === SHORT || NIGHTLY ? false : 'in the nightly run';
    it(`books once after dying at ${point}`, { skip }, async () => {
      const order = `DIE-${FAILPOINTS.indexOf(point)}`;
      const { request_count: requestCount } = await world.recovery();
      await world.ground.database.copy(point);
      await world.pay(order);
      await world.nodes.pop()?.close();
      await world.ground.database.putBack(point);
      const firstEnv = { TAPLINE_FAILPOINT: point };
      const worker = await startChaosProcess(world.ground, {
        name: 'worker',
        role: 'worker',
        firstEnv,
      });
      world.nodes.push(worker);
      assert.ok(await waitUntil(() => worker.starts() > 1, REST_MS), 'nothing died');
      const row = await world.recovered(requestCount);
      assert.equal(row.payments, 1);
      const booked = await world.db.query('select recovered from payments where order_id = $1', [
        order,
      ]);
      assert.deepEqual(booked, [{ recovered: true }]);
      assert.equal(await world.settledOnChain(order), 1);
      await world.comeToRest();
    });
  }
});
