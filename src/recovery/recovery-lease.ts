import type { Database, Tx } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { ChainContext } from '#settlement/chain/chain-context.ts';
import { holdRecovery, type RecoveryRun } from '#settlement/network-recovery-queries.ts';

export interface RecoveryDeps extends ChainContext {
  readonly chain: Chain;
}

/**
 * Lease of a recovery: longer than any step takes. If the process is killed, another takes over
 * after this time.
 */
export const RECOVERY_LEASE_MS = 5_000;

/**
 * Runs one step in a transaction and renews the lease.
 * @throws RecoveryLost if another process has taken over the recovery.
 */
export function inRun<T>(
  { db }: { readonly db: Database },
  run: RecoveryRun,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return db.transaction(async (tx) => {
    await holdRecovery(tx, run, RECOVERY_LEASE_MS);
    return work(tx);
  });
}
