import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';
import { deletingExpired } from '#people/expired-queries.ts';
import type { Realm } from '#people/user-queries.ts';

export type TokenPurpose = 'sign_up' | 'password_reset';

export const emailTokens = table('email_tokens', {
  hash: 'bytea',
  purpose: as<TokenPurpose>('text'),
  realm: as<Realm>('text'),
  email: 'text',
  created: 'timestamptz',
  expires_at: 'timestamptz',
});

type WantedToken = Pick<Row<typeof emailTokens>, 'hash' | 'purpose' | 'realm'> & {
  readonly now: Date;
};

const VALID = 'hash = $1 and purpose = $2 and realm = $3 and expires_at > $4 and used_at is null';

function valuesOf({ hash, purpose, realm, now }: WantedToken): unknown[] {
  return [hash, purpose, realm, now];
}

/** Returns the address that a valid token verifies. */
export async function selectEmailToken(sql: Sql, filter: WantedToken): Promise<string | undefined> {
  return (await emailTokens.find(sql, `where ${VALID}`, valuesOf(filter)))?.email;
}

/** Consumes the token and returns the address that it verifies. */
export async function takeEmailToken(tx: Tx, filter: WantedToken): Promise<string | undefined> {
  const valid = { where: VALID, values: valuesOf(filter), also: 'used_at = $4' };
  return (await emailTokens.update(tx, {}, valid))[0]?.email;
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

export const deleteOldTokens = deletingExpired('email_tokens', {
  key: 'hash',
  expired: 'expires_at <= $1',
});
