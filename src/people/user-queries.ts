import type { Sql, Tx } from '#db/database.ts';

/** Merchants' people, or the network's own staff. */
export type Realm = 'merchant' | 'operator';

/** Roles of the network's staff: `support` sees everything and changes nothing. */
export const STAFF_ROLES = ['operator', 'support'] as const;
export type StaffRole = (typeof STAFF_ROLES)[number];

export interface UserRow {
  readonly id: string;
  readonly realm: Realm;
  readonly email: string;
  readonly name: string;
  readonly password_hash: string;
  readonly status: 'active' | 'disabled';
  readonly staff_role: StaffRole;
  readonly totp_secret: Buffer | null;
  readonly totp_confirmed_at: Date | null;
  readonly totp_last_step: bigint | null;
  readonly totp_begun_at: Date | null;
  readonly recovery_codes_saved_at: Date | null;
  /** From when on the factors count for money and access; null: they do. */
  readonly factor_trusted_from: Date | null;
  /** When the factors end, because they were said to be lost; null: they do not. */
  readonly factors_end_at: Date | null;
  readonly created: Date;
}

const COLUMNS = `id, realm, email, name, password_hash, status, staff_role, totp_secret,
  totp_confirmed_at, totp_last_step, totp_begun_at, recovery_codes_saved_at, factor_trusted_from,
  factors_end_at, created`;

export async function insertUser(
  tx: Tx,
  user: {
    readonly id: string;
    readonly realm: Realm;
    readonly email: string;
    readonly name: string;
    readonly passwordHash: string;
    readonly now: Date;
  },
): Promise<void> {
  await tx.query(
    `insert into users (id, realm, email, name, password_hash, created)
     values ($1, $2, $3, $4, $5, $6)`,
    [user.id, user.realm, user.email, user.name, user.passwordHash, user.now],
  );
}

export async function selectUserByEmail(
  sql: Sql,
  wanted: { readonly realm: Realm; readonly email: string },
): Promise<UserRow | undefined> {
  const rows = await sql.query<UserRow>(
    `select ${COLUMNS} from users where realm = $1 and email = $2`,
    [wanted.realm, wanted.email],
  );
  return rows[0];
}

export async function selectUser(sql: Sql, id: string): Promise<UserRow | undefined> {
  const rows = await sql.query<UserRow>(`select ${COLUMNS} from users where id = $1`, [id]);
  return rows[0];
}

export async function lockUser(tx: Tx, id: string): Promise<UserRow | undefined> {
  const rows = await tx.query<UserRow>(`select ${COLUMNS} from users where id = $1 for update`, [
    id,
  ]);
  return rows[0];
}

export async function updatePassword(
  tx: Tx,
  change: { readonly id: string; readonly passwordHash: string },
): Promise<void> {
  await tx.query('update users set password_hash = $2 where id = $1', [
    change.id,
    change.passwordHash,
  ]);
}

export async function updateUserName(
  tx: Tx,
  change: { readonly id: string; readonly name: string },
): Promise<void> {
  await tx.query('update users set name = $2 where id = $1', [change.id, change.name]);
}

export async function updateUserStatus(
  tx: Tx,
  change: { readonly id: string; readonly status: 'active' | 'disabled' },
): Promise<void> {
  await tx.query('update users set status = $2 where id = $1', [change.id, change.status]);
}

/** @returns whether it was another one before. */
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
  return sql.query(
    `select ${COLUMNS} from users
     where realm = 'operator' and erased_at is null order by created, id`,
  );
}
