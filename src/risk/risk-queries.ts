import type { Tenant } from '#core/mode.ts';
import { type Limit, storedShopSum } from '#core/shop-limit.ts';
import type { Sql, Tx } from '#db/database.ts';
import { type Row, table } from '#db/table.ts';
import {
  type RiskLimits,
  type RiskSettings,
  type RiskSettingsRow,
  riskSettings,
} from '#risk/risk-settings.ts';

export async function selectRiskSettings(
  sql: Sql,
  tenant: Tenant,
): Promise<RiskSettingsRow | undefined> {
  const values = [tenant.accountId, tenant.livemode];
  return riskSettings.find(sql, 'where account_id = $1 and livemode = $2', values);
}

/** Returns the policies of several accounts and modes; accounts without a policy are omitted. */
export async function selectRiskSettingsOf(
  sql: Sql,
  tenants: readonly Tenant[],
): Promise<(RiskSettingsRow & { account_id: string; livemode: boolean })[]> {
  return sql.query(
    `select account_id, livemode, ${riskSettings.columns} from risk_settings
     where (account_id, livemode) in (
       select * from unnest($1::text[], $2::boolean[]))`,
    [tenants.map((tenant) => tenant.accountId), tenants.map((tenant) => tenant.livemode)],
  );
}

/**
 * Writes the policy if the row is still at `version` (0 if there is none yet).
 * @returns the new version, or `null` if another request has changed the policy.
 */
export async function saveRiskSettings(
  tx: Tx,
  tenant: Tenant,
  change: {
    readonly settings: RiskSettings;
    /** The limits of the settings that were set in the shop's currency. */
    readonly limits?: RiskLimits;
    readonly version: number;
    readonly now: Date;
  },
): Promise<number | null> {
  const { settings, limits, version, now } = change;
  const inShop = (limit: Limit | null | undefined) => (limit == null ? null : storedShopSum(limit));
  const row = await riskSettings.upsert(
    tx,
    {
      ...{ account_id: tenant.accountId, livemode: tenant.livemode },
      first_payment_confirm_from: settings.firstPaymentConfirmFrom,
      high_amount_confirm_from: settings.highAmountConfirmFrom,
      first_payment_confirm_from_presentment: inShop(limits?.first),
      high_amount_confirm_from_presentment: inShop(limits?.high),
      velocity_per_hour: settings.velocityPerHour,
      ...{ version: version + 1, updated: now },
    },
    `on conflict (account_id, livemode) do update
     set first_payment_confirm_from = excluded.first_payment_confirm_from,
       high_amount_confirm_from = excluded.high_amount_confirm_from,
       first_payment_confirm_from_presentment = excluded.first_payment_confirm_from_presentment,
       high_amount_confirm_from_presentment = excluded.high_amount_confirm_from_presentment,
       velocity_per_hour = excluded.velocity_per_hour, version = excluded.version,
       updated = excluded.updated
     where risk_settings.version = excluded.version - 1`,
  );
  return row?.version ?? null;
}

export const riskBlockedPayers = table('risk_blocked_payers', {
  address: 'text',
  note: 'text',
  created: 'timestamptz',
});

export type BlockedPayerRow = Row<typeof riskBlockedPayers>;

export async function selectBlockedPayers(
  sql: Sql,
  tenant: Tenant,
  limit: number,
): Promise<BlockedPayerRow[]> {
  return riskBlockedPayers.list(
    sql,
    'where account_id = $1 and livemode = $2 order by address limit $3',
    [tenant.accountId, tenant.livemode, limit],
  );
}

export async function insertBlockedPayer(
  tx: Tx,
  tenant: Tenant,
  blocked: { readonly address: string; readonly note: string; readonly now: Date },
): Promise<void> {
  await tx.query(
    `insert into risk_blocked_payers (account_id, livemode, ${riskBlockedPayers.columns})
     values ($1, $2, $3, $4, $5)
     on conflict (account_id, livemode, address) do update set note = excluded.note`,
    [tenant.accountId, tenant.livemode, blocked.address, blocked.note, blocked.now],
  );
}

/** Removes a payer from the blocklist. @returns true if the payer was on the list. */
export async function deleteBlockedPayer(
  tx: Tx,
  tenant: Tenant,
  address: string,
): Promise<boolean> {
  const rows = await tx.query(
    `delete from risk_blocked_payers
     where account_id = $1 and livemode = $2 and address = $3 returning address`,
    [tenant.accountId, tenant.livemode, address],
  );
  return rows.length === 1;
}

