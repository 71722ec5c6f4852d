import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { Database, Tx } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { applied, type Outcome, takeOutcomes } from '#settlement/requests.ts';

export interface ApplyRegistrationsDeps {
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
  readonly log: Log;
}

const BATCH = 20;

/** The account of a registration's subject, `<account id>:<network>`. */
function accountOf(outcome: Outcome<'merchant_registration'>): string {
  return outcome.subjectId.split(':')[0] ?? '';
}

async function updateLive(
  tx: Tx,
  of: {
    readonly accountId: string;
    readonly livemode: boolean;
    readonly merchantNumber: string;
    readonly now: Date;
  },
): Promise<void> {
  await tx.query(
    `update account_modes set merchant_number = $3, live_at = $4
     where account_id = $1 and livemode = $2 and merchant_number is null`,
    [of.accountId, of.livemode, of.merchantNumber, of.now],
  );
}

/**
 * Applies what the chain has said of registrations: from here on the account may take payments in
 * that mode. @returns whether there may be more.
 */
export async function applyRegistrations(deps: ApplyRegistrationsDeps): Promise<boolean> {
  const now = deps.clock.now();
  const outcomes = await deps.db.transaction(async (tx) => {
    const taken = await takeOutcomes(tx, 'merchant_registration', BATCH);
    for (const outcome of taken) {
      const { result, livemode } = outcome;
      const accountId = accountOf(outcome);
      if (result.succeeded) {
        const { merchantNumber } = result.facts;
        await updateLive(tx, { accountId, livemode, merchantNumber, now });
      } else {
        deps.log.warn('the settlement contract refused a merchant', {
          account: accountId,
          livemode,
          reason: result.reason,
        });
      }
    }
    const ids = taken.map((outcome) => outcome.requestId);
    if (ids.length > 0) await applied(tx, ids, now);
    return taken;
  });
  for (const outcome of outcomes) deps.wakeups.send('registration', outcome.subjectId);
  return outcomes.length === BATCH;
}
