import { type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { hashSecret, newSecret } from '#core/bearer-secrets.ts';
import { addMs } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import type { Tx } from '#db/database.ts';
import { deleteOldPassCodes, passCodes } from '#payers/pass-code-queries.ts';
import { lockPayer, selectPass } from '#payers/payer-queries.ts';

/**
 * Lifetime of a code: enough to hold it to a reader. It is measured in real time, even if a test
 * clock is moved.
 */
export const PASS_CODE_MS = 60_000;

/** A used or expired code is reported as such for this long; after that, it counts as unknown. */
export const PASS_CODE_KEPT_MS = DAY_MS;
/**
 * Number of old rows that creating a code deletes. It exceeds one, so that the table cannot grow
 * without bound.
 */
const SWEEP = 20;

/** Locks the payer, so that the pass cannot be revoked meanwhile. */
export async function createPassCode(
  tx: Tx,
  made: { readonly payerId: string; readonly passId: string; readonly now: Date },
): Promise<{ readonly secret: string; readonly expiresAt: Date } | Refusal> {
  await lockPayer(tx, made.payerId);
  const pass = await selectPass(tx, made.passId);
  if (pass === undefined || pass.payer_id !== made.payerId) return resourceMissing('pass');
  if (pass.revoked_at !== null) {
    return refuse('unexpected_state', 'This pass was revoked and no longer has codes.');
  }
  const secret = newSecret('passCode', tx.cell);
  const expiresAt = addMs(made.now, PASS_CODE_MS);
  await deleteOldPassCodes(tx, addMs(made.now, -PASS_CODE_KEPT_MS), SWEEP);
  const code = { pass_id: pass.id, created: made.now, expires_at: expiresAt };
  await passCodes.insert(tx, { hash: hashSecret(secret), ...code });
  return { secret, expiresAt };
}
