import { confirmReportEmail, lockOwnAccount } from '#accounts/account-queries.ts';
import { recordEntry } from '#audit/audit.ts';
import { present } from '#core/assert.ts';
import { hashSecret } from '#core/bearer-secrets.ts';
import { newId } from '#core/ids.ts';
import type { Tx } from '#db/database.ts';
import { insertHold } from '#payouts/payout-hold-queries.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import { loseFactors, ownedAccounts, putOut, trustFactor } from '#people/person-link-actions.ts';
import { type PersonLinkRow, takePersonLink } from '#people/person-link-queries.ts';
import { findPersonLink } from '#people/person-links.ts';
import { lockUser, type UserRow } from '#people/user-queries.ts';

interface Confirmation {
  readonly token: string;
  readonly address: string;
  readonly requestId: string;
  readonly now: Date;
}

async function hold(
  tx: Tx,
  accountId: string,
  { link, confirmation }: { readonly link: PersonLinkRow; readonly confirmation: Confirmation },
): Promise<void> {
  const { now, address, requestId } = confirmation;
  // Lock the account as withdrawals do, so that withdrawals after this commit are held.
  await lockOwnAccount(tx, accountId);
  const id = newId('payoutHold', now);
  const made = { id, account_id: accountId, change_id: null, held_by: link.email, created: now };
  const held = await insertHold(tx, made);
  if (!held) return;
  await recordEntry(tx, {
    auditLog: accountId,
    actor: { type: 'system', name: 'link in a mail' },
    action: 'payouts.held',
    objectId: id,
    livemode: null,
    before: null,
    after: { held_by: link.email, what: link.what, address, request: requestId },
    now,
  });
}

async function stop(
  tx: Tx,
  user: UserRow,
  act: { link: PersonLinkRow; confirmation: Confirmation },
) {
  const { link, confirmation } = act;
  await putOut(tx, user, { endsPassword: link.account_id === null, now: confirmation.now });
  const accounts = link.account_id === null ? await ownedAccounts(tx, user.id) : [link.account_id];
  for (const accountId of accounts) await hold(tx, accountId, act);
}

/** Carries out the link's action once. @returns undefined if the link is not valid. */
export async function confirmPersonLink(
  people: PeopleDeps,
  confirmation: Confirmation,
): Promise<PersonLinkRow | undefined> {
  const { now } = confirmation;
  const confirmed = await people.db.transaction(async (tx) => {
    const personLink = await findPersonLink(tx, confirmation);
    if (personLink === undefined) return undefined;
    const user = present(await lockUser(tx, personLink.user_id), 'user of a link');
    const link = await takePersonLink(tx, { hash: hashSecret(confirmation.token), now });
    if (link === undefined) return undefined;
    if (link.kind === 'not_me') await stop(tx, user, { link, confirmation });
    if (link.kind === 'trust_factor') await trustFactor(tx, user);
    if (link.kind === 'report_email' && link.account_id !== null) {
      const confirmed = { accountId: link.account_id, email: link.email };
      if (!(await confirmReportEmail(tx, confirmed))) return undefined;
    }
    if (link.kind === 'recover_factor') await loseFactors(tx, people, { user, now });
    return link;
  });
  return confirmed;
}
