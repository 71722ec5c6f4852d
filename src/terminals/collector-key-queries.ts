import { only } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { ofTenant } from '#db/plan-shapes.ts';
import { type AllSet, type Row, table } from '#db/table.ts';

export const collectorKeys = table(
  'collector_keys',
  {
    version: 'int',
    collector_id: 'bigint',
    public_key: 'text',
    created: 'timestamptz',
    used_from: 'timestamptz?',
    ended_at: 'timestamptz?',
  },
  { private_key: 'bytea?' },
);

export type CollectorKeyRow = Row<typeof collectorKeys>;

/** Locks the keys, because their number decides which changes are allowed. */
export async function lockCollectorKeys(tx: Tx): Promise<CollectorKeyRow[]> {
  await tx.query('lock table collector_keys in share row exclusive mode');
  return selectCollectorKeys(tx);
}

export function selectCollectorKeys(sql: Sql): Promise<CollectorKeyRow[]> {
  return collectorKeys.list(sql, 'order by version desc', []);
}

/** Begins to use a key, or ends it and erases its private half. */
export async function updateCollectorKey(
  tx: Tx,
  version: number,
  set: { readonly used_from: Date } | { readonly ended_at: Date; readonly private_key: null },
): Promise<CollectorKeyRow> {
  const rows = await collectorKeys.update(tx, set, { where: 'version = $1', values: [version] });
  return only(rows, 'collector key');
}

const USED = collectorKeys.pick(['version', 'collector_id', 'private_key']);
/** A key that was not ended still has its private half. */
type UsedCollectorKey = AllSet<Row<typeof USED>>;

export async function selectUsedCollectorKey(sql: Sql): Promise<UsedCollectorKey | undefined> {
  const rows = await sql.query<UsedCollectorKey>(
    `select ${USED} from collector_keys
     where used_from is not null and ended_at is null
     order by used_from desc, version desc limit 1`,
  );
  return rows[0];
}

export async function selectSmartTap(sql: Sql, tenant: Tenant, id: string): Promise<boolean> {
  const rows = await sql.query<{ smart_tap: boolean }>(
    `select smart_tap from terminals where id = $1 and ${ofTenant('$2', '$3')}`,
    [id, tenant.accountId, tenant.livemode],
  );
  return rows[0]?.smart_tap ?? false;
}
