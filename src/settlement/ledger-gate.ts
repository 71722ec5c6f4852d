import { type Refusal, refuse } from '#core/answer.ts';
import type { DatabaseWatch } from '#db/watch.ts';

/**
 * What a request gets that would write on a ledger which is being compared with its chain, or was
 * not looked at yet since the database was replaced; else null. Ask inside the transaction: then
 * the answer is about the database that the transaction writes to.
 */
export function checkLedger(watch: DatabaseWatch, livemode: boolean): Refusal | null {
  if (watch.serves(livemode)) return null;
  return refuse(
    'service_unavailable',
    'The ledger of this network is being compared with the chain. Nothing was done: send the ' +
      'request again in a moment, with the same Idempotency-Key.',
  );
}
