import type { Sql } from '#db/database.ts';
import type { Row } from '#db/table.ts';
import { receiptSeries } from '#payments/receipt-numbers.ts';

const SERIES = receiptSeries.pick(['livemode', 'terminal_id', 'kind', 'prefix'], 's');

type Series = Row<typeof SERIES>;

interface NetworkRow {
  readonly livemode: boolean;
  readonly reason: string | null;
  readonly loss_shown: boolean;
  readonly started: Date | null;
  readonly finished: Date | null;
  readonly payments: number;
  readonly refunds: number;
  readonly withdrawals: number;
  readonly canceled: number;
  /** Ended credentials by kind. */
  readonly ended: Readonly<Record<string, number>>;
  readonly alarms: number;
}

interface KindRow {
  readonly kind: string;
  /** When the data in the database last changed; `null` if it is empty. */
  readonly newest: Date | null;
}

/**
 * When data that exists only in the database last changed: later changes may be lost without a
 * trace.
 */
const NEWEST = `
  select * from (values
    ('API keys made', (select max(created) from api_keys)),
    ('API keys revoked', (select max(revoked_at) from api_keys)),
    ('terminals and device keys', (select max(created) from device_keys)),
    ('device keys revoked', (select max(revoked_at) from device_keys)),
    ('payers blocked', (select max(blocked_at) from payers)),
    ('passes made', (select max(created) from passes)),
    ('passes revoked', (select max(revoked_at) from passes)),
    ('chips registered', (select max(created) from chips)),
    ('chips blocked', (select max(blocked_at) from chips)),
    ('webhook endpoints', (select max(created) from webhook_endpoints)),
    ('logos and colors', (select max(updated) from account_brands)),
    ('members and roles', (select max(created) from memberships)),
    ('organizations and their people', (select max(created) from organization_members)),
    ('locations', (select max(created) from locations)),
    ('every change by people (audit log)', (select max(created) from audit_log))
  ) as t (kind, newest)`;

async function selectRecoveries(sql: Sql): Promise<NetworkRow[]> {
  return sql.query(
    `select r.*, (
       select count(*)::int from chain_alarms a
       where a.livemode = r.livemode and a.resolved_at is null
         and a.kind in ('foreign_settlement', 'number_taken', 'order_id_taken',
           'paid_after_failure')) as alarms
     from network_recoveries r order by r.livemode`,
  );
}

function linesOf(row: NetworkRow): string[] {
  const name = row.livemode ? 'mainnet' : 'testnet';
  if (row.started === null) return [`${name}: no recovery was needed so far`];
  const state = row.finished === null ? 'is being recovered' : 'was recovered';
  const loss = row.loss_shown ? 'data was lost' : 'no loss was found';
  const booked = `${row.payments} payments, ${row.refunds} refunds, ${row.withdrawals} withdrawals`;
  return [
    `${name}: ${state}, started ${row.started.toISOString()} (${row.reason}): ${loss}`,
    `  booked from the chain: ${booked}`,
    `  ended: ${row.canceled} unpaid intents`,
    ...Object.entries(row.ended).map(([kind, count]) => `  ended: ${count} ${kind}`),
    `  open alarms that need a decision: ${row.alarms} (GET /relayers)`,
  ];
}

/** Returns the series of receipt numbers that begin again at 1 under a new prefix. */
async function selectNewSeries(sql: Sql): Promise<Series[]> {
  return sql.query(
    `select ${SERIES}
     from receipt_series s
     join network_recoveries r on r.livemode = s.livemode and s.begun_at >= r.started
     where s.after_loss order by s.livemode, s.terminal_id, s.kind`,
  );
}

function seriesLines(series: readonly Series[]): string[] {
  if (series.length === 0) return [];
  return [
    'The receipts of these terminals start a new series, because printed receipts may have the ' +
      'numbers of the lost period:',
    ...series.map(({ livemode, terminal_id, kind, prefix }) => {
      const mode = livemode ? 'live' : 'test';
      return `  ${prefix}-1  ${kind}s of ${terminal_id} (${mode})`;
    }),
  ];
}

/** Lists what the recovery did and what cannot be recovered, for `admin -- after-restore`. */
export async function listAfterRestore(sql: Sql): Promise<string[]> {
  const networks = await selectRecoveries(sql);
  const kinds = await sql.query<KindRow>(NEWEST);
  return [
    ...networks.flatMap(linesOf),
    ...seriesLines(await selectNewSeries(sql)),
    'These cannot be recovered. The newest change of each in this database:',
    ...kinds.map(({ kind, newest }) => `  ${newest?.toISOString() ?? 'none'}  ${kind}`),
    'Ask merchants and staff what they changed after that, above all: keys, passes, roles and PINs',
    'that were revoked, payers that were blocked, limits, spending policies, webhook endpoints.',
  ];
}
