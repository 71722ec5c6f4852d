import { isRefusal } from '#core/answer.ts';
import { hashSecret, isSecret } from '#core/bearer-secrets.ts';
import { findByLink } from '#people/email-links.ts';
import { selectInvitationByHash } from '#people/invitation-queries.ts';
import type { PeopleDeps, Visit } from '#people/people-context.ts';
import { selectUserByEmail } from '#people/user-queries.ts';

/**
 * Returns the contents of an invitation to the holder of its link, who has access to the mailbox.
 * Failed tries are counted per IP address.
 */
export async function readInvitation(
  deps: PeopleDeps,
  token: string,
  visit: Pick<Visit, 'address' | 'now'>,
) {
  const row = await findByLink(deps.db, { visit, isLink: isSecret('invitation', token) }, () =>
    selectInvitationByHash(deps.db, { hash: hashSecret(token), now: visit.now }),
  );
  if (isRefusal(row)) return row;
  const user = await selectUserByEmail(deps.db, { realm: 'merchant', email: row.email });
  return { invitation: row, user };
}
