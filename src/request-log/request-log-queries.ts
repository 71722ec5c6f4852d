import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import { type Row, table } from '#db/table.ts';

export const requestLog = table('request_log', {
  id: 'text',
  created: 'timestamptz',
  account_id: 'text?',
  livemode: 'boolean?',
  caller_id: 'text?',
  operation: 'text?',
  method: 'text',
  path: 'text',
  status: 'int',
  code: 'text?',
  object_id: 'text?',
  idempotency_key: 'text?',
  api_version: 'text',
  duration_ms: 'real',
  address: 'text',
  user_agent: 'text?',
});

export type RequestRow = Row<typeof requestLog>;

export interface RequestFilters {
  readonly status: number | null;
  /** Only responses with a status from 400 on. */
  readonly failed: boolean;
  /** Only calls by API key, not those of users or tills. */
  readonly byServers: boolean;
  readonly operation: string | null;
  readonly callerId: string | null;
  /** The changed object. Only requests that change something have one. */
  readonly objectId: string | null;
  readonly createdGte: Date | null;
  readonly createdLt: Date | null;
}

export interface RequestPage {
  readonly limit: number;
  readonly after: { readonly created: Date; readonly id: string } | null;
}

/** Returns one page, newest first, and one row more if there is a next page. */
export async function selectRequests(
  sql: Sql,
  filter: { readonly tenant: Tenant; readonly filters: RequestFilters },
  page: RequestPage,
): Promise<RequestRow[]> {
  const { tenant, filters } = filter;
  const values: unknown[] = [tenant.accountId, tenant.livemode];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['account_id = $1', 'livemode = $2'];
  const add = (condition: string, value: unknown) => {
    if (value !== null) conditions.push(`${condition} ${parameter(value)}`);
  };
  add('status =', filters.status);
  add('operation =', filters.operation);
  add('caller_id =', filters.callerId);
  add('object_id =', filters.objectId);
  add('created >=', filters.createdGte);
  add('created <', filters.createdLt);
  // Write the number into the statement, because the planner uses no partial index for a parameter.
  if (filters.failed || Number(filters.status) >= 400) conditions.push('status >= 400');
  if (filters.byServers) conditions.push(`path like '/api/v1/%'`);
  if (filters.objectId !== null) conditions.push(`method <> 'GET' and method <> 'HEAD'`);
  if (page.after !== null) {
    const { created, id } = page.after;
    conditions.push(`(created, id) < (${parameter(created)}, ${parameter(id)})`);
  }
  const order = `order by created desc, id desc limit ${parameter(page.limit + 1)}`;
  return requestLog.list(sql, `where ${conditions.join(' and ')} ${order}`, values);
}

/** `created` is the time in the ID, and leads to the day's partition and to the row. */
export async function selectRequest(
  sql: Sql,
  tenant: Tenant,
  filter: { readonly id: string; readonly created: Date },
): Promise<RequestRow | null> {
  const rest = 'where account_id = $1 and livemode = $2 and created = $3 and id = $4';
  const values = [tenant.accountId, tenant.livemode, filter.created, filter.id];
  return (await requestLog.find(sql, rest, values)) ?? null;
}
