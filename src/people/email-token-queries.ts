import type { Sql, Tx } from '#db/database.ts';
import type { Realm } from '#people/user-queries.ts';

export type TokenPurpose = 'sign_up' | 'password_reset';

interface WantedToken {
  readonly hash: Buffer;
  readonly purpose: TokenPurpose;
  readonly realm: Realm;
  readonly now: Date;
}

export async function insertEmailToken(
  tx: Tx,
  token: {
    readonly hash: Buffer;
    readonly purpose: TokenPurpose;
    readonly realm: Realm;
    readonly email: string;
    readonly now: Date;
    readonly expiresAt: Date;
  },
): Promise<void> {
  await tx.query(
    `insert into email_tokens (hash, purpose, realm, email, created, expires_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [token.hash, token.purpose, token.realm, token.email, token.now, token.expiresAt],
  );
}

/** Returns the address that a valid token verifies. */
export async function selectEmailToken(sql: Sql, wanted: WantedToken): Promise<string | undefined> {
  const rows = await sql.query<{ email: string }>(
    `select email from email_tokens
     where hash = $1 and purpose = $2 and realm = $3 and expires_at > $4 and used_at is null`,
    [wanted.hash, wanted.purpose, wanted.realm, wanted.now],
  );
  return rows[0]?.email;
}

/** Consumes the token and returns the address that it verifies. */
export async function takeEmailToken(tx: Tx, wanted: WantedToken): Promise<string | undefined> {
  const rows = await tx.query<{ email: string }>(
    `update email_tokens set used_at = $4
     where hash = $1 and purpose = $2 and realm = $3 and expires_at > $4 and used_at is null
     returning email`,
    [wanted.hash, wanted.purpose, wanted.realm, wanted.now],
  );
  return rows[0]?.email;
}

/** Deletes all links to the address, because one of them was used or the user was erased. */
export async function deleteEmailTokens(
  tx: Tx,
  which: { readonly realm: Realm; readonly email: string },
): Promise<void> {
  await tx.query('delete from email_tokens where realm = $1 and email = $2', [
    which.realm,
    which.email,
  ]);
}

/** Deletes up to `limit` links that ended before `before`. @returns how many. */
export async function deleteOldTokens(sql: Sql, before: Date, limit: number): Promise<number> {
  const rows = await sql.query(
    `delete from email_tokens where hash in
       (select hash from email_tokens where expires_at <= $1 limit $2)
     returning hash`,
    [before, limit],
  );
  return rows.length;
}
