import type { Tx } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { updateGoLiveEnded, updateLive } from '#payouts/go-live-queries.ts';
import { applied, type Outcome, takeOutcomes } from '#settlement/chain-requests.ts';

const BATCH = 20;

/** The subject is `<account id>:<network>`, followed by the contract version. */
function accountOf(outcome: Outcome<'merchant_registration'>): string {
  return outcome.subjectId.split(':')[0] ?? '';
}

/** A dashboard request that waits for the result gets its response. */
async function applyRegistration(
  tx: Tx,
  outcome: Outcome<'merchant_registration'>,
  deps: ProcessContext,
): Promise<void> {
  const now = deps.clock.now();
  const { result, livemode } = outcome;
  const tenant = { accountId: accountOf(outcome), livemode };
  const request = await updateGoLiveEnded(tx, tenant, {
    status: result.succeeded ? 'succeeded' : 'failed',
    failure_reason: result.succeeded ? null : result.reason,
    tx_hash: result.succeeded ? result.facts.txHash : result.txHash,
    updated: now,
  });
  if (!result.succeeded) {
    const { reason } = result;
    deps.log.warn('the settlement contract refused to register a merchant', { ...tenant, reason });
    return;
  }
  const { merchantNumber } = result.facts;
  const wallet = request?.wallet ?? null;
  await updateLive(tx, { tenant, merchantNumber, wallet, now });
}

/**
 * Applies the chain's results of registrations, after which the account may take payments in that
 * mode. @returns true if there may be more.
 */
export async function applyRegistrations(deps: ProcessContext): Promise<boolean> {
  const now = deps.clock.now();
  const outcomes = await deps.db.transaction(async (tx) => {
    const taken = await takeOutcomes(tx, 'merchant_registration', BATCH);
    // Accounts are locked in the same order everywhere.
    const inOrder = taken.toSorted((a, b) => (accountOf(a) < accountOf(b) ? -1 : 1));
    for (const outcome of inOrder) await applyRegistration(tx, outcome, deps);
    const ids = taken.map((outcome) => outcome.requestId);
    if (ids.length > 0) await applied(tx, ids, now);
    return taken;
  });
  for (const outcome of outcomes) deps.wakeups.send('registration', outcome.subjectId);
  return outcomes.length === BATCH;
}
