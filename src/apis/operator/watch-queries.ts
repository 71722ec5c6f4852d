import { accountModes } from '#accounts/account-queries.ts';
import type { Sql } from '#db/database.ts';
import { BEHIND_ALL_NUMBERS } from '#db/paging.ts';
import { as, type Row, table } from '#db/table.ts';
import { chainAlarms } from '#settlement/alarms.ts';
import { networkRecoveries } from '#settlement/network-recovery-queries.ts';
import { reconciliationCursors } from '#settlement/reconciliation/reconcile-queries.ts';

const ALARM = chainAlarms.pick(['id', 'livemode', 'kind', 'subject', 'details', 'created']);

export type OpenAlarmRow = Row<typeof ALARM>;

/** Returns the open alarms, newest first. */
export async function selectAlarms(
  sql: Sql,
  filter: { readonly before: string | null; readonly limit: number },
): Promise<OpenAlarmRow[]> {
  return sql.query(
    `select ${ALARM} from chain_alarms
     where resolved_at is null and id < $1
     order by id desc limit $2`,
    [filter.before ?? BEHIND_ALL_NUMBERS, filter.limit],
  );
}

/** Returns how many accounts use this version of a network's contract. */
export async function countAccountsOf(
  sql: Sql,
  contract: { readonly livemode: boolean; readonly contractVersion: number },
): Promise<number> {
  return accountModes.count(
    sql,
    'where livemode = $1 and merchant_number between $2::bigint << 32 and ($2::bigint + 1) << 32',
    [contract.livemode, contract.contractVersion],
  );
}

export const reconciliationDifferences = table('reconciliation_differences', {
  id: 'bigint',
  livemode: 'boolean',
  kind: 'text',
  subject: 'text',
  details: as<unknown>('jsonb'),
  first_seen: 'timestamptz',
  last_seen: 'timestamptz',
  /** Time at which staff accepted the difference, which may remain unresolved even then. */
  accepted_at: 'timestamptz?',
});

export type DifferenceRow = Row<typeof reconciliationDifferences>;

/** Returns the unresolved differences, accepted or not, newest first. */
export async function selectOpenDifferences(
  sql: Sql,
  filter: { readonly before: string | null; readonly limit: number },
): Promise<DifferenceRow[]> {
  return reconciliationDifferences.list(
    sql,
    'where resolved_at is null and id < $1 order by id desc limit $2',
    [filter.before ?? BEHIND_ALL_NUMBERS, filter.limit],
  );
}

export type CursorRow = Row<typeof reconciliationCursors>;

export async function selectCursors(sql: Sql): Promise<CursorRow[]> {
  return reconciliationCursors.list(sql, 'order by livemode', []);
}

/** `from_block` is the first block that was not compared yet; null if no comparison was made. */
export type RecoveryStateRow = Row<typeof networkRecoveries> & { from_block: bigint | null };

export async function selectRecoveries(sql: Sql): Promise<RecoveryStateRow[]> {
  return sql.query(
    `select ${networkRecoveries.of('r')}, coalesce(r.compared_block + 1, c.next_block) as from_block
     from network_recoveries r left join reconciliation_cursors c on c.livemode = r.livemode
     order by r.livemode`,
  );
}
