import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';

/** The intervals of automatic payouts. */
export const PAYOUT_PERIODS = ['daily', 'weekly'] as const;
export type PayoutPeriod = (typeof PAYOUT_PERIODS)[number];

export const automaticPayouts = table('automatic_payouts', {
  account_id: 'text',
  livemode: 'boolean',
  every: as<PayoutPeriod>('text'),
  period: 'text',
  status: as<'requested' | 'skipped' | 'waiting'>('text'),
  reason: 'text?',
  withdrawal_id: 'text?',
  updated: 'timestamptz',
});

export type AutomaticPayout = Row<typeof automaticPayouts>;

/** An account and mode whose period may have ended. */
export interface DuePayout {
  readonly account_id: string;
  readonly livemode: boolean;
  readonly every: PayoutPeriod;
  readonly time_zone: string;
  readonly ahead_seconds: bigint;
  /** The newest recorded period; `null` if there is none. */
  readonly period: string | null;
  readonly status: AutomaticPayout['status'] | null;
}

/**
 * Returns accounts and modes whose last recorded period may have a successor by now. The next day
 * ends 34 hours after the beginning of the recorded one at the earliest, in the first time zone;
 * the next week after 13 days and 10 hours.
 */
export async function selectDuePayouts(sql: Sql, now: Date): Promise<DuePayout[]> {
  return sql.query<DuePayout>(
    `select a.id as account_id, m.livemode, a.automatic_payout as every, a.time_zone,
       m.ahead_seconds, last.period, last.status
     from accounts a
     join account_modes m on m.account_id = a.id and m.merchant_number is not null
     left join lateral (
       select p.period, p.status from automatic_payouts p
       where p.account_id = a.id and p.livemode = m.livemode and p.every = a.automatic_payout
       order by p.period desc limit 1
     ) last on true
     where a.automatic_payout is not null and a.status = 'active'
       and (last.period is null or last.status = 'waiting'
         or $1::timestamptz + m.ahead_seconds * interval '1 second'
           >= (last.period::timestamp at time zone 'UTC')
             + case a.automatic_payout when 'daily' then interval '34 hours'
               else interval '322 hours' end)
     order by a.id, m.livemode`,
    [now],
  );
}

/** Returns the newest recorded period. */
export async function selectLastPayout(
  sql: Sql,
  { accountId, livemode }: Tenant,
  every: PayoutPeriod,
): Promise<AutomaticPayout | undefined> {
  return automaticPayouts.find(
    sql,
    `where account_id = $1 and livemode = $2 and every = $3 order by period desc limit 1`,
    [accountId, livemode, every],
  );
}

/** Stores the result of a period. Only a period that is waiting can still change. */
export async function savePayout(tx: Tx, row: AutomaticPayout): Promise<void> {
  const { account_id, livemode, every, period, status, reason, withdrawal_id, updated } = row;
  await automaticPayouts.upsert(
    tx,
    { account_id, livemode, every, period, status, reason, withdrawal_id, updated },
    `on conflict (account_id, livemode, every, period) do update set status = excluded.status,
       reason = excluded.reason, withdrawal_id = excluded.withdrawal_id, updated = excluded.updated
     where automatic_payouts.status = 'waiting'`,
  );
}

/** Ends the wait of all other periods: the payout of this one includes their balance. */
export async function skipOtherWaiting(
  tx: Tx,
  { account_id, livemode, every, period, updated }: Omit<AutomaticPayout, 'status' | 'reason'>,
): Promise<void> {
  await tx.query(
    `update automatic_payouts set status = 'skipped', updated = $5
     where account_id = $1 and livemode = $2 and status = 'waiting'
       and (every, period) <> ($3, $4)`,
    [account_id, livemode, every, period, updated],
  );
}

/** The newest periods of an account and mode. */
export async function selectPayouts(
  sql: Sql,
  { accountId, livemode }: Tenant,
  limit: number,
): Promise<AutomaticPayout[]> {
  return automaticPayouts.list(
    sql,
    'where account_id = $1 and livemode = $2 order by period desc, every limit $3',
    [accountId, livemode, limit],
  );
}
