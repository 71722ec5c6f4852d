import { only } from '#core/assert.ts';
import type { Sql } from '#db/database.ts';
import { BEHIND_ALL_NUMBERS } from '#db/paging.ts';
import { as, type Row, table } from '#db/table.ts';

export interface OpenAlarmRow {
  readonly id: bigint;
  readonly livemode: boolean;
  readonly kind: string;
  readonly subject: string;
  readonly details: unknown;
  readonly created: Date;
}

/** The open alarms, newest first. */
export async function selectAlarms(
  sql: Sql,
  wanted: { readonly before: string | null; readonly limit: number },
): Promise<OpenAlarmRow[]> {
  return sql.query(
    `select id, livemode, kind, subject, details, created from chain_alarms
     where resolved_at is null and id < $1
     order by id desc limit $2`,
    [wanted.before ?? BEHIND_ALL_NUMBERS, wanted.limit],
  );
}

/** The number of accounts that sell on this version of a network's contract. */
export async function countAccountsOf(
  sql: Sql,
  contract: { readonly livemode: boolean; readonly contractVersion: number },
): Promise<number> {
  const rows = await sql.query<{ accounts: bigint }>(
    `select count(*) as accounts from account_modes
     where livemode = $1 and merchant_number between $2::bigint << 32 and ($2::bigint + 1) << 32`,
    [contract.livemode, contract.contractVersion],
  );
  return Number(only(rows, 'count').accounts);
}

export const reconciliationDifferences = table('reconciliation_differences', {
  id: 'bigint',
  livemode: 'boolean',
  kind: 'text',
  subject: 'text',
  details: as<unknown>('jsonb'),
  first_seen: 'timestamptz',
  last_seen: 'timestamptz',
  /** When staff accepted the difference, which may then persist. */
  accepted_at: 'timestamptz?',
});

export type DifferenceRow = Row<typeof reconciliationDifferences>;

/** Accepted and unaccepted differences together, the newest first. */
export async function selectOpenDifferences(
  sql: Sql,
  wanted: { readonly before: string | null; readonly limit: number },
): Promise<DifferenceRow[]> {
  return sql.query(
    `select ${reconciliationDifferences.columns}
     from reconciliation_differences
     where resolved_at is null and id < $1
     order by id desc limit $2`,
    [wanted.before ?? BEHIND_ALL_NUMBERS, wanted.limit],
  );
}

export const reconciliationCursors = table('reconciliation_cursors', {
  livemode: 'boolean',
  next_block: 'bigint',
  updated: 'timestamptz',
});

export type CursorRow = Row<typeof reconciliationCursors>;

export async function selectCursors(sql: Sql): Promise<CursorRow[]> {
  return sql.query(
    'select livemode, next_block, updated from reconciliation_cursors order by livemode',
  );
}

export interface RecoveryStateRow {
  readonly livemode: boolean;
  readonly status: 'done' | 'recovering';
  readonly reason: string | null;
  readonly loss_shown: boolean;
  /** The first block to compare; earlier ones were compared before. */
  readonly from_block: bigint | null;
  readonly read_to: bigint | null;
  readonly started: Date | null;
  readonly finished: Date | null;
  readonly payments: number;
  readonly refunds: number;
  readonly withdrawals: number;
  readonly canceled: number;
  readonly credentials: number;
}

export async function selectRecoveries(sql: Sql): Promise<RecoveryStateRow[]> {
  return sql.query(
    `select r.livemode, r.status, r.reason, r.loss_shown,
       coalesce(r.compared_block + 1, c.next_block) as from_block, r.read_to, r.started, r.finished,
       r.payments, r.refunds, r.withdrawals, r.canceled, r.credentials
     from network_recoveries r left join reconciliation_cursors c on c.livemode = r.livemode
     order by r.livemode`,
  );
}
