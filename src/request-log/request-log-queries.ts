import type { Tenant } from '#core/mode.ts';
import type { CopyValue } from '#db/copy-rows.ts';
import type { Sql } from '#db/database.ts';

/** A row of request_log. */
export interface RequestRow {
  id: string;
  created: Date;
  account_id: string | null;
  livemode: boolean | null;
  caller_id: string | null;
  operation: string | null;
  method: string;
  path: string;
  status: number;
  code: string | null;
  object_id: string | null;
  idempotency_key: string | null;
  api_version: string;
  duration_ms: number;
  address: string;
  user_agent: string | null;
}

const COLUMN_NAMES = [
  'id',
  'created',
  'account_id',
  'livemode',
  'caller_id',
  'operation',
  'method',
  'path',
  'status',
  'code',
  'object_id',
  'idempotency_key',
  'api_version',
  'duration_ms',
  'address',
  'user_agent',
] as const satisfies readonly (keyof RequestRow)[];

export const REQUEST_LOG = { table: 'request_log', columns: COLUMN_NAMES } as const;

/**
 * The row's values in the order of {@link REQUEST_LOG}'s columns. (Called for each request, so it
 * avoids a loop.)
 */
export function toValues(row: RequestRow): CopyValue[] {
  return [
    row.id,
    row.created.toISOString(),
    row.account_id,
    row.livemode,
    row.caller_id,
    row.operation,
    row.method,
    row.path,
    row.status,
    row.code,
    row.object_id,
    row.idempotency_key,
    row.api_version,
    row.duration_ms,
    row.address,
    row.user_agent,
  ];
}

export interface RequestFilters {
  readonly status: number | null;
  /** Only responses with a status from 400 on. */
  readonly failed: boolean;
  /** Only calls of the merchant API, not of people or tills. */
  readonly byServers: boolean;
  readonly operation: string | null;
  readonly callerId: string | null;
  /** Only requests that change something have one. */
  readonly objectId: string | null;
  readonly createdGte: Date | null;
  readonly createdLt: Date | null;
}

export interface RequestPage {
  readonly limit: number;
  /** The last row of the previous page. */
  readonly after: { readonly created: Date; readonly id: string } | null;
}

const COLUMNS = COLUMN_NAMES.join(', ');

/** One page, newest first, plus one row to know whether there are more. */
export async function selectRequests(
  sql: Sql,
  wanted: { readonly tenant: Tenant; readonly filters: RequestFilters },
  page: RequestPage,
): Promise<RequestRow[]> {
  const { tenant, filters } = wanted;
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
  // Literal, because the planner chooses no partial index for a number passed as a parameter.
  if (filters.failed || Number(filters.status) >= 400) conditions.push('status >= 400');
  if (filters.byServers) conditions.push(`path like '/api/v1/%'`);
  if (filters.objectId !== null) conditions.push(`method <> 'GET' and method <> 'HEAD'`);
  if (page.after !== null) {
    const { created, id } = page.after;
    conditions.push(`(created, id) < (${parameter(created)}, ${parameter(id)})`);
  }
  return sql.query(
    `select ${COLUMNS} from request_log where ${conditions.join(' and ')}
     order by created desc, id desc limit ${parameter(page.limit + 1)}`,
    values,
  );
}

/** `created` is the time in the id: it leads to the day's partition and to the row. */
export async function selectRequest(
  sql: Sql,
  tenant: Tenant,
  wanted: { readonly id: string; readonly created: Date },
): Promise<RequestRow | null> {
  const rows = await sql.query<RequestRow>(
    `select ${COLUMNS} from request_log
     where account_id = $1 and livemode = $2 and created = $3 and id = $4`,
    [tenant.accountId, tenant.livemode, wanted.created, wanted.id],
  );
  return rows[0] ?? null;
}
