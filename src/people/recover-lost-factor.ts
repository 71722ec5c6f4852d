import { type Refusal, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Tx } from '#db/database.ts';
import { emailBucket, MAILS_PER_MAILBOX, takeAttempt } from '#people/attempt-limits.ts';
import { queueMail } from '#people/mail-outbox.ts';
import { endFactors } from '#people/new-factor-delay.ts';
import { countPasskeys } from '#people/passkey-queries.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import { mailChange } from '#people/person-links.ts';
import type { FactorRef } from '#people/second-factor.ts';
import { lockUser, selectUser } from '#people/user-queries.ts';

/**
 * Mails a person who has lost every factor a link that starts the recovery. Recovery takes the
 * password, a click on the link, and 72 hours. Using a factor in that time cancels it; so does the
 * mail's other link.
 */
export async function mailFactorRecovery(
  deps: PeopleDeps,
  ref: Pick<FactorRef, 'userId' | 'now'>,
): Promise<Refusal | null> {
  const { now } = ref;
  const user = present(await selectUser(deps.db, ref.userId), 'user');
  if (user.totp_confirmed_at === null && (await countPasskeys(deps.db, user.id)) === 0) {
    return refuse('unexpected_state', 'This user has no second factor.');
  }
  const bucket = emailBucket('mail', user.realm, user.email);
  const tooMany = await takeAttempt(deps.db, bucket, { allowance: MAILS_PER_MAILBOX, now });
  if (tooMany !== null) return tooMany;
  const words =
    'If it was you, open this link and click the button. The factor ends 72 hours later.';
  await deps.db.transaction((tx) =>
    mailChange(tx, deps, {
      userId: user.id,
      accountId: null,
      what: 'Someone who knows your password reported your second factor as lost.',
      subject: 'Is your second factor lost?',
      to: [user.email],
      yes: { kind: 'recover_factor', words },
      now,
    }),
  );
  return null;
}

/**
 * Removes a person's factors if 72 hours have passed since they were reported lost. Call it after a
 * correct password. Reads the user again, because a factor may have been used since. @returns true
 * if the factors were removed.
 */
export async function endLostFactors(
  deps: Pick<PeopleDeps, 'secretKey'>,
  tx: Tx,
  { userId, now }: { readonly userId: string; readonly now: Date },
): Promise<boolean> {
  const user = present(await lockUser(tx, userId), 'user');
  if (user.factors_end_at === null || user.factors_end_at > now) return false;
  await endFactors(tx, user.id);
  await queueMail(tx, deps.secretKey, {
    to: user.email,
    subject: 'The second factor for your Tapline sign-in has ended',
    text: 'It was reported lost 72 hours ago and has not been used since. Set up a new one now.\n',
    now,
  });
  return true;
}
