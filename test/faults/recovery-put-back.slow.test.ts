import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { openRestoreGround } from '#testkit/simulation/restore-ground.ts';

/** Restores a backup that lacks none of a sender's transactions, while every process is stopped. */

const PROCESSES = [
  { name: 'api', role: 'api' },
  { name: 'other', role: 'api' },
  { name: 'worker 0', role: 'worker' },
] as const;

const world = await openRestoreGround();
after(() => world.close());

/** Stops everything, restores the backup and starts again. */
async function putBack(name: string, whileStopped: () => Promise<void> = async () => {}) {
  await world.stop();
  await world.ground.database.putBack(name);
  await whileStopped();
  await world.start(PROCESSES);
}

describe('a copy that is restored while every process is stopped', () => {
  it('shows a loss by its stored watermarks, and assigns no id twice', async () => {
    await world.pay('BEFORE');
    const open = await world.create(0, 'OPEN');
    const { request_count: requestCount } = await world.recovery();
    await world.ground.database.copy('shown');
    const lost = await world.create(0, 'LOST-A');
    const seen = await world.newestSequence();
    await putBack('shown');
    const row = await world.recovered(requestCount);
    assert.deepEqual([row.reason, row.loss_shown], ['position', true]);
    const created = await world.create(0, 'NEW-0');
    assert.notEqual(created.body.id, lost.body.id);
    const { merchant } = world.node(0);
    assert.equal((await merchant.get(`/payment_intents/${lost.body.id}`)).status, 404);
    assert.equal((await world.readIntent(open.body.id)).cancellation_reason, 'recovered');
    assert.ok((await world.newestSequence()) > seen);
    await world.comeToRest();
  });

  it('assigns no lost id again, even without watermarks', async () => {
    await world.ground.database.copy('unshown');
    const lost = new Set<unknown>();
    for (let n = 0; n < 20; n++) lost.add((await world.create(n % 2, `LOST-${n}`)).body.id);
    await putBack('unshown', async () => {
      for (const { name } of PROCESSES) {
        await rm(path.join(world.ground.folder, name, 'database-watermark.json'));
      }
    });
    const again: unknown[] = [];
    for (let n = 0; n < 20; n++) again.push((await world.create(n % 2, `NEW-${n}`)).body.id);
    assert.deepEqual(
      again.filter((id) => lost.has(id)),
      [],
    );
    await world.comeToRest();
  });
});
