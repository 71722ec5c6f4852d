import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';
import type { Log } from '#observability/log.ts';
import type { Outcome } from '#settlement/chain-requests.ts';

/** A condition that an operator must look into. */
export interface Alarm {
  readonly kind: string;
  readonly subject: string;
  readonly details: { readonly [key: string]: unknown };
}

/**
 * While an alarm is open, another of its kind and subject is ignored, so the details stay those of
 * the first.
 */
export async function insertAlarms(
  tx: Tx,
  livemode: boolean,
  alarms: readonly Alarm[],
  now: Date,
): Promise<void> {
  if (alarms.length === 0) return;
  await tx.query(
    `insert into chain_alarms (livemode, kind, subject, details, created)
     select $2, i.*, $3
     from jsonb_to_recordset($1::jsonb) as i (kind text, subject text, details jsonb)
     on conflict do nothing`,
    [JSON.stringify(alarms, bigintText), livemode, now],
  );
}

function bigintText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

/**
 * Raises an alarm about a settlement result whose object does not exist or is not waiting for one.
 * This should never happen, because only a result ends the wait; if it does, money may have moved
 * without a record. The alarm commits in the transaction that marks the result as applied.
 */
export async function alarmUnfit(
  tx: Tx,
  outcome: Outcome,
  state: { readonly status: string | null; readonly now: Date; readonly log: Log },
): Promise<void> {
  const { requestId, kind, livemode, subjectId, result } = outcome;
  const details = { kind, requestId: requestId.toString(), status: state.status, result };
  const alarm = { kind: 'outcome_unfit', subject: subjectId, details };
  await insertAlarms(tx, livemode, [alarm], state.now);
  state.log.error('settlement alarm: outcome_unfit', { subject: subjectId, ...details });
}

export const chainAlarms = table(
  'chain_alarms',
  {
    id: 'bigint',
    kind: 'text',
    subject: 'text',
    details: as<unknown>('jsonb'),
    created: 'timestamptz',
  },
  { livemode: 'boolean' },
);

export type AlarmRow = Row<typeof chainAlarms>;

export async function selectOpenAlarms(
  sql: Sql,
  filter: { readonly livemode: boolean; readonly limit: number },
): Promise<AlarmRow[]> {
  return chainAlarms.list(
    sql,
    'where livemode = $1 and resolved_at is null order by id desc limit $2',
    [filter.livemode, filter.limit],
  );
}

/** @returns true if it was open. */
export async function resolveAlarm(sql: Sql, id: bigint, now: Date): Promise<boolean> {
  const rows = await sql.query(
    'update chain_alarms set resolved_at = $2 where id = $1 and resolved_at is null returning id',
    [id, now],
  );
  return rows.length > 0;
}
