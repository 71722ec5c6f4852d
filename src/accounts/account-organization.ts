import { type AccountRow, lockOwnAccount, updateAccount } from '#accounts/account-queries.ts';
import { type AccountRef, recordAccountChange } from '#audit/record-change.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { only } from '#core/assert.ts';
import type { Tx } from '#db/database.ts';
import { factorNotFresh } from '#people/fresh-factor.ts';
import { noteOwnerChange } from '#people/hold-after-owner-change.ts';
import { selectMembers } from '#people/membership-queries.ts';
import { selectOrganizationMembers } from '#people/organization-queries.ts';
import { lockOrganization, selectAccountsIn } from '#people/organizations.ts';
import type { PeopleDeps } from '#people/people-context.ts';

/** Maximum number of accounts, because an organization's lists and totals read each one. */
const MAX_ACCOUNTS = 100;

export interface AccountMove extends AccountRef {
  readonly userId: string;
  readonly factorIsFresh: boolean;
  readonly people: Pick<PeopleDeps, 'secretKey' | 'webUrl'>;
}

/**
 * Returns the email addresses of an organization's owners; a refusal if the user is not one of
 * them.
 */
async function readOwned(
  tx: Tx,
  organizationId: string | null,
  userId: string,
): Promise<string[] | Refusal> {
  if (organizationId === null) return [];
  const members = await selectOrganizationMembers(tx, organizationId);
  const role = members.find((row) => row.user_id === userId)?.role;
  if (role === undefined) return resourceMissing('organization', 'organization');
  if (role === 'owner') {
    return members.filter((row) => row.role === 'owner').map((row) => row.email);
  }
  const message = `This requires the owner role in the organization; yours is ${role}.`;
  return refuse('role_missing', message, 'organization');
}

/**
 * The organization's members get or lose their roles in the account. Settings, keys, limits and
 * wallets stay with the account.
 */
export async function moveAccount(
  tx: Tx,
  move: AccountMove,
  organizationId: string | null,
): Promise<AccountRow | Refusal> {
  const { accountId, userId, now } = move;
  const account = await lockOwnAccount(tx, accountId);
  const { organization_id: from } = account;
  if (from === organizationId) return account;
  // Locks organizations in ID order, so that no two moves deadlock.
  for (const id of [from, organizationId].filter((one) => one !== null).toSorted()) {
    await lockOrganization(tx, id);
  }
  if (organizationId !== null) {
    const accounts = await selectAccountsIn(tx, organizationId);
    if (accounts.length >= MAX_ACCOUNTS) {
      const message = `An organization can have at most ${MAX_ACCOUNTS} accounts.`;
      return refuse('unexpected_state', message, 'organization');
    }
  }
  const before = await readOwned(tx, from, userId);
  if (isRefusal(before)) return before;
  const after = await readOwned(tx, organizationId, userId);
  if (isRefusal(after)) return after;
  const members = await selectMembers(tx, accountId);
  const own = members.filter((row) => row.role === 'owner').map((row) => row.email);
  const gained = after.filter((email) => !own.includes(email) && !before.includes(email));
  const lost = before.filter((email) => !own.includes(email) && !after.includes(email));
  if (gained.length + lost.length > 0 && !move.factorIsFresh) return factorNotFresh();
  const moved = only(
    await updateAccount(tx, account, { organization_id: organizationId }),
    'account',
  );
  const about = { accountId, accountName: account.name, actor: move.actor, now };
  const owners = [...own, ...before, ...after];
  for (const email of gained) {
    await noteOwnerChange(tx, move.people, { ...about, kind: 'promoted', email, owners });
  }
  for (const email of lost) {
    await noteOwnerChange(tx, move.people, { ...about, kind: 'removed', email, owners });
  }
  await recordAccountChange(tx, move, {
    action: 'account.organization_changed',
    before: { organization: from },
    after: { organization: organizationId },
  });
  return moved;
}
