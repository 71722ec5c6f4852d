import type { IdKey } from '#core/ids.ts';
import type { Tx } from '#db/database.ts';
import type { LoopDeps } from '#db/loop-deps.ts';
import type { ReceiptPages } from '#payments/receipt-url.ts';
import type { PeopleDeps } from '#people/people.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { holdRecovery, type RecoveryRun } from '#settlement/network-recovery-queries.ts';

export interface RecoveryDeps extends LoopDeps {
  readonly chain: Chain;
  readonly idKey: IdKey;
  readonly receipts: ReceiptPages;
  /** Dependencies for mails about wallets. */
  readonly people: Pick<PeopleDeps, 'secretKey' | 'webUrl'>;
}

/** Longer than any step. If a process is killed, another one takes over after this time. */
export const RECOVERY_LEASE_MS = 5_000;

/** Runs one step in a transaction if this process still holds the lease; otherwise does nothing. */
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
