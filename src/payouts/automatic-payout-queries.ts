import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';

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

/** Stores the result of a period. Only a period that is still waiting can change. */
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

/** Ends the wait of all other periods: this period's payout includes their balance. */
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

/** Ends the wait of all periods of an account. */
export async function skipWaiting(tx: Tx, accountId: string, now: Date): Promise<void> {
  await tx.query(
    `update automatic_payouts set status = 'skipped', reason = 'disabled', updated = $2
     where account_id = $1 and status = 'waiting'`,
    [accountId, now],
  );
}

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
