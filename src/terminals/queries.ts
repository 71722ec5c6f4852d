import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import { type Page, selectPage } from '#db/paging.ts';

export interface TerminalStatusRow {
  id: string;
  account_id: string;
  livemode: boolean;
  status: 'active' | 'inactive';
}

export async function selectTerminalStatuses(
  sql: Sql,
  ids: readonly string[],
): Promise<TerminalStatusRow[]> {
  return sql.query('select id, account_id, livemode, status from terminals where id = any($1)', [
    ids,
  ]);
}

/** A row of terminals. */
export interface TerminalRow {
  id: string;
  account_id: string;
  livemode: boolean;
  position: bigint;
  created: Date;
  label: string;
  name: string;
  platform: string;
  status: 'active' | 'inactive';
  last_seen_at: Date | null;
}

const COLUMNS = `id, account_id, livemode, position, created, label, name, platform, status,
  last_seen_at`;

export async function selectTerminal(
  sql: Sql,
  tenant: Tenant,
  id: string,
): Promise<TerminalRow | null> {
  const rows = await sql.query<TerminalRow>(
    `select ${COLUMNS} from terminals where id = $1 and account_id = $2 and livemode = $3`,
    [id, tenant.accountId, tenant.livemode],
  );
  return rows[0] ?? null;
}

export async function selectTerminalPage(
  sql: Sql,
  of: { readonly tenant: Tenant; readonly status: string | null },
  page: Page,
): Promise<TerminalRow[]> {
  const list = { table: 'terminals', columns: COLUMNS, filters: { status: of.status } };
  return selectPage<TerminalRow>(sql, list, of.tenant, page);
}
