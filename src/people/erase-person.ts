import { type Actor, actorId, NETWORK_AUDIT_LOG, recordEntry } from '#audit/audit.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { assert, present } from '#core/assert.ts';
import { Abandon, type Tx } from '#db/database.ts';
import { emailBucket, forgetAttempts, secondFactorBucket } from '#people/attempt-limits.ts';
import { removeMember } from '#people/change-member.ts';
import { deleteEmailTokens } from '#people/email-token-queries.ts';
import { factorNotFresh } from '#people/fresh-factor.ts';
import { queueMail } from '#people/mail-outbox.ts';
import { removeFromOrganization, selectOrganizationsOf } from '#people/organizations.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import {
  deleteAccessOf,
  eraseMerchantAddress,
  eraseUser,
  lockActiveOperators,
  lockTeamsOf,
  type TeamMateRow,
} from '#people/personal-data-queries.ts';
import { lockUser, type UserRow } from '#people/user-queries.ts';

export interface Erasing {
  readonly userId: string;
  readonly actor: Actor;
  /** True if the actor has recently verified a second factor, which an owner needs to leave. */
  readonly factorIsFresh: boolean;
  readonly now: Date;
}

function handOverFirst(accounts: readonly string[]): Refusal {
  return refuse(
    'unexpected_state',
    `You are the only owner of ${accounts.join(', ')}: make another member an owner first.`,
  );
}

/** Returns the reason why a person cannot leave these teams; `null` if there is none. */
function checkTeams(teams: readonly TeamMateRow[], erasing: Erasing): Refusal | null {
  const owners = teams.filter((row) => row.role === 'owner');
  const own = owners.filter((row) => row.user_id === erasing.userId);
  const alone = own.filter(
    ({ account_id }) => owners.filter((row) => row.account_id === account_id).length === 1,
  );
  if (alone.length > 0) return handOverFirst(alone.map((row) => row.account_id));
  return own.length > 0 && !erasing.factorIsFresh ? factorNotFresh() : null;
}

/** If it returns a refusal, the caller must roll back. */
async function leaveOrganizations(
  deps: PeopleDeps,
  tx: Tx,
  erasing: Erasing,
): Promise<Refusal | null> {
  const { userId } = erasing;
  for (const { id: organizationId } of await selectOrganizationsOf(tx, userId)) {
    const ref = { ...erasing, organizationId, people: deps, mailChange: null };
    const refused = await removeFromOrganization(tx, ref, userId);
    if (refused !== null) return refused;
  }
  return null;
}

/** Removes the person from every team, in the order in which the accounts were locked. */
async function leaveTeams(
  deps: PeopleDeps,
  tx: Tx,
  erasing: Erasing & { readonly teams: readonly TeamMateRow[] },
): Promise<void> {
  for (const { account_id: accountId, account_name: accountName, user_id } of erasing.teams) {
    if (user_id !== erasing.userId) continue;
    const ref = { ...erasing, accountId, accountName, people: deps };
    const refused = await removeMember(tx, ref, erasing.userId);
    assert(refused === null, 'a member who may leave was kept');
  }
}

async function recordOperator(tx: Tx, erasing: Erasing): Promise<void> {
  await recordEntry(tx, {
    auditLog: NETWORK_AUDIT_LOG,
    actor: erasing.actor,
    action: 'operator.erased',
    objectId: actorId(erasing.actor),
    livemode: null,
    before: null,
    after: null,
    now: erasing.now,
  });
}

async function eraseRows(tx: Tx, user: UserRow, now: Date): Promise<void> {
  const { id: userId, email, realm } = user;
  // Not a valid email address, so it cannot be used to sign in, to request a link or to receive
  // mail.
  const placeholder = `erased ${userId}`;
  await deleteAccessOf(tx, userId);
  await deleteEmailTokens(tx, { realm, email });
  if (realm === 'merchant') await eraseMerchantAddress(tx, { email, placeholder });
  await eraseUser(tx, { userId, placeholder, now });
}

/**
 * All access ends with the commit; name, address, devices and factors are deleted. The audit log
 * keeps its entries. A last owner, or the last member of staff, must first hand over to someone
 * else.
 */
export async function erasePerson(deps: PeopleDeps, erasing: Erasing): Promise<Refusal | null> {
  const { userId, now } = erasing;
  const done = await deps.db.transaction<UserRow | Refusal>(async (tx) => {
    const staff = erasing.actor.type === 'operator' ? await lockActiveOperators(tx) : null;
    if (staff?.length === 1) {
      const message = 'You are the last member of the staff. Add another one first.';
      return refuse('unexpected_state', message);
    }
    const user = present(await lockUser(tx, userId), 'user');
    const teams = await lockTeamsOf(tx, userId);
    const refused = checkTeams(teams, erasing);
    if (refused !== null) return refused;
    const stays = await leaveOrganizations(deps, tx, erasing);
    if (stays !== null) return new Abandon<UserRow | Refusal>(stays);
    await queueMail(tx, deps.secretKey, {
      to: user.email,
      subject: 'Your data at Tapline was deleted',
      text:
        'Your user was deleted as you requested and can no longer sign in. If it was not you, ' +
        "tell an owner of your account or the network's operator at once.\n",
      now,
    });
    await leaveTeams(deps, tx, { ...erasing, teams });
    if (staff !== null) await recordOperator(tx, erasing);
    await eraseRows(tx, user, now);
    return user;
  });
  if (isRefusal(done)) return done;
  await forgetAttempts(deps.db, emailBucket('sign-in', done.realm, done.email));
  await forgetAttempts(deps.db, secondFactorBucket(userId));
  return null;
}
