import { present } from '#core/assert.ts';
import type { Tx } from '#db/database.ts';
import { endAsking } from '#payers/card-queries.ts';
import { lockPayer } from '#payers/payer-queries.ts';
import { assessPayment, readActivities } from '#payments/assess.ts';
import { kindOf, lockCredential } from '#payments/credential.ts';
import type { IntentCommand, PaymentIntent } from '#payments/payment-intent.ts';
import { confirmationAskedAt } from '#payments/save.ts';
import { chargeOf } from '#payments/tip.ts';

export type Asked = PaymentIntent & { readonly status: 'requires_action' };

/**
 * Decides a payer's approval. Changes since the payer was asked may still stop the payment. Locks
 * in the order of a tap: the intent, the credential, the payer.
 */
export async function decideApproval(tx: Tx, intent: Asked, now: Date): Promise<IntentCommand> {
  const { attempt } = intent;
  // A credential of another cell was verified at the tap, and its payer is approving right now, so
  // no row is needed.
  const isVisiting = attempt.credential.home !== undefined;
  const found = isVisiting ? null : await lockCredential(tx, attempt.credential);
  // The payer erased the credential and then approved.
  if (found === null && !isVisiting) return { type: 'reject', decline: 'pass_revoked' };
  // Do this even if the payment fails: the payer has confirmed this tap, so the card's count is up
  // to date again.
  if (found?.type === 'nfc_sun') await endAsking(tx, found.card.id);
  const payer = present(await lockPayer(tx, attempt.payerId), 'payer of an attempt');
  // A token that expired while its payer was asked was still valid when it was sent.
  const sentAt = confirmationAskedAt(intent.confirmBy);
  const [facts] = await readActivities(tx, [{ intent, payer }], now);
  const { settings, activity } = present(facts, 'facts of a payment');
  const paying = { intent, payerLivemode: payer.livemode, now: sentAt };
  const assessment = assessPayment({
    settings,
    // An approval: earlier rejections do not count against it.
    activity: { ...activity, refused_within_hour: 0, refused_here_within_hour: 0 },
    intent,
    amount: chargeOf(intent),
    payer,
    credentialProblem: found === null ? null : kindOf(found).check(found, paying),
    card: found?.type === 'nfc_sun' ? found.card : null,
    // The payer is approving right now, so a copied credential needs no further confirmation.
    copied: null,
    preflight: { ok: true },
  });
  if (assessment.kind !== 'decline') return { type: 'approve' };
  const { decline, rule } = assessment;
  return { type: 'reject', decline, ...(rule === undefined ? {} : { rule }) };
}
