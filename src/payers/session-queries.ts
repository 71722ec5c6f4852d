import type { Sql, Tx } from '#db/database.ts';
import { table } from '#db/table.ts';
import { type PayerRow, payers } from '#payers/payer-queries.ts';

export const payerSessions = table(
  'payer_sessions',
  { created: 'timestamptz', expires_at: 'timestamptz' },
  { hash: 'bytea', payer_id: 'text' },
);

export async function insertNonce(
  sql: Sql,
  nonce: { readonly hash: Buffer; readonly now: Date; readonly expiresAt: Date },
): Promise<void> {
  await sql.query('insert into payer_nonces (hash, created, expires_at) values ($1, $2, $3)', [
    nonce.hash,
    nonce.now,
    nonce.expiresAt,
  ]);
}

export async function isNonceValid(sql: Sql, hash: Buffer, now: Date): Promise<boolean> {
  const rows = await sql.query('select from payer_nonces where hash = $1 and expires_at > $2', [
    hash,
    now,
  ]);
  return rows.length > 0;
}

/** Consumes the nonce. @returns true if it existed and had not expired. */
export async function takeNonce(tx: Tx, hash: Buffer, now: Date): Promise<boolean> {
  const rows = await tx.query<{ expires_at: Date }>(
    'delete from payer_nonces where hash = $1 returning expires_at',
    [hash],
  );
  return rows[0] !== undefined && rows[0].expires_at > now;
}

/** Deletes up to `limit` expired rows. */
export async function deleteExpiredAccess(sql: Sql, now: Date, limit: number): Promise<void> {
  await sql.query(
    `with nonces as (
       delete from payer_nonces where hash in (
         select hash from payer_nonces where expires_at <= $1 limit $2 for update skip locked)
     )
     delete from payer_sessions where hash in (
       select hash from payer_sessions where expires_at <= $1 limit $2 for update skip locked)`,
    [now, limit],
  );
}

/** Stores the time of the wallet's new signature. @returns true if the session still exists. */
export async function renewSignature(
  sql: Sql,
  session: { readonly hash: Buffer; readonly payerId: string; readonly now: Date },
): Promise<boolean> {
  const rows = await sql.query(
    `update payer_sessions set signed_at = $3
     where hash = $1 and payer_id = $2 and expires_at > $3 returning 1 as renewed`,
    [session.hash, session.payerId, session.now],
  );
  return rows.length > 0;
}

export async function deleteSession(sql: Sql, hash: Buffer): Promise<void> {
  await sql.query('delete from payer_sessions where hash = $1', [hash]);
}

/** A payer, and the time of the wallet's latest signature in this session. */
export type SessionPayerRow = PayerRow & { signed_at: Date };

/** Returns the payer of this session; undefined if the session has ended. */
export async function selectSessionPayer(
  sql: Sql,
  hash: Buffer,
  now: Date,
): Promise<SessionPayerRow | undefined> {
  const rows = await sql.query<SessionPayerRow>(
    `select coalesce(s.signed_at, s.created) as signed_at, ${payers.of('p')}
     from payer_sessions s join payers p on p.id = s.payer_id
     where s.hash = $1 and s.expires_at > $2`,
    [hash, now],
  );
  return rows[0];
}
