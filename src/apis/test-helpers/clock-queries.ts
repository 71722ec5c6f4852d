import type { Sql, Tx } from '#db/database.ts';

/** A test account's clock after it was advanced. */
export interface AdvancedTo {
  /** Seconds ahead of the service's clock. */
  readonly total: number;
  readonly now: Date;
}

// Each statement in this file moves the deadlines in one table, for an account's test mode. They
// come closer on the service's clock, and so stay the same on the account's clock. Spans are whole
// seconds. Past deadlines are moved too, which keeps the distances between them.

/**
 * Advances the account's clock, and locks it until the commit, so that concurrent advances add up.
 * @returns how far the clock is ahead now, in seconds.
 */
export async function addToClock(tx: Tx, accountId: string, seconds: number): Promise<number> {
  const rows = await tx.query<{ total: bigint }>(
    `insert into test_clocks as c (account_id, advanced_seconds) values ($1, $2)
     on conflict (account_id) do update
     set advanced_seconds = c.advanced_seconds + excluded.advanced_seconds
     returning advanced_seconds as total`,
    [accountId, seconds],
  );
  return Number(rows[0]?.total ?? seconds);
}

/**
 * Gives new objects of the account the advanced time from the commit on. Call it last, because it
 * locks the account's commit order. Otherwise, a concurrent writer with the old time could commit
 * later, and its object would seem older.
 */
export async function advanceOrder(tx: Tx, accountId: string, at: AdvancedTo): Promise<void> {
  await tx.query(
    `update account_modes
     set ahead_seconds = $2, stamped_at = greatest(stamped_at, $3)
     where account_id = $1 and not livemode`,
    [accountId, at.total, at.now],
  );
}

export async function selectClock(sql: Sql, accountId: string): Promise<number> {
  const rows = await sql.query<{ total: bigint }>(
    'select advanced_seconds as total from test_clocks where account_id = $1',
    [accountId],
  );
  return Number(rows[0]?.total ?? 0);
}

/** Advances intents that have not ended. Locks them in ID order, as usual. */
export async function advanceIntents(tx: Tx, accountId: string, seconds: number): Promise<void> {
  await tx.query(
    `with due as materialized (
       select id from payment_intents
       where account_id = $1 and not livemode
         and status in ('requires_payment_method', 'requires_action', 'processing')
       order by id for update
     )
     update payment_intents i
     set ahead_seconds = ahead_seconds + $2,
       expires_at = expires_at - $2 * interval '1 second',
       confirm_by = confirm_by - $2 * interval '1 second'
     from due where i.id = due.id`,
    [accountId, seconds],
  );
}

export async function advanceRefundWindows(
  tx: Tx,
  accountId: string,
  seconds: number,
): Promise<void> {
  await tx.query(
    `with due as materialized (
       select id from payments where account_id = $1 and not livemode order by id for update
     )
     update payments p
     set ahead_seconds = ahead_seconds + $2,
       refundable_until = refundable_until - $2 * interval '1 second'
     from due where p.id = due.id`,
    [accountId, seconds],
  );
}

const DEADLINES = [
  { table: 'agent_tokens', column: 'expires_at', which: '' },
  // Requests that are still running keep their keys.
  { table: 'idempotency_keys', column: 'expires_at', which: `and status = 'completed'` },
  { table: 'period_ends', column: 'due', which: '' },
];

/** Advances other deadlines. Call it before locking the commit order, as the workers do. */
export async function advanceDeadlines(tx: Tx, accountId: string, seconds: number): Promise<void> {
  for (const { table, column, which } of DEADLINES) {
    await tx.query(
      `update ${table} set ${column} = ${column} - $2 * interval '1 second'
       where account_id = $1 and not livemode ${which}`,
      [accountId, seconds],
    );
  }
}

/** Deletes events that are older than their retention, by the account's clock. */
export async function dropEventsBefore(tx: Tx, accountId: string, before: Date): Promise<void> {
  await tx.query('delete from events where account_id = $1 and not livemode and created < $2', [
    accountId,
    before,
  ]);
}
