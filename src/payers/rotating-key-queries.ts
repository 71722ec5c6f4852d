import type { Sql, Tx } from '#db/database.ts';
import { type Row, table } from '#db/table.ts';
import { type PayerRow, payers, type TappedPass } from '#payers/payer-queries.ts';

export const rotatingKeys = table('rotating_keys', {
  pass_id: 'text',
  /** Encrypted: see rotating-code.ts. */
  key: 'bytea',
  last_step: 'bigint',
  lost_step: 'bigint',
  wrong_at: 'timestamptz[]',
  blocked_until: 'timestamptz?',
});

export type RotatingKeyRow = Row<typeof rotatingKeys>;

interface NewKey {
  readonly passId: string;
  readonly key: Buffer;
  readonly now: Date;
}

const STORE = `insert into rotating_keys (pass_id, key, created) values ($1, $2, $3)
  on conflict (pass_id) do`;

/** Stores a new key, without used steps. A block stays, because it belongs to the pass. */
export async function upsertRotatingKey(tx: Tx, { passId, key, now }: NewKey): Promise<void> {
  await tx.query(
    `${STORE} update
       set key = excluded.key, created = excluded.created, last_step = -1, lost_step = -1`,
    [passId, key, now],
  );
}

/** If two are stored concurrently, the first one stays. */
export async function insertFirstRotatingKey(tx: Tx, { passId, key, now }: NewKey): Promise<void> {
  await tx.query(`${STORE} nothing`, [passId, key, now]);
}

export async function selectPayersOfRotating(
  sql: Sql,
  passIds: readonly string[],
): Promise<(PayerRow & { credential: string })[]> {
  return sql.query(
    `select r.pass_id as credential, ${payers.of('y')}
     from rotating_keys r join passes p on p.id = r.pass_id join payers y on y.id = p.payer_id
     where r.pass_id = any($1::text[])`,
    [passIds],
  );
}

/** Locks keys in pass ID order, so that concurrent codes of one pass are decided one at a time. */
export async function lockRotatingKeys(
  tx: Tx,
  passIds: readonly string[],
): Promise<(RotatingKeyRow & TappedPass)[]> {
  return tx.query(
    `select ${rotatingKeys.of('r')}, p.id, p.payer_id, p.revoked_at
     from rotating_keys r join passes p on p.id = r.pass_id
     where r.pass_id = any($1::text[]) order by r.pass_id for update of r`,
    [passIds],
  );
}

/** Stores a used step, which never decreases, or a wrong guess. @returns the rows written. */
export async function updateRotatingKey(tx: Tx, row: RotatingKeyRow): Promise<number> {
  const rows = await tx.query(
    `update rotating_keys set last_step = $2, wrong_at = $3, blocked_until = $4
     where pass_id = $1 and last_step <= $2 returning 1 as written`,
    [row.pass_id, row.last_step, row.wrong_at, row.blocked_until],
  );
  return rows.length;
}

/** Returns a test-mode pass and its key; undefined if there is no active pass with this ID. */
export async function selectTestRotating(
  sql: Sql,
  passId: string,
): Promise<{ pass_id: string; key: Buffer | null } | undefined> {
  const rows = await sql.query<{ pass_id: string; key: Buffer | null }>(
    `select p.id as pass_id, r.key from passes p
     join payers y on y.id = p.payer_id left join rotating_keys r on r.pass_id = p.id
     where p.id = $1 and not y.livemode and p.revoked_at is null`,
    [passId],
  );
  return rows[0];
}
