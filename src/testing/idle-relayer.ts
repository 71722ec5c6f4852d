import { present } from '#core/assert.ts';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#observability/log.ts';
import { configuredSenders, configureSenders } from '#settlement/chain/fees/configure-senders.ts';
import { readFees } from '#settlement/relayer/senders/check-sender-balances.ts';
import { keepSenders } from '#settlement/relayer/senders/keep-senders.ts';
import { createState, type RelayerState } from '#settlement/relayer/state-machine/relayer-state.ts';
import type { RelayerWorld } from '#testing/relayer-world.ts';

/**
 * Creates a worker that holds all senders but does nothing on its own, so that the test calls each
 * step.
 */
export async function idleRelayer(world: RelayerWorld): Promise<RelayerState> {
  const { chain } = world.network;
  const { db } = world.database;
  await configureSenders({ chain, db });
  await db.query('update relayer_senders set lease_owner = null, lease_until = null');
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
    configured: configuredSenders(chain.config),
  });
  worker.see({ head });
  await readFees(worker, head);
  await keepSenders(worker);
  return worker;
}
