import { only } from '#core/assert.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';

/** Returns the first block not watched yet; `null` if the network was never watched. */
export async function selectWatched(sql: Sql, livemode: boolean): Promise<bigint | null> {
  const rows = await sql.query<{ next_block: bigint }>(
    'select next_block from watch_cursors where livemode = $1',
    [livemode],
  );
  return rows[0]?.next_block ?? null;
}

/**
 * Records that all blocks below `next` were examined. With several watchtowers, the highest block
 * counts.
 */
export async function noteLook(
  sql: Sql,
  look: { readonly livemode: boolean; readonly next: bigint; readonly now: Date },
): Promise<void> {
  await sql.query(
    `insert into watch_cursors (livemode, next_block, looked_at) values ($1, $2, $3)
     on conflict (livemode) do update
     set next_block = greatest(watch_cursors.next_block, excluded.next_block),
       looked_at = greatest(watch_cursors.looked_at, excluded.looked_at)`,
    [look.livemode, look.next, look.now],
  );
}

/**
 * True if the ledger is complete: no recovery is running or due, and no question about a restore is
 * open. `position` is the flushed WAL position.
 */
export async function readLedgerState(
  sql: Sql,
  filter: {
    readonly livemode: boolean;
    readonly clusterId: string | null;
    /**
     * When this process noticed that the database was replaced or reset to an earlier state; `null`
     * if it was not.
     */
    readonly changedAt: Date | null;
  },
): Promise<{ readonly complete: boolean; readonly position: string }> {
  const rows = await sql.query<{ complete: boolean; position: string }>(
    `select status = 'done' and doubt is null
       and (cluster_id is null or cluster_id = $2)
       and ($3::timestamptz is null or coalesce(finished > $3, false)) as complete,
       pg_current_wal_flush_lsn()::text as position
     from network_recoveries where livemode = $1`,
    [filter.livemode, filter.clusterId, filter.changedAt],
  );
  return only(rows, 'recovery of a network');
}

export const watchFindings = table('watch_findings', {
  tx_hash: 'text',
  log_index: 'int',
  kind: as<'payment' | 'refund' | 'withdrawal'>('text'),
  amount: as<string>('bigint'),
  /** `null` if no account has that merchant number. */
  account_id: 'text?',
  confirmed: 'boolean',
});

export type FindingRow = Row<typeof watchFindings>;

/**
 * Saves one row per event, even if the event is read several times.
 * @returns the positions of new events.
 */
export async function saveFindings(
  tx: Tx,
  livemode: boolean,
  findings: readonly FindingRow[],
  now: Date,
): Promise<ReadonlySet<string>> {
  if (findings.length === 0) return new Set();
  const rows = await tx.query<{ place: string }>(
    `with saved as (
     insert into watch_findings (livemode, tx_hash, log_index, kind, amount, account_id,
       confirmed, found)
     select $2, f.*, $3 from jsonb_to_recordset($1::jsonb)
       as f (tx_hash text, log_index integer, kind text, amount bigint, account_id text,
         confirmed boolean)
     on conflict (livemode, tx_hash, log_index) do update
     set confirmed = watch_findings.confirmed or excluded.confirmed
     returning tx_hash || '/' || log_index as place, xmax = 0 as is_new
     ) select place from saved where is_new`,
    [JSON.stringify(findings), livemode, now],
  );
  return new Set(rows.map(({ place }) => place));
}

/**
 * Claims the events that two providers returned and that owners were not notified of: each event
 * once, across all watchtowers. `is_silent` is true if the account's owners were notified of
 * another event within the interval.
 */
export async function takeUnreported(
  tx: Tx,
  which: { readonly livemode: boolean; readonly since: Date; readonly now: Date },
): Promise<UnreportedRow[]> {
  const { livemode, since, now } = which;
  return tx.query<UnreportedRow>(
    `with notified as (
       select distinct account_id from watch_findings
       where livemode = $1 and owners_notified_at > $2
     )
     update watch_findings f set owners_notified_at = $3
     where livemode = $1 and confirmed and account_id is not null and owners_notified_at is null
       and found >= $2
     returning account_id, kind, amount, tx_hash,
       exists (select from notified t where t.account_id = f.account_id) as is_silent`,
    [livemode, since, now],
  );
}

export interface UnreportedRow extends Pick<FindingRow, 'kind' | 'tx_hash'> {
  readonly account_id: string;
  readonly amount: bigint;
  readonly is_silent: boolean;
}

/**
 * Returns the atoms that were settled or refunded outside this service, confirmed by two providers.
 */
export async function sumConfirmed(tx: Tx, livemode: boolean, since: Date): Promise<bigint> {
  const rows = await tx.query<{ sum: bigint }>(
    `select coalesce(sum(amount), 0)::bigint as sum from watch_findings
     where livemode = $1 and found >= $2 and confirmed and kind <> 'withdrawal'`,
    [livemode, since],
  );
  return rows[0]?.sum ?? 0n;
}

export type StepName = 'pause_settling' | 'pause_refunding' | 'cancel_wallet';

export interface NewStep {
  readonly step: StepName;
  readonly merchantNumber: bigint;
  readonly reason: string;
}

export async function insertSteps(
  tx: Tx,
  livemode: boolean,
  steps: readonly NewStep[],
  now: Date,
): Promise<void> {
  for (const { step, merchantNumber, reason } of steps) {
    await tx.query(
      `insert into watch_steps (livemode, step, merchant_number, reason, created)
       values ($1, $2, $3, $4, $5) on conflict do nothing`,
      [livemode, step, merchantNumber, reason, now],
    );
  }
}

export const watchSteps = table('watch_steps', {
  id: 'bigint',
  step: as<StepName>('text'),
  merchant_number: 'bigint',
  reason: 'text',
  tries: 'int',
  created: 'timestamptz',
});

export type StepRow = Row<typeof watchSteps>;

export async function selectOpenSteps(sql: Sql, livemode: boolean): Promise<StepRow[]> {
  return watchSteps.list(sql, 'where livemode = $1 and done_at is null order by id', [livemode]);
}

/** Returns how many proposed wallets were canceled at or after this time. */
export async function countCanceled(sql: Sql, livemode: boolean, since: Date): Promise<number> {
  return watchSteps.count(sql, `where livemode = $1 and step = 'cancel_wallet' and done_at >= $2`, [
    livemode,
    since,
  ]);
}

export async function endSteps(sql: Sql, ids: readonly bigint[], now: Date): Promise<void> {
  if (ids.length === 0) return;
  await sql.query('update watch_steps set done_at = $2 where id = any($1)', [ids.map(String), now]);
}

export async function countTries(sql: Sql, ids: readonly bigint[]): Promise<void> {
  await sql.query('update watch_steps set tries = tries + 1 where id = any($1)', [ids.map(String)]);
}

/** Returns the given operations whose scheduled calls have all been reviewed by an operator. */
export async function selectLookedAt(
  tx: Tx,
  livemode: boolean,
  operations: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ id: string }>(
    `select details ->> 'id' as id from chain_alarms
     where livemode = $1 and kind = 'contract_changed' and details ->> 'event' = 'CallScheduled'
       and details ->> 'id' = any($2)
     group by 1 having bool_and(resolved_at is not null)`,
    [livemode, operations],
  );
  return new Set(rows.map(({ id }) => id));
}
