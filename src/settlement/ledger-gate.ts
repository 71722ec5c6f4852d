import { type Refusal, refuse } from '#core/answer.ts';
import type { DatabaseWatch } from '#db/detect-replaced-database.ts';

/**
 * Returns a refusal while the ledger is being compared with its chain, and after the database was
 * replaced until that comparison has ended; otherwise `null`. Call this function within the
 * transaction, so that it checks the same database that the transaction writes to.
 */
export function checkLedger(watch: DatabaseWatch, livemode: boolean): Refusal | null {
  if (watch.serves(livemode)) return null;
  return refuse(
    'service_unavailable',
    'The ledger of this network is being compared with the chain. Nothing was done: send the ' +
      'request again in a moment, with the same Idempotency-Key.',
  );
}
