import type { Json } from '#core/canonical-json.ts';
import type { Sql, Tx } from '#db/database.ts';
import { type Row, table } from '#db/table.ts';

export interface PersonRow {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly created: Date;
  readonly totp_confirmed_at: Date | null;
}

export async function selectPerson(sql: Sql, userId: string): Promise<PersonRow | undefined> {
  const rows = await sql.query<PersonRow>(
    'select id, email, name, created, totp_confirmed_at from users where id = $1',
    [userId],
  );
  return rows[0];
}

export const knownDevices = table('known_devices', {
  user_agent: 'text',
  address: 'text',
  created: 'timestamptz',
  last_used_at: 'timestamptz',
});

export type PersonDeviceRow = Row<typeof knownDevices>;

export async function selectDevicesOf(sql: Sql, userId: string): Promise<PersonDeviceRow[]> {
  return sql.query(
    `select ${knownDevices.columns} from known_devices
     where user_id = $1 order by last_used_at desc`,
    [userId],
  );
}

export interface PersonInvitationRow {
  readonly account_id: string;
  readonly role: string;
  readonly created: Date;
  readonly accepted_at: Date | null;
}

export async function selectInvitationsTo(sql: Sql, email: string): Promise<PersonInvitationRow[]> {
  return sql.query(
    `select account_id, role, created, accepted_at from invitations
     where email = $1 order by created desc`,
    [email],
  );
}

export interface PersonActionRow {
  readonly created: Date;
  readonly action: string;
  readonly object_id: string;
  readonly before: Json;
  readonly after: Json;
  readonly address: string | null;
}

/** This person's actions according to the audit log, newest first. */
export async function selectActionsOf(
  sql: Sql,
  wanted: { readonly userId: string; readonly limit: number },
): Promise<PersonActionRow[]> {
  return sql.query(
    `select created, action, object_id, before, after, address from audit_log
     where actor ->> 'user' = $1 order by created desc limit $2`,
    [wanted.userId, wanted.limit],
  );
}

export interface TeamMateRow {
  readonly account_id: string;
  readonly account_name: string;
  readonly user_id: string;
  readonly role: string;
}

/** Locks all memberships of all accounts of this person, in one order for all transactions. */
export async function lockTeamsOf(tx: Tx, userId: string): Promise<TeamMateRow[]> {
  return tx.query(
    `select m.account_id, a.name as account_name, m.user_id, m.role
     from memberships m join accounts a on a.id = m.account_id
     where m.account_id in (select account_id from memberships where user_id = $1)
     order by m.account_id, m.user_id for update of m`,
    [userId],
  );
}

/** Locks all active members of staff. @returns their ids. */
export async function lockActiveOperators(tx: Tx): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `select id from users where realm = 'operator' and status = 'active' order by id for update`,
  );
  return rows.map((row) => row.id);
}

/** Ends every means of access, and deletes its data. */
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

/** Replaces the address wherever merchants' rows have it, except in the audit log. */
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
