import type { Clock } from '#core/clock.ts';
import type { IdKey } from '#core/derived-ids.ts';
import type { Log } from '#core/log.ts';
import type { Database, Tx } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import type { Chain } from '#settlement/chain.ts';
import { holdRecovery, type RecoveryRun } from '#settlement/network-recovery-queries.ts';

export interface RecoveryDeps {
  readonly chain: Chain;
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
  readonly log: Log;
  readonly idKey: IdKey;
}

/** Longer than any step; a process that died keeps the others waiting no longer. */
export const RECOVERY_LEASE_MS = 5_000;

/** A step's own transaction: with the lease, or not at all. */
export function inRun<T>(
  deps: Pick<RecoveryDeps, 'db'>,
  run: RecoveryRun,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return deps.db.transaction(async (tx) => {
    await holdRecovery(tx, run, RECOVERY_LEASE_MS);
    return work(tx);
  });
}
