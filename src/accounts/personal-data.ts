import { type Actor, actorId } from '#accounts/actor.ts';
import { emailBucket, forgetAttempts } from '#accounts/attempts.ts';
import { NETWORK_CHAIN, recordChange } from '#accounts/audit.ts';
import { deleteEmailTokens } from '#accounts/email-token-queries.ts';
import { queueMail } from '#accounts/mail.ts';
import { selectAccountsOf } from '#accounts/membership-queries.ts';
import { selectPasskeys } from '#accounts/passkey-queries.ts';
import { MAIL_TOPIC, type PeopleDeps } from '#accounts/people.ts';
import {
  deleteAccessOf,
  eraseMerchantAddress,
  eraseUser,
  lockActiveOperators,
  lockTeamsOf,
  selectActionsOf,
  selectDevicesOf,
  selectInvitationsTo,
  selectPerson,
  type TeamMateRow,
} from '#accounts/personal-data-queries.ts';
import { secondFactorBucket } from '#accounts/second-factor.ts';
import { countRecoveryCodes } from '#accounts/second-factor-queries.ts';
import { selectSessionsOf } from '#accounts/session-queries.ts';
import { factorNotFresh } from '#accounts/sessions.ts';
import { removeMember } from '#accounts/team.ts';
import { lockUser, type UserRow } from '#accounts/user-queries.ts';
import { assert, present } from '#core/assert.ts';
import { isRefusal, type Refusal, refuse } from '#core/refusal.ts';
import type { Database, Tx } from '#db/database.ts';

/** Entries of the audit log in one export: years of daily work, and still one document. */
export const MAX_ACTIONS = 10_000;

/** Everything that is kept about a person, without secrets and their hashes. */
export async function exportPerson(
  db: Database,
  of: { readonly userId: string; readonly now: Date },
) {
  const { userId } = of;
  const person = present(await selectPerson(db, userId), 'user');
  const [accounts, sessions, devices, passkeys, codes, invitations, actions] = await Promise.all([
    selectAccountsOf(db, userId),
    selectSessionsOf(db, of),
    selectDevicesOf(db, userId),
    selectPasskeys(db, userId),
    countRecoveryCodes(db, userId),
    selectInvitationsTo(db, person.email),
    selectActionsOf(db, { userId, limit: MAX_ACTIONS }),
  ]);
  const { id, email, name, created, totp_confirmed_at } = person;
  return {
    object: 'personal_data',
    exported_at: of.now,
    user: { id, email, name, created, totp_confirmed_at, recovery_codes_left: codes },
    accounts: accounts.map((row) => ({ id: row.account_id, name: row.name, role: row.role })),
    sessions,
    devices,
    passkeys: passkeys.map(({ id, name, created, last_used_at }) => {
      return { id, name, created, last_used_at };
    }),
    invitations,
    actions,
  };
}

export interface Erasing {
  readonly userId: string;
  readonly actor: Actor;
  /** An owner leaves the owners: that asks for a proof of the second factor. */
  readonly factorIsFresh: boolean;
  readonly now: Date;
}

function handOverFirst(accounts: readonly string[]): Refusal {
  return refuse(
    'unexpected_state',
    `You are the only owner of ${accounts.join(', ')}: make somebody else owner first.`,
  );
}

/** Why a member of these teams cannot go; null when nothing stands in the way. */
function checkTeams(teams: readonly TeamMateRow[], of: Erasing): Refusal | null {
  const owners = teams.filter((row) => row.role === 'owner');
  const own = owners.filter((row) => row.user_id === of.userId);
  const alone = own.filter(
    ({ account_id }) => owners.filter((row) => row.account_id === account_id).length === 1,
  );
  if (alone.length > 0) return handOverFirst(alone.map((row) => row.account_id));
  return own.length > 0 && !of.factorIsFresh ? factorNotFresh() : null;
}

/** Leaves every team, account by account in the order in which they were locked. */
async function leaveTeams(
  deps: PeopleDeps,
  tx: Tx,
  of: Erasing & { readonly teams: readonly TeamMateRow[] },
): Promise<void> {
  for (const { account_id: accountId, account_name: accountName, user_id } of of.teams) {
    if (user_id !== of.userId) continue;
    const ref = { ...of, accountId, accountName, people: deps };
    const refused = await removeMember(tx, ref, of.userId);
    assert(refused === null, 'a member who may leave was kept');
  }
}

async function recordOperator(tx: Tx, of: Erasing): Promise<void> {
  await recordChange(tx, {
    chain: NETWORK_CHAIN,
    actor: of.actor,
    action: 'operator.erased',
    objectId: actorId(of.actor),
    livemode: null,
    before: null,
    after: null,
    now: of.now,
  });
}

async function eraseRows(tx: Tx, user: UserRow, now: Date): Promise<void> {
  const { id: userId, email, realm } = user;
  // No address: nobody can sign in with it, ask for a link to it, or be mailed at it.
  const placeholder = `erased ${userId}`;
  await deleteAccessOf(tx, userId);
  await deleteEmailTokens(tx, { realm, email });
  if (realm === 'merchant') await eraseMerchantAddress(tx, { email, placeholder });
  await eraseUser(tx, { userId, placeholder, now });
}

/**
 * Erases a person: every way in ends with the commit, and name, address, devices and factors are
 * gone. The audit log keeps what it says. A last owner, and the last of the staff, hand over first.
 */
export async function erasePerson(deps: PeopleDeps, of: Erasing): Promise<Refusal | null> {
  const { userId, now } = of;
  const done = await deps.db.transaction<UserRow | Refusal>(async (tx) => {
    const staff = of.actor.type === 'operator' ? await lockActiveOperators(tx) : null;
    if (staff?.length === 1) {
      const message = 'You are the last of the staff: add somebody else first.';
      return refuse('unexpected_state', message);
    }
    const user = present(await lockUser(tx, userId), 'user');
    const teams = await lockTeamsOf(tx, userId);
    const refused = checkTeams(teams, of);
    if (refused !== null) return refused;
    await queueMail(tx, deps.secretKey, {
      to: user.email,
      subject: 'Your data at Tapline was erased',
      text:
        'Your user was erased as you asked: nobody can sign in with it any more. If it was not ' +
        "you, tell an owner of your account or the network's operator at once.\n",
      now,
    });
    await leaveTeams(deps, tx, { ...of, teams });
    if (staff !== null) await recordOperator(tx, of);
    await eraseRows(tx, user, now);
    return user;
  });
  if (isRefusal(done)) return done;
  await forgetAttempts(deps.db, emailBucket('sign-in', done.realm, done.email));
  await forgetAttempts(deps.db, secondFactorBucket(userId));
  deps.wakeups.send(MAIL_TOPIC);
  return null;
}
