import type { Clock } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { type RequestOutcome, updatePayerRequests } from '#payers/request-queries.ts';
import { applied, type Outcome, takeOutcomes } from '#settlement/chain-requests.ts';

/** Results per transaction. A batch takes a few milliseconds. */
const BATCH = 100;

type Kind = 'enrolment' | 'faucet' | 'transfer';

function toOutcome(outcome: Outcome<Kind>): RequestOutcome {
  const { subjectId: id, result } = outcome;
  return result.succeeded
    ? { id, status: 'succeeded', failure_code: null, tx_hash: result.facts.txHash }
    : { id, status: 'failed', failure_code: result.reason, tx_hash: result.txHash };
}

/**
 * Stores the on-chain results of approvals, test funds or transfers. @returns true if there may be
 * more.
 */
export async function applyPayerRequests(
  deps: { readonly db: Database; readonly wakeups: Wakeups; readonly clock: Clock },
  kind: Kind,
): Promise<boolean> {
  const outcomes = await deps.db.transaction(async (tx) => {
    const taken = await takeOutcomes(tx, kind, BATCH);
    if (taken.length === 0) return taken;
    const now = deps.clock.now();
    await updatePayerRequests(tx, taken.map(toOutcome), now);
    await applied(
      tx,
      taken.map((outcome) => outcome.requestId),
      now,
    );
    return taken;
  });
  for (const outcome of outcomes) deps.wakeups.send('payer-request', outcome.subjectId);
  return outcomes.length === BATCH;
}
