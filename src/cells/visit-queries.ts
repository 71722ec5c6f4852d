import type { Json } from '#core/canonical-json.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';

/** This cell's answers about its own credentials, one per cell that asked. */
export const visits = table('visits', {
  presented: 'bytea',
  cell: 'int',
  intent_id: 'text',
  pass_id: 'text?',
  answer: as<Exclude<Json, null>>('jsonb'),
  at: 'timestamptz',
});

type VisitRow = Row<typeof visits>;

export async function selectVisit(
  sql: Sql,
  { presented, cell }: { readonly presented: Buffer; readonly cell: number },
): Promise<VisitRow | undefined> {
  return visits.find(sql, 'where presented = $1 and cell = $2', [presented, cell]);
}

/** Stores an answer, in place of the previous one to the same cell. */
export async function upsertVisit(tx: Tx, row: VisitRow): Promise<void> {
  const { presented, cell, intent_id, pass_id, answer, at } = row;
  await visits.upsert(
    tx,
    { presented, cell, intent_id, pass_id, answer, at },
    `on conflict (presented, cell) do update
     set intent_id = excluded.intent_id, pass_id = excluded.pass_id, answer = excluded.answer,
       at = excluded.at`,
  );
}

export async function deleteOldVisits(tx: Tx, before: Date, limit: number): Promise<void> {
  await tx.query(
    `delete from visits where ctid in (select ctid from visits where at < $1 limit $2)`,
    [before, limit],
  );
}

/**
 * Returns the answers given to a cell after `since` that are no longer true: the pass was revoked
 * or erased, or its payer blocked.
 */
export async function selectEndedVisits(
  sql: Sql,
  filter: { readonly cell: number; readonly since: Date; readonly limit: number },
): Promise<Buffer[]> {
  const rows = await sql.query<{ presented: Buffer }>(
    `select v.presented
     from visits v left join passes p on p.id = v.pass_id left join payers y on y.id = p.payer_id
     where v.cell = $1 and v.pass_id is not null and v.at > $2
       and (p.id is null or p.revoked_at is not null or y.blocked_at is not null)
     limit $3`,
    [filter.cell, filter.since, filter.limit],
  );
  return rows.map(({ presented }) => presented);
}

/** Deletes answers after the asking cell was notified that they are no longer true. */
export async function deleteVisits(
  sql: Sql,
  told: { readonly cell: number; readonly presented: readonly Buffer[] },
): Promise<void> {
  await sql.query('delete from visits where cell = $1 and presented = any($2)', [
    told.cell,
    told.presented,
  ]);
}

/**
 * Returns the home cell's answer, if given after `since`; undefined if the cell must be asked
 * again.
 */
export async function selectVisitingPass(
  sql: Sql,
  filter: { readonly presented: Buffer; readonly since: Date },
): Promise<Json | undefined> {
  const rows = await sql.query<{ answer: Json }>(
    'select answer from visiting_passes where presented = $1 and asked_at > $2',
    [filter.presented, filter.since],
  );
  return rows[0]?.answer;
}

export async function upsertVisitingPass(
  tx: Tx,
  pass: { readonly presented: Buffer; readonly answer: Json; readonly now: Date },
): Promise<void> {
  await tx.query(
    `insert into visiting_passes (presented, answer, asked_at) values ($1, $2, $3)
     on conflict (presented) do update set answer = excluded.answer, asked_at = excluded.asked_at`,
    [pass.presented, JSON.stringify(pass.answer), pass.now],
  );
}

export async function deleteOldVisitingPasses(tx: Tx, before: Date, limit: number): Promise<void> {
  await tx.query(
    `delete from visiting_passes
     where ctid in (select ctid from visiting_passes where asked_at < $1 limit $2)`,
    [before, limit],
  );
}

export async function deleteVisitingPasses(sql: Sql, presented: readonly Buffer[]): Promise<void> {
  await sql.query('delete from visiting_passes where presented = any($1)', [presented]);
}
