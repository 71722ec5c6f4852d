import { present } from '#core/assert.ts';
import type { Tx } from '#db/database.ts';
import { endAsking } from '#payers/card-queries.ts';
import { lockPayer } from '#payers/payer-queries.ts';
import { assessPayment, readActivities } from '#payments/assess-payment.ts';
import { kindOf, lockCredential } from '#payments/credential.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import type { IntentCommand } from '#payments/payment-intent.ts';
import { confirmationAskedAt } from '#payments/save-intent-steps.ts';
import { chargeOf } from '#payments/tip-limits.ts';

export type AwaitingIntent = PaymentIntent & { readonly status: 'requires_action' };

/**
 * Decides what follows from a payer's approval. The payment may still fail if facts have changed
 * since the payer was asked. Locks in the same order as a tap: intent, credential, payer.
 */
export async function decideApproval(
  tx: Tx,
  intent: AwaitingIntent,
  now: Date,
): Promise<IntentCommand> {
  const { attempt } = intent;
  // A credential of another cell has no row here. That cell verified it at the tap.
  const isVisiting = attempt.credential.home !== undefined;
  const state = isVisiting ? null : await lockCredential(tx, attempt.credential);
  // The payer erased the credential between the tap and the approval.
  if (state === null && !isVisiting) return { type: 'reject', decline: 'pass_revoked' };
  // Runs even if the payment then fails: the payer has confirmed this tap, so the card's counter is
  // current again.
  if (state?.type === 'nfc_sun') await endAsking(tx, state.card.id);
  const payer = present(await lockPayer(tx, attempt.payerId), 'payer of an attempt');
  // An agent token must have been valid when the confirmation was requested. It may have expired
  // since.
  const sentAt = confirmationAskedAt(intent.confirm_by);
  const [facts] = await readActivities(tx, [{ intent, payer }], now);
  const { settings, activity } = present(facts, 'facts of a payment');
  const paying = { intent, payerLivemode: payer.livemode, now: sentAt };
  const assessment = assessPayment({
    settings,
    // Ignores the payer's earlier rejections, because the payer approves this payment.
    activity: { ...activity, refused_within_hour: 0, refused_here_within_hour: 0 },
    intent,
    amount: chargeOf(intent),
    payer,
    credentialProblem: state === null ? null : kindOf(state).check(state, paying),
    card: state?.type === 'nfc_sun' ? state.card : null,
    // A copied credential requires nothing more than this approval.
    copied: null,
    preflight: { ok: true },
  });
  if (assessment.kind !== 'decline') return { type: 'approve' };
  const { decline, rule } = assessment;
  return { type: 'reject', decline, ...(rule === undefined ? {} : { rule }) };
}
