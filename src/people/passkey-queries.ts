import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';
import type { Realm } from '#people/user-queries.ts';

export const passkeys = table('passkeys', {
  id: 'text',
  user_id: 'text',
  credential_id: 'text',
  public_key: 'bytea',
  counter: 'bigint',
  transports: as<string[]>('text[]'),
  name: 'text',
  created: 'timestamptz',
  last_used_at: 'timestamptz?',
});

export type PasskeyRow = Row<typeof passkeys>;

export async function countPasskeys(sql: Sql, userId: string): Promise<number> {
  return passkeys.count(sql, 'where user_id = $1', [userId]);
}

export async function selectPasskeys(sql: Sql, userId: string): Promise<PasskeyRow[]> {
  return passkeys.list(sql, 'where user_id = $1 order by created, id', [userId]);
}

export async function lockPasskey(tx: Tx, credentialId: string): Promise<PasskeyRow | undefined> {
  return passkeys.find(tx, 'where credential_id = $1 for update', [credentialId]);
}

export async function updatePasskeyUse(
  tx: Tx,
  change: { readonly id: string; readonly counter: number; readonly now: Date },
): Promise<void> {
  const set = { counter: change.counter, last_used_at: change.now };
  await passkeys.update(tx, set, { where: 'id = $1', values: [change.id] });
}

export async function deletePasskey(
  tx: Tx,
  which: { readonly id: string; readonly userId: string },
): Promise<PasskeyRow | undefined> {
  const rows = await tx.query<PasskeyRow>(
    `delete from passkeys where id = $1 and user_id = $2 returning ${passkeys.columns}`,
    [which.id, which.userId],
  );
  return rows[0];
}

export async function deletePasskeysOf(tx: Tx, userId: string): Promise<void> {
  await tx.query('delete from passkeys where user_id = $1', [userId]);
}

export type ChallengePurpose = 'register' | 'sign_in' | 'second_factor';

export async function insertChallenge(
  sql: Sql,
  challenge: {
    readonly hash: Buffer;
    readonly userId: string | null;
    readonly realm: Realm;
    readonly purpose: ChallengePurpose;
    readonly expiresAt: Date;
  },
): Promise<void> {
  await sql.query(
    `insert into passkey_challenges (hash, user_id, realm, purpose, expires_at)
     values ($1, $2, $3, $4, $5)`,
    [challenge.hash, challenge.userId, challenge.realm, challenge.purpose, challenge.expiresAt],
  );
}

/** Consumes the challenge, even if the response turns out wrong: each allows one response. */
export async function takeChallenge(
  sql: Sql,
  filter: {
    readonly hash: Buffer;
    readonly realm: Realm;
    readonly purpose: ChallengePurpose;
    readonly now: Date;
  },
): Promise<{ user_id: string | null } | undefined> {
  const rows = await sql.query<{ user_id: string | null }>(
    `delete from passkey_challenges
     where hash = $1 and realm = $2 and purpose = $3 and expires_at > $4 returning user_id`,
    [filter.hash, filter.realm, filter.purpose, filter.now],
  );
  return rows[0];
}

export async function deleteExpiredChallenges(sql: Sql, now: Date): Promise<void> {
  await sql.query('delete from passkey_challenges where expires_at <= $1', [now]);
}
