import type { Refusal } from '#core/answer.ts';
import type { Database } from '#db/database.ts';
import { lockPayer } from '#payers/payer-queries.ts';
import { signatureRefusal } from '#payers/payer-sign-in.ts';
import { erasePayerRows, selectSignedAt } from '#payers/personal-data-queries.ts';

export interface PayerSession {
  readonly payerId: string;
  readonly sessionHash: Buffer;
  readonly now: Date;
}

/**
 * Erases the payer's personal data. Sessions, passes and tokens end with the commit. A payment that
 * is being decided finishes first; no payment is undone.
 */
export async function erasePayer(db: Database, which: PayerSession): Promise<Refusal | null> {
  return db.transaction(async (tx) => {
    await lockPayer(tx, which.payerId);
    const refused = signatureRefusal(await selectSignedAt(tx, which.sessionHash), which.now);
    if (refused === null) await erasePayerRows(tx, which);
    return refused;
  });
}
