import { auditEntries } from '#audit/audit-queries.ts';
import type { Sql, Tx } from '#db/database.ts';
import { type Row, table } from '#db/table.ts';
import { invitations } from '#people/invitation-queries.ts';
import { memberships } from '#people/membership-queries.ts';
import { users } from '#people/user-queries.ts';

const PERSON = users.pick(['id', 'email', 'name', 'created', 'totp_confirmed_at']);

export type PersonRow = Row<typeof PERSON>;

export async function selectPerson(sql: Sql, userId: string): Promise<PersonRow | undefined> {
  return (await sql.query<PersonRow>(`select ${PERSON} from users where id = $1`, [userId]))[0];
}

export const knownDevices = table(
  'known_devices',
  { user_agent: 'text', address: 'text', created: 'timestamptz', last_used_at: 'timestamptz' },
  { hash: 'bytea', user_id: 'text', expires_at: 'timestamptz' },
);

export type PersonDeviceRow = Row<typeof knownDevices>;

export async function selectDevicesOf(sql: Sql, userId: string): Promise<PersonDeviceRow[]> {
  return knownDevices.list(sql, 'where user_id = $1 order by last_used_at desc', [userId]);
}

const INVITED = invitations.pick([
  'account_id',
  'organization_id',
  'role',
  'created',
  'accepted_at',
]);

export type PersonInvitationRow = Row<typeof INVITED>;

export async function selectInvitationsTo(sql: Sql, email: string): Promise<PersonInvitationRow[]> {
  return sql.query(
    `select ${INVITED} from invitations
     where email = $1 order by created desc`,
    [email],
  );
}

const ACTION = auditEntries.pick(['created', 'action', 'object_id', 'before', 'after', 'address']);

export type PersonActionRow = Row<typeof ACTION>;

/** Returns this person's actions from the audit log, newest first. */
export async function selectActionsOf(
  sql: Sql,
  filter: { readonly userId: string; readonly limit: number },
): Promise<PersonActionRow[]> {
  return sql.query(
    `select ${ACTION} from audit_log
     where actor ->> 'user' = $1 order by created desc limit $2`,
    [filter.userId, filter.limit],
  );
}

const TEAM_MATE = memberships.pick(['account_id', 'user_id', 'role'], 'm');

export type TeamMateRow = Row<typeof TEAM_MATE> & { account_name: string };

/** Locks all memberships of all accounts of this person, in the order that all transactions use. */
export async function lockTeamsOf(tx: Tx, userId: string): Promise<TeamMateRow[]> {
  return tx.query(
    `select ${TEAM_MATE}, a.name as account_name
     from memberships m join accounts a on a.id = m.account_id
     where m.account_id in (select account_id from memberships where user_id = $1)
     order by m.account_id, m.user_id for update of m`,
    [userId],
  );
}

/** Locks all active members of staff. @returns their IDs. */
export async function lockActiveOperators(tx: Tx): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `select id from users where realm = 'operator' and status = 'active' order by id for update`,
  );
  return rows.map((row) => row.id);
}

/** Deletes a person's sessions, known devices, recovery codes, passkeys and passkey challenges. */
export async function deleteAccessOf(tx: Tx, userId: string): Promise<void> {
  await tx.query(
    `with ended as (delete from sessions where user_id = $1),
       devices as (delete from known_devices where user_id = $1),
       codes as (delete from recovery_codes where user_id = $1),
       keys as (delete from passkeys where user_id = $1)
     delete from passkey_challenges where user_id = $1`,
    [userId],
  );
}

/** Deletes invitations to the address and replaces it in owner changes, holds and hold links. */
export async function eraseMerchantAddress(
  tx: Tx,
  which: { readonly email: string; readonly placeholder: string },
): Promise<void> {
  await tx.query(
    `with invited as (delete from invitations where email = $1),
       changes as (update owner_changes set email = $2 where email = $1),
       links as (update payout_hold_links set email = $2 where email = $1)
     update payout_holds set held_by = $2 where held_by = $1`,
    [which.email, which.placeholder],
  );
}

export async function eraseUser(
  tx: Tx,
  which: { readonly userId: string; readonly placeholder: string; readonly now: Date },
): Promise<void> {
  await tx.query(
    `with links as (update person_links set email = $2
       where email = (select email from users where id = $1))
     update users set email = $2, name = '', password_hash = '', status = 'disabled',
       totp_secret = null, totp_confirmed_at = null, totp_last_step = null,
       recovery_codes_saved_at = null, erased_at = $3
     where id = $1 and erased_at is null`,
    [which.userId, which.placeholder, which.now],
  );
}
