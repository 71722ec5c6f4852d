import { present } from '#core/assert.ts';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { configuredLanes, configureLanes } from '#settlement/relayer/lanes/configure-lanes.ts';
import { readFees } from '#settlement/relayer/lanes/funds.ts';
import { keepLanes } from '#settlement/relayer/lanes/keep-lanes.ts';
import { createState, type RelayerState } from '#settlement/relayer/machine/memory.ts';
import type { RelayerWorld } from '#testing/relayer-world.ts';

/** A worker that holds all lanes and does nothing by itself: a test takes its steps. */
export async function idleRelayer(world: RelayerWorld): Promise<RelayerState> {
  const { chain } = world.network;
  const { db } = world.database;
  await configureLanes({ chain, db });
  await db.query('update relayer_lanes set lease_owner = null, lease_until = null');
  await db.query('delete from relayer_workers');
  const head = present(await chain.block('latest'), 'head');
  const worker = createState({
    chain,
    db,
    wakeups: world.wakeups,
    clock: systemClock,
    log: silentLog,
    leaseMs: 60_000,
    owner: 'idle',
    configured: configuredLanes(chain.config),
  });
  worker.see({ kind: 'followed', block: head });
  await readFees(worker, head);
  await keepLanes(worker);
  return worker;
}
