import { lockOwnAccount } from '#accounts/account-queries.ts';
import { type Actor, actorId, recordEntry } from '#audit/audit.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import { hashSecret, isSecret } from '#core/bearer-secrets.ts';
import type { Sql, Tx } from '#db/database.ts';
import {
  type HoldLinkRow,
  type HoldRow,
  selectHoldLink,
  selectOpenHold,
  updateHoldLifted,
} from '#payouts/payout-hold-queries.ts';
import { accountInMail } from '#people/account-name-in-mail.ts';
import { queueMail } from '#people/mail-outbox.ts';
import { selectOwnerEmails } from '#people/membership-queries.ts';
import type { PeopleDeps } from '#people/people-context.ts';

/**
 * Returns the link if it is neither used nor expired; otherwise undefined, so that the caller
 * cannot tell why.
 */
export async function findHoldLink(
  sql: Sql,
  input: { readonly token: string; readonly now: Date },
): Promise<HoldLinkRow | undefined> {
  if (!isSecret('holdLink', input.token)) return undefined;
  return selectHoldLink(sql, { hash: hashSecret(input.token), now: input.now });
}

/** The caller must have locked the account's row. */
export async function checkNotHeld(sql: Sql, accountId: string): Promise<Refusal | null> {
  const hold = await selectOpenHold(sql, accountId);
  if (hold === undefined) return null;
  return refuse(
    'unexpected_state',
    `Payouts have been on hold since ${hold.created.toISOString()}, when a link in an ` +
      'email was used. An owner can lift the hold.',
  );
}

/**
 * Returns the email addresses of the owners, and of the person who set the hold, unless that person
 * was erased.
 */
export async function mailedTo(
  tx: Tx,
  hold: { readonly accountId: string; readonly heldBy: string },
): Promise<Set<string>> {
  const owners = await selectOwnerEmails(tx, hold.accountId);
  return new Set(hold.heldBy.includes('@') ? [...owners, hold.heldBy] : owners);
}

/** The caller must have checked that an owner who just verified a factor makes the request. */
export async function liftHold(
  tx: Tx,
  people: Pick<PeopleDeps, 'secretKey'>,
  ref: { readonly accountId: string; readonly actor: Actor; readonly now: Date },
): Promise<HoldRow | Refusal> {
  const { accountId, actor, now } = ref;
  const account = await lockOwnAccount(tx, accountId);
  const hold = await updateHoldLifted(tx, { accountId, liftedBy: actorId(actor), now });
  if (hold === undefined) return refuse('unexpected_state', 'Payouts are not on hold.');
  const who = actor.type === 'system' ? actor.name : actor.email;
  for (const to of await mailedTo(tx, { accountId, heldBy: hold.held_by })) {
    await queueMail(tx, people.secretKey, {
      to,
      subject: 'Payouts from your Tapline account have resumed',
      text: `${who} has lifted the hold on the payouts of ${accountInMail(account.name)}.\n`,
      now,
    });
  }
  await recordEntry(tx, {
    auditLog: accountId,
    actor,
    action: 'payouts.hold_lifted',
    objectId: hold.id,
    livemode: null,
    before: { held_by: hold.held_by },
    after: null,
    now,
  });
  return hold;
}
