import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';

/** Users of merchants, or the network's own staff. */
export type Realm = 'merchant' | 'operator';

/** Roles of staff: `support` can see everything and change nothing. */
export const STAFF_ROLES = ['operator', 'support'] as const;
export type StaffRole = (typeof STAFF_ROLES)[number];

export const users = table('users', {
  id: 'text',
  realm: as<Realm>('text'),
  email: 'text',
  name: 'text',
  password_hash: 'text',
  status: as<'active' | 'disabled'>('text'),
  staff_role: as<StaffRole>('text'),
  totp_secret: 'bytea?',
  totp_confirmed_at: 'timestamptz?',
  totp_last_step: 'bigint?',
  totp_begun_at: 'timestamptz?',
  recovery_codes_saved_at: 'timestamptz?',
  /** Time from which the factors are trusted; `null` if they are trusted already. */
  factor_trusted_from: 'timestamptz?',
  /** Time at which factors that were reported lost are removed; `null` if none was reported. */
  factors_end_at: 'timestamptz?',
  created: 'timestamptz',
});

export type UserRow = Row<typeof users>;

/** The columns of a user's authenticator app, if there is none. */
export const NO_TOTP = {
  totp_secret: null,
  totp_confirmed_at: null,
  totp_last_step: null,
  totp_begun_at: null,
};

export async function selectUserByEmail(
  sql: Sql,
  filter: { readonly realm: Realm; readonly email: string },
): Promise<UserRow | undefined> {
  return users.find(sql, 'where realm = $1 and email = $2', [filter.realm, filter.email]);
}

export async function selectUser(sql: Sql, id: string): Promise<UserRow | undefined> {
  return users.find(sql, 'where id = $1', [id]);
}

/** Returns the names of people at the till, users and staff, by ID. */
export async function selectPersonNames(
  sql: Sql,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await sql.query<{ id: string; name: string }>(
    `select id, name from users where id = any($1)
     union all select id, name from staff where id = any($1)`,
    [ids],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export async function lockUser(tx: Tx, id: string): Promise<UserRow | undefined> {
  return users.find(tx, 'where id = $1 for update', [id]);
}

export async function updateUser(
  tx: Tx,
  id: string,
  set: Partial<Omit<UserRow, 'id' | 'created'>>,
): Promise<void> {
  await users.update(tx, set, { where: 'id = $1', values: [id] });
}

/** Changes the role of a staff member. @returns true if the role is different from before. */
export async function updateStaffRole(
  tx: Tx,
  change: { readonly id: string; readonly role: StaffRole },
): Promise<boolean> {
  const rows = await tx.query(
    `update users set staff_role = $2
     where id = $1 and realm = 'operator' and staff_role <> $2 returning id`,
    [change.id, change.role],
  );
  return rows.length === 1;
}

export async function selectOperators(sql: Sql): Promise<UserRow[]> {
  return users.list(sql, `where realm = 'operator' and erased_at is null order by created, id`, []);
}
