import { accountModes, NAMED_ACCOUNT } from '#accounts/account-queries.ts';
import type { Tenant } from '#core/mode.ts';
import type { StoredShopSum } from '#core/shop-limit.ts';
import type { Sql } from '#db/database.ts';
import { type Page, selectPage } from '#db/paging.ts';
import { as, type Row, table } from '#db/table.ts';
import type { StoredLimits } from '#terminals/offline-limits.ts';

export const terminals = table('terminals', {
  id: 'text',
  account_id: 'text',
  livemode: 'boolean',
  position: 'bigint',
  created: 'timestamptz',
  label: 'text',
  name: 'text',
  platform: 'text',
  /** The reported software version; `null` if none was reported. */
  software_version: 'text?',
  status: as<'active' | 'inactive'>('text'),
  last_seen_at: 'timestamptz?',
  version: 'int',
  /** The number of the terminal's tag: see tag-url.ts. */
  tag: 'uuid',
  /** True if the terminal's reader may read Google Wallet. */
  smart_tap: 'boolean',
  location_id: 'text?',
  /** Limits for offline sales; `null` if the terminal may make none. */
  offline: as<StoredLimits | null>('jsonb?'),
  /** Atoms of one sale that it may refund while nobody is signed in; `null` as the account says. */
  refund_limit: 'bigint?',
  refund_limit_presentment: as<StoredShopSum | null>('jsonb?'),
});

export type TerminalRow = Row<typeof terminals>;

export async function selectTerminal(
  sql: Sql,
  tenant: Tenant,
  id: string,
): Promise<TerminalRow | null> {
  return (await terminals.findOwn(sql, tenant, id)) ?? null;
}

export async function selectTerminalPage(
  sql: Sql,
  filter: { readonly tenant: Tenant; readonly status: string | null },
  page: Page,
): Promise<TerminalRow[]> {
  const list = {
    table: 'terminals',
    columns: terminals.columns,
    filters: { status: filter.status },
  };
  return selectPage<TerminalRow>(sql, list, filter.tenant, page);
}

export const deviceKeys = table(
  'device_keys',
  { hash: 'bytea', terminal_id: 'text', revoked_at: 'timestamptz?' },
  { created: 'timestamptz' },
);

const OWNER = terminals.pick(
  { account_id: 'account_id', livemode: 'livemode', terminal_status: 'status' },
  't',
);
const MODE = accountModes.pick(['merchant_number'], 'm');

export type DeviceMerchantRow = Row<typeof deviceKeys> &
  Row<typeof OWNER> &
  Row<typeof NAMED_ACCOUNT> &
  Row<typeof MODE>;

export async function selectDeviceMerchant(
  sql: Sql,
  hash: Buffer,
): Promise<DeviceMerchantRow | undefined> {
  const rows = await sql.query<DeviceMerchantRow>(
    `select ${deviceKeys.of('k')}, ${OWNER}, ${NAMED_ACCOUNT}, ${MODE} from device_keys k
     join terminals t on t.id = k.terminal_id
     join accounts a on a.id = t.account_id
     join account_modes m on m.account_id = t.account_id and m.livemode = t.livemode
     where k.hash = $1`,
    [hash],
  );
  return rows[0];
}

/** Records with one statement that several terminals were seen. */
export async function updateLastSeen(sql: Sql, ids: readonly string[], now: Date): Promise<void> {
  await sql.query(
    `update terminals set last_seen_at = $2
     where id = any($1) and (last_seen_at is null or last_seen_at < $2)`,
    [ids, now],
  );
}
