import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';

/** The ends of the current periods. A trigger of `accounts` adds, marks and removes rows. */
export const periodEnds = table('period_ends', {
  account_id: 'text',
  livemode: 'boolean',
  task: as<'payout' | 'export'>('text'),
  due: 'timestamptz',
});

/** The service's task at the end of a period. */
export type PeriodTask = Row<typeof periodEnds>['task'];

export interface DuePeriod {
  readonly tenant: Tenant;
  readonly task: PeriodTask;
  readonly now: Date;
}

/**
 * Returns accounts of these modes whose period may have ended, those that have waited longest
 * first.
 */
export async function selectDuePeriods(
  sql: Sql,
  input: {
    readonly task: PeriodTask;
    readonly modes: readonly boolean[];
    readonly now: Date;
    readonly limit: number;
  },
): Promise<Tenant[]> {
  const rows = await periodEnds.list(
    sql,
    'where task = $1 and due <= $2 and livemode = any($3) order by due limit $4',
    [input.task, input.now, input.modes, input.limit],
  );
  return rows.map(({ account_id: accountId, livemode }) => ({ accountId, livemode }));
}

/**
 * Lock its account before, and read the test clock only afterwards, because advancing the clock
 * changes the row first.
 * @returns false if the period is no longer due.
 */
export async function lockDuePeriod(tx: Tx, { tenant, task, now }: DuePeriod): Promise<boolean> {
  const rows = await tx.query(
    `select from period_ends
     where account_id = $1 and livemode = $2 and task = $3 and due <= $4 for update`,
    [tenant.accountId, tenant.livemode, task, now],
  );
  return rows.length > 0;
}

export async function updatePeriodDue(
  sql: Sql,
  { tenant, task, now }: DuePeriod,
  due: Date,
): Promise<void> {
  await sql.query(
    `update period_ends set due = $5
     where account_id = $1 and livemode = $2 and task = $3 and due <= $4`,
    [tenant.accountId, tenant.livemode, task, now, due],
  );
}

/** Schedules another try, even if the row already contains the end of the next period. */
export async function postponePeriod(
  sql: Sql,
  { tenant, task, now }: DuePeriod,
  until: Date,
): Promise<void> {
  await sql.query(
    `update period_ends set due = case when due <= $4 then $5 else least(due, $5) end
     where account_id = $1 and livemode = $2 and task = $3`,
    [tenant.accountId, tenant.livemode, task, now, until],
  );
}
