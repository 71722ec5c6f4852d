import type { ProcessContext } from '#db/process-context.ts';
import { applied, takeOutcomes } from '#settlement/chain-requests.ts';

/** Results per transaction. */
const BATCH = 100;

/**
 * Marks results of wallet deployments as applied. Nothing else is done with them: requests query
 * the chain for the wallet's code. @returns true if there may be more.
 */
export async function applyDeployments({ db, clock }: ProcessContext): Promise<boolean> {
  return db.transaction(async (tx) => {
    const taken = await takeOutcomes(tx, 'wallet_deployment', BATCH);
    const ids = taken.map(({ requestId }) => requestId);
    if (ids.length > 0) await applied(tx, ids, clock.now());
    return taken.length === BATCH;
  });
}
