import { type Refusal, refuse } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import { lockPayer } from '#payers/payer-queries.ts';
import { erasePayerRows, selectSignedInAt } from '#payers/personal-data-queries.ts';

/** As long as a second factor counts as fresh in the dashboard. */
const FRESH_MS = 5 * 60_000;

export interface PayerSession {
  readonly payerId: string;
  readonly sessionHash: Buffer;
  readonly now: Date;
}

/** A token that lay around is not enough: the wallet has signed a moment ago. */
export function checkFreshSignIn(signedInAt: Date | undefined, now: Date): Refusal | null {
  if (signedInAt !== undefined && addMs(signedInAt, FRESH_MS) > now) return null;
  return refuse(
    'second_factor_required',
    'Sign in with the wallet once more (POST /sign_in), then repeat this within five minutes.',
  );
}

/**
 * Erases what a payer has set up; sessions, passes and tokens end with the commit. Waits for a
 * payment that is being decided, and undoes none.
 */
export async function erasePayer(db: Database, which: PayerSession): Promise<Refusal | null> {
  return db.transaction(async (tx) => {
    await lockPayer(tx, which.payerId);
    const refused = checkFreshSignIn(await selectSignedInAt(tx, which.sessionHash), which.now);
    if (refused === null) await erasePayerRows(tx, which);
    return refused;
  });
}
