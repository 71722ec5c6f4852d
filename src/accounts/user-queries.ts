import type { Sql, Tx } from '#db/database.ts';

/** Merchants' people, or the network's own staff. */
export type Realm = 'merchant' | 'operator';

export interface UserRow {
  readonly id: string;
  readonly realm: Realm;
  readonly email: string;
  readonly name: string;
  readonly password_hash: string;
  readonly status: 'active' | 'disabled';
  readonly totp_secret: Buffer | null;
  readonly totp_confirmed_at: Date | null;
  readonly totp_last_step: bigint | null;
  readonly recovery_codes_saved_at: Date | null;
  readonly created: Date;
}

const COLUMNS = `id, realm, email, name, password_hash, status, totp_secret, totp_confirmed_at,
  totp_last_step, recovery_codes_saved_at, created`;

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
  of: { readonly realm: Realm; readonly email: string },
): Promise<UserRow | undefined> {
  const rows = await sql.query<UserRow>(
    `select ${COLUMNS} from users where realm = $1 and email = $2`,
    [of.realm, of.email],
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
  of: { readonly id: string; readonly passwordHash: string },
): Promise<void> {
  await tx.query('update users set password_hash = $2 where id = $1', [of.id, of.passwordHash]);
}

export async function updateUserName(
  tx: Tx,
  of: { readonly id: string; readonly name: string },
): Promise<void> {
  await tx.query('update users set name = $2 where id = $1', [of.id, of.name]);
}

export async function updateUserStatus(
  tx: Tx,
  of: { readonly id: string; readonly status: 'active' | 'disabled' },
): Promise<void> {
  await tx.query('update users set status = $2 where id = $1', [of.id, of.status]);
}

export async function selectOperators(sql: Sql): Promise<UserRow[]> {
  return sql.query(
    `select ${COLUMNS} from users
     where realm = 'operator' and erased_at is null order by created, id`,
  );
}
