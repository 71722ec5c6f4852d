import { only } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import type { RiskSettings, RiskSettingsRow } from '#risk/settings.ts';

export async function selectRiskSettings(
  sql: Sql,
  tenant: Tenant,
): Promise<RiskSettingsRow | undefined> {
  const rows = await sql.query<RiskSettingsRow>(
    `select first_payment_confirm_from, high_amount_confirm_from, velocity_per_hour, version
     from risk_settings where account_id = $1 and livemode = $2`,
    [tenant.accountId, tenant.livemode],
  );
  return rows[0];
}

/**
 * Writes the policy if it is still at `version` (0: there is none yet).
 * @returns the new version, or null when somebody else has changed it since.
 */
export async function saveRiskSettings(
  tx: Tx,
  tenant: Tenant,
  change: { readonly settings: RiskSettings; readonly version: number; readonly now: Date },
): Promise<number | null> {
  const { settings, version, now } = change;
  const rows = await tx.query<{ version: number }>(
    `insert into risk_settings as r
       (account_id, livemode, first_payment_confirm_from, high_amount_confirm_from,
        velocity_per_hour, updated)
     values ($1, $2, $3, $4, $5, $7)
     on conflict (account_id, livemode) do update
     set first_payment_confirm_from = excluded.first_payment_confirm_from,
       high_amount_confirm_from = excluded.high_amount_confirm_from,
       velocity_per_hour = excluded.velocity_per_hour, version = r.version + 1,
       updated = excluded.updated
     where r.version = $6
     returning version`,
    [
      tenant.accountId,
      tenant.livemode,
      settings.firstPaymentConfirmFrom,
      settings.highAmountConfirmFrom,
      settings.velocityPerHour,
      version,
      now,
    ],
  );
  return rows[0]?.version ?? null;
}

export interface BlockedPayerRow {
  address: string;
  note: string;
  created: Date;
}

export async function selectBlockedPayers(
  sql: Sql,
  tenant: Tenant,
  limit: number,
): Promise<BlockedPayerRow[]> {
  return sql.query(
    `select address, note, created from risk_blocked_payers
     where account_id = $1 and livemode = $2 order by address limit $3`,
    [tenant.accountId, tenant.livemode, limit],
  );
}

export async function insertBlockedPayer(
  tx: Tx,
  tenant: Tenant,
  blocked: { readonly address: string; readonly note: string; readonly now: Date },
): Promise<void> {
  await tx.query(
    `insert into risk_blocked_payers (account_id, livemode, address, note, created)
     values ($1, $2, $3, $4, $5)
     on conflict (account_id, livemode, address) do update set note = excluded.note`,
    [tenant.accountId, tenant.livemode, blocked.address, blocked.note, blocked.now],
  );
}

/** @returns whether it was on the list. */
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

/** What one payer has paid and is paying; see `selectPayerActivity`. */
export interface PayerActivityRow {
  /** Atoms settled since `since.day`, anywhere on the network. */
  settled_today: bigint;
  /** Atoms of attempts under way, anywhere on the network. */
  under_way: bigint;
  paid_here_before: boolean;
  settled_here_within_hour: number;
  under_way_here: number;
  blocked_here: boolean;
}

/**
 * Sums over one payer in ONE statement, so in one snapshot: a settlement that commits meanwhile is
 * either on its way or settled, never both and never neither. Take the payer's lock before.
 */
export async function selectPayerActivity(
  tx: Tx,
  of: {
    readonly payerId: string;
    readonly address: string;
    readonly tenant: Tenant;
    /** The intent that is being decided: its own attempt does not count. */
    readonly exceptIntentId: string;
    readonly since: { readonly day: Date; readonly hour: Date };
  },
): Promise<PayerActivityRow> {
  const rows = await tx.query<PayerActivityRow>(
    `with under_way as materialized (
       select amount, account_id from payment_intents
       where attempt ->> 'payerId' = $1 and status in ('requires_action', 'processing')
         and id <> $5
     )
     select
       (select coalesce(sum(amount), 0)::bigint from payments
        where payer_id = $1 and settled_at >= $6) as settled_today,
       (select coalesce(sum(amount), 0)::bigint from under_way) as under_way,
       exists (select from payments where payer_id = $1 and account_id = $3) as paid_here_before,
       (select count(*)::int from payments
        where payer_id = $1 and account_id = $3 and settled_at > $7) as settled_here_within_hour,
       (select count(*)::int from under_way where account_id = $3) as under_way_here,
       exists (select from risk_blocked_payers
        where account_id = $3 and livemode = $4 and address = $2) as blocked_here`,
    [
      of.payerId,
      of.address,
      of.tenant.accountId,
      of.tenant.livemode,
      of.exceptIntentId,
      of.since.day,
      of.since.hour,
    ],
  );
  return only(rows, 'activity of a payer');
}
