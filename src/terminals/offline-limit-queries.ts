import type { Sql, Tx } from '#db/database.ts';
import { table } from '#db/table.ts';
import type { OfflineRule } from '#terminals/offline-limits.ts';

const offlineRules = table(
  'offline_rules',
  { allowed: 'boolean', per_payment: 'bigint?' },
  { livemode: 'boolean' },
);

/** The rule of a network whose operator has set none. */
const NO_RULE: OfflineRule = { allowed: true, per_payment: null };

export async function selectOfflineRule(sql: Sql, livemode: boolean): Promise<OfflineRule> {
  return (await offlineRules.find(sql, 'where livemode = $1', [livemode])) ?? NO_RULE;
}

/** Writes the rule. @returns the previous one. */
export async function replaceOfflineRule(
  tx: Tx,
  livemode: boolean,
  rule: OfflineRule,
): Promise<OfflineRule> {
  const rest = 'where livemode = $1 for update';
  const before = (await offlineRules.find(tx, rest, [livemode])) ?? NO_RULE;
  const conflict = `on conflict (livemode) do update
    set allowed = excluded.allowed, per_payment = excluded.per_payment`;
  await offlineRules.upsert(tx, { livemode, ...rule }, conflict);
  return before;
}
