import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import { type Page, selectPage } from '#db/paging.ts';
import { ofTenant } from '#db/plan-shapes.ts';
import { as, type Row, table } from '#db/table.ts';

export const terminals = table('terminals', {
  id: 'text',
  account_id: 'text',
  livemode: 'boolean',
  position: 'bigint',
  created: 'timestamptz',
  label: 'text',
  name: 'text',
  platform: 'text',
  /** `null` if its software has never reported it. */
  software_version: 'text?',
  status: as<'active' | 'inactive'>('text'),
  last_seen_at: 'timestamptz?',
  version: 'int',
  /** The number of its tag: see tag.ts. */
  tag: 'uuid',
  /** True if its reader reads Google Wallet. */
  smart_tap: 'boolean',
});

export type TerminalRow = Row<typeof terminals>;

export async function selectTerminal(
  sql: Sql,
  tenant: Tenant,
  id: string,
): Promise<TerminalRow | null> {
  const rows = await sql.query<TerminalRow>(
    `select ${terminals.columns} from terminals where id = $1 and ${ofTenant('$2', '$3')}`,
    [id, tenant.accountId, tenant.livemode],
  );
  return rows[0] ?? null;
}

export async function selectTerminalPage(
  sql: Sql,
  wanted: { readonly tenant: Tenant; readonly status: string | null },
  page: Page,
): Promise<TerminalRow[]> {
  const list = {
    table: 'terminals',
    columns: terminals.columns,
    filters: { status: wanted.status },
  };
  return selectPage<TerminalRow>(sql, list, wanted.tenant, page);
}

/** A device key with its terminal and its account's permissions. */
export interface DeviceMerchantRow {
  hash: Buffer;
  terminal_id: string;
  account_id: string;
  livemode: boolean;
  terminal_status: 'active' | 'inactive';
  revoked_at: Date | null;
  account_name: string;
  account_status: 'active' | 'disabled';
  kyb_status: string;
  merchant_number: bigint | null;
}

export async function selectDeviceMerchant(
  sql: Sql,
  hash: Buffer,
): Promise<DeviceMerchantRow | undefined> {
  const rows = await sql.query<DeviceMerchantRow>(
    `select k.hash, k.terminal_id, t.account_id, t.livemode, t.status as terminal_status,
       k.revoked_at,
       a.name as account_name, a.status as account_status, a.kyb_status, m.merchant_number
     from device_keys k
     join terminals t on t.id = k.terminal_id
     join accounts a on a.id = t.account_id
     join account_modes m on m.account_id = t.account_id and m.livemode = t.livemode
     where k.hash = $1`,
    [hash],
  );
  return rows[0];
}

/** One statement for all terminals that were seen at the same time. */
export async function updateLastSeen(sql: Sql, ids: readonly string[], now: Date): Promise<void> {
  await sql.query(
    `update terminals set last_seen_at = $2
     where id = any($1) and (last_seen_at is null or last_seen_at < $2)`,
    [ids, now],
  );
}
