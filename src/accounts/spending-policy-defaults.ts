import type { Actor } from '#accounts/actor.ts';
import { NETWORK_CHAIN, recordChange } from '#accounts/audit.ts';
import { staleVersion } from '#accounts/versions.ts';
import type { Json } from '#core/canonical-json.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import { type Refusal, refuse } from '#core/refusal.ts';
import type { Sql, Tx } from '#db/database.ts';

/** What a payer app proposes to sign (contracts: SpendingPolicy). Amounts in atoms. */
export interface PolicyDefaults {
  readonly per_payment: bigint;
  readonly per_period: bigint;
  readonly period_seconds: number;
  readonly valid_days: number;
  /** Basis points. */
  readonly max_fee_rate: number;
}

/** Until the network says otherwise: 200 USDC a payment, 500 a day, for a year, fees up to 1 %. */
const BUILT_IN: PolicyDefaults = {
  per_payment: 200_000_000n,
  per_period: 500_000_000n,
  period_seconds: 86_400,
  valid_days: 365,
  max_fee_rate: 100,
};

export interface VersionedDefaults extends PolicyDefaults {
  /** 0: nobody has changed the built-in ones. */
  readonly version: number;
}

/** What the payer app of a network proposes now. */
export async function readPolicyDefaults(sql: Sql, livemode: boolean): Promise<VersionedDefaults> {
  const rows = await sql.query<VersionedDefaults>(
    `select per_payment, per_period, period_seconds, valid_days, max_fee_rate, version
     from spending_policy_defaults where livemode = $1`,
    [livemode],
  );
  return rows[0] ?? { ...BUILT_IN, version: 0 };
}

export function policyDefaultsObject(defaults: VersionedDefaults): { [key: string]: Json } {
  return {
    per_payment: toJsonAtoms(defaults.per_payment),
    per_period: toJsonAtoms(defaults.per_period),
    period_seconds: defaults.period_seconds,
    valid_days: defaults.valid_days,
    max_fee_rate: defaults.max_fee_rate,
    version: defaults.version,
  };
}

async function upsert(
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

/** Changes what is proposed from now on; policies that were signed stay as they are. */
export async function savePolicyDefaults(
  tx: Tx,
  ref: { readonly livemode: boolean; readonly actor: Actor; readonly now: Date },
  edit: { readonly defaults: PolicyDefaults; readonly version: number },
): Promise<VersionedDefaults | Refusal> {
  const { livemode, actor, now } = ref;
  const { defaults } = edit;
  if (defaults.per_period < defaults.per_payment) {
    const why = 'per_period must be at least per_payment.';
    return refuse('parameter_invalid', why, 'per_period');
  }
  const before = await readPolicyDefaults(tx, livemode);
  if (before.version !== edit.version) return staleVersion(before.version);
  const version = await upsert(tx, livemode, { ...edit, now });
  if (version === null) return staleVersion(before.version);
  const after = { ...defaults, version };
  await recordChange(tx, {
    chain: NETWORK_CHAIN,
    actor,
    action: 'spending_policy_defaults.changed',
    objectId: networkOf(livemode),
    livemode,
    before: policyDefaultsObject(before),
    after: policyDefaultsObject(after),
    now,
  });
  return after;
}
