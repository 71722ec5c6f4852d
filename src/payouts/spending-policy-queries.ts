import type { Sql, Tx } from '#db/database.ts';

/**
 * The policy that the payer app proposes for signing (contracts: SpendingPolicy). Amounts are in
 * atoms.
 */
export interface PolicyDefaults {
  readonly per_payment: bigint;
  readonly per_period: bigint;
  readonly period_seconds: number;
  readonly valid_days: number;
  /** Basis points. */
  readonly max_fee_rate: number;
}

export interface VersionedDefaults extends PolicyDefaults {
  /** 0 for the built-in defaults. */
  readonly version: number;
}

export async function selectPolicyDefaults(
  sql: Sql,
  livemode: boolean,
): Promise<VersionedDefaults | undefined> {
  const rows = await sql.query<VersionedDefaults>(
    `select per_payment, per_period, period_seconds, valid_days, max_fee_rate, version
     from spending_policy_defaults where livemode = $1`,
    [livemode],
  );
  return rows[0];
}

/** Stores the defaults. @returns `null` if `version` is no longer current. */
export async function upsertPolicyDefaults(
  tx: Tx,
  livemode: boolean,
  change: { readonly defaults: PolicyDefaults; readonly version: number; readonly now: Date },
): Promise<number | null> {
  const { defaults } = change;
  const rows = await tx.query<{ version: number }>(
    `insert into spending_policy_defaults as d
       (livemode, per_payment, per_period, period_seconds, valid_days, max_fee_rate, updated)
     values ($1, $2, $3, $4, $5, $6, $8)
     on conflict (livemode) do update
     set per_payment = excluded.per_payment, per_period = excluded.per_period,
       period_seconds = excluded.period_seconds, valid_days = excluded.valid_days,
       max_fee_rate = excluded.max_fee_rate, updated = excluded.updated, version = d.version + 1
     where d.version = $7 returning version`,
    [
      livemode,
      defaults.per_payment,
      defaults.per_period,
      defaults.period_seconds,
      defaults.valid_days,
      defaults.max_fee_rate,
      change.version,
      change.now,
    ],
  );
  return rows[0]?.version ?? null;
}