export interface PayerActivity {
  /** Atoms settled since `day`, anywhere on the network. */
  readonly settled_today: bigint;
  /** Atoms of attempts in progress, anywhere on the network. */
  readonly under_way: bigint;
  readonly paid_here_before: boolean;
  readonly settled_here_within_hour: number;
  readonly under_way_here: number;
  readonly blocked_here: boolean;
  /** Rejections within the hour at the account: by this payer, and by all payers. */
  readonly refused_within_hour: number;
  readonly refused_here_within_hour: number;
}

export interface ActivityOf {
  readonly payerId: string;
  readonly address: string;
  readonly tenant: Tenant;
  /** The intent that is being decided, whose own attempt does not count. */
  readonly exceptIntentId: string;
  /** By the account's clock: the start of today, and the time an hour ago. */
  readonly day: Date;
  readonly hour: Date;
}

/**
 * SQL: an expression with its own index (docs/decisions/plans.md), so that the planner does not use
 * the indexes on payer or account.
 */
const PAID_HERE = 'p.payer_id || p.account_id = o.payer_id || o.account_id';

/**
 * Sums over payers in one statement, and so in one snapshot: a settlement that commits meanwhile
 * counts either as in progress or as settled. Lock the payers first. Avoids `exists`, because for
 * many rows PostgreSQL would evaluate it with a hash of all payments, built per call.
 * @returns one result per entry, in order.
 */
export async function selectPayerActivities(
  tx: Tx,
  activities: readonly ActivityOf[],
): Promise<PayerActivity[]> {
  return tx.query(
    `select
       (select coalesce(sum(p.amount), 0)::bigint from payments p
        where p.payer_id = o.payer_id and p.settled_at >= o.day) as settled_today,
       w.under_way, w.under_way_here,
       (select true from payments p where ${PAID_HERE} limit 1) is not null as paid_here_before,
       (select count(*)::int from payments p
        where ${PAID_HERE} and p.settled_at > o.hour) as settled_here_within_hour,
       (select true from risk_blocked_payers b
        where b.account_id = o.account_id and b.livemode = o.livemode and b.address = o.address)
         is not null as blocked_here,
       (select count(*)::int from payer_refusals r
        where r.account_id = o.account_id and r.livemode = o.livemode
          and r.payer_id = o.payer_id and r.refused_at > o.hour) as refused_within_hour,
       (select count(*)::int from payer_refusals r
        where r.account_id = o.account_id and r.livemode = o.livemode
          and r.refused_at > o.hour) as refused_here_within_hour
     from unnest(
         $1::text[], $2::text[], $3::text[], $4::boolean[],
         $5::text[], $6::timestamptz[], $7::timestamptz[])
       with ordinality
       as o (payer_id, address, account_id, livemode, except_id, day, hour, place)
     cross join lateral (
       select coalesce(sum(i.amount + coalesce((i.attempt ->> 'tip')::bigint, 0)), 0)::bigint
           as under_way,
         (count(*) filter (where i.account_id = o.account_id))::int as under_way_here
       from payment_intents i
       where i.attempt ->> 'payerId' = o.payer_id
         and i.status in ('requires_action', 'processing') and i.id <> o.except_id
     ) w
     order by o.place`,
    [
      activities.map((one) => one.payerId),
      activities.map((one) => one.address),
      activities.map((one) => one.tenant.accountId),
      activities.map((one) => one.tenant.livemode),
      activities.map((one) => one.exceptIntentId),
      activities.map((one) => one.day),
      activities.map((one) => one.hour),
    ],
  );
}

interface RefusalOf {
  readonly tenant: Tenant;
  readonly payerId: string;
}

/** Records a payer's rejection, and deletes the account's rejections from before `until`. */
export async function insertRefusal(
  tx: Tx,
  { tenant, payerId }: RefusalOf,
  times: { readonly at: Date; readonly until: Date },
): Promise<void> {
  const { accountId, livemode } = tenant;
  await tx.query(
    `with old as (
       delete from payer_refusals where ctid in (
         select ctid from payer_refusals
         where account_id = $1 and livemode = $2 and refused_at <= $5
         limit 100 for update skip locked))
     insert into payer_refusals (account_id, livemode, payer_id, refused_at)
     values ($1, $2, $3, $4)`,
    [accountId, livemode, payerId, times.at, times.until],
  );
}

/** Deletes a payer's rejections, because an approval shows that the payer knows the merchant. */
export async function deleteRefusals(tx: Tx, { tenant, payerId }: RefusalOf): Promise<void> {
  await tx.query(
    'delete from payer_refusals where account_id = $1 and livemode = $2 and payer_id = $3',
    [tenant.accountId, tenant.livemode, payerId],
  );
}
