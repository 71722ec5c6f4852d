import { type Actor, NETWORK_AUDIT_LOG, recordEntry } from '#audit/audit.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import type { Json } from '#core/canonical-json.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import { staleVersion } from '#core/stale-version.ts';
import type { Sql, Tx } from '#db/database.ts';
import {
  type PolicyDefaults,
  selectPolicyDefaults,
  upsertPolicyDefaults,
  type VersionedDefaults,
} from '#payouts/spending-policy-queries.ts';

/**
 * The default until the operator changes it: 200 USDC per payment, 500 per day, for a year, fees up
 * to 1 %.
 */
const BUILT_IN: PolicyDefaults = {
  per_payment: 200_000_000n,
  per_period: 500_000_000n,
  period_seconds: 86_400,
  valid_days: 365,
  max_fee_rate: 100,
};

/** Returns the policy that the payer app of a network currently proposes. */
export async function readPolicyDefaults(sql: Sql, livemode: boolean): Promise<VersionedDefaults> {
  return (await selectPolicyDefaults(sql, livemode)) ?? { ...BUILT_IN, version: 0 };
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

/** Changes the proposed policy. Policies that were already signed stay unchanged. */
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
  const version = await upsertPolicyDefaults(tx, livemode, { ...edit, now });
  if (version === null) return staleVersion(before.version);
  const after = { ...defaults, version };
  await recordEntry(tx, {
    auditLog: NETWORK_AUDIT_LOG,
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
