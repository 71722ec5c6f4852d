import type { Answer } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import { columnsFrom } from '#db/columns.ts';
import { tenantKey } from '#db/commit-order.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';
import type { IdempotentRequest } from '#idempotency/request-fingerprint.ts';

export const idempotencyKeys = table('idempotency_keys', {
  account_id: 'text',
  livemode: 'boolean',
  caller: 'text',
  key: 'text',
  fingerprint: 'bytea',
  method: 'text',
  path: 'text',
  status: as<'in_progress' | 'completed'>('text'),
  resource: 'text?',
  response_status: 'int?',
  response_body: 'text?',
  created: 'timestamptz',
  expires_at: 'timestamptz',
});

type ScopedKeyRow = Row<typeof idempotencyKeys>;

export type KeyRow = Omit<ScopedKeyRow, 'account_id' | 'livemode' | 'caller'>;

async function selectRows(
  sql: Sql,
  requests: readonly IdempotentRequest[],
): Promise<ScopedKeyRow[]> {
  // Each key is looked up by its whole primary key (`offset 0` keeps the look-ups separate). With a
  // join, the plan used only a part of the key, and each batch read many keys of its accounts.
  return sql.query<ScopedKeyRow>(
    `select k.* from unnest($1::text[], $2::boolean[], $3::text[],
           $4::text[]) as wanted (account_id, livemode, caller, key)
       cross join lateral (
         select ${idempotencyKeys.columns} from idempotency_keys i
         where i.account_id = wanted.account_id and i.livemode = wanted.livemode
           and i.caller = wanted.caller and i.key = wanted.key
         offset 0) k`,
    [
      requests.map((request) => request.tenant.accountId),
      requests.map((request) => request.tenant.livemode),
      requests.map((request) => request.caller),
      requests.map((request) => request.key),
    ],
  );
}

function byKey(rows: readonly ScopedKeyRow[]): Map<string, KeyRow> {
  return new Map(
    rows.map((row) => {
      const tenant = { accountId: row.account_id, livemode: row.livemode };
      return [`${tenantKey(tenant)} ${row.caller} ${row.key}`, row];
    }),
  );
}

/** Returns the rows of these requests' keys, by account, mode, caller and key. */
export async function selectKeys(
  sql: Sql,
  requests: readonly IdempotentRequest[],
  now: Date,
): Promise<Map<string, KeyRow>> {
  const rows = await selectRows(sql, requests);
  return byKey(rows.filter((row) => row.expires_at > now));
}

/**
 * Like {@link selectKeys}, for a caller that is about to store its decisions. Deletes expired rows,
 * so that their keys can be inserted again.
 */
export async function takeKeys(
  tx: Tx,
  requests: readonly IdempotentRequest[],
  now: Date,
): Promise<Map<string, KeyRow>> {
  const rows = await selectRows(tx, requests);
  const expired = rows.filter((row) => row.expires_at <= now);
  if (expired.length > 0) await deleteKeys(tx, expired, now);
  return byKey(rows.filter((row) => row.expires_at > now));
}

async function deleteKeys(tx: Tx, rows: readonly ScopedKeyRow[], now: Date): Promise<void> {
  await tx.query(
    `delete from idempotency_keys
     where (account_id, livemode, caller, key) in (
         select * from unnest($1::text[], $2::boolean[], $3::text[], $4::text[]))
       and expires_at <= $5`,
    [
      rows.map((row) => row.account_id),
      rows.map((row) => row.livemode),
      rows.map((row) => row.caller),
      rows.map((row) => row.key),
      now,
    ],
  );
}

export interface StoredKey {
  readonly request: IdempotentRequest;
  readonly resource: string | null;
  /** The response; `null` if the work on `resource` continues and will store it. */
  readonly answer: Answer | null;
  readonly created: Date;
  readonly expiresAt: Date;
}

/**
 * Stores requests that were decided in this transaction. If another request has inserted a key
 * since the look-up, the insert fails with a unique violation: the transaction runs again and finds
 * the key's row.
 */
export async function insertKeys(tx: Tx, stored: readonly StoredKey[]): Promise<void> {
  const rows = stored.map(({ request, resource, answer, created, expiresAt }) => ({
    account_id: request.tenant.accountId,
    livemode: request.tenant.livemode,
    caller: request.caller,
    key: request.key,
    fingerprint: request.fingerprint,
    method: request.method,
    path: request.path,
    status: answer === null ? ('in_progress' as const) : ('completed' as const),
    resource,
    response_status: answer?.status ?? null,
    response_body: answer?.body ?? null,
    created,
    expires_at: expiresAt,
  }));
  await idempotencyKeys.insertAll(tx, rows, 'order by account_id, livemode, caller, key');
}

export async function selectKey(
  sql: Sql,
  tenant: Tenant,
  filter: { readonly caller: string; readonly key: string; readonly now: Date },
): Promise<KeyRow | undefined> {
  return idempotencyKeys.find(
    sql,
    `where account_id = $1 and livemode = $2 and caller = $3 and key = $4
       and expires_at > $5`,
    [tenant.accountId, tenant.livemode, filter.caller, filter.key, filter.now],
  );
}

/** Stores the response unless one is already stored, because the first one wins. */
export async function updateCompleted(
  tx: Tx,
  request: IdempotentRequest,
  response: { readonly resource: string | null; readonly status: number; readonly body: string },
): Promise<boolean> {
  const rows = await tx.query(
    `update idempotency_keys
     set status = 'completed', resource = coalesce($5, resource), response_status = $6,
       response_body = $7
     where account_id = $1 and livemode = $2 and caller = $3 and key = $4
       and status = 'in_progress'
     returning key`,
    [
      request.tenant.accountId,
      request.tenant.livemode,
      request.caller,
      request.key,
      response.resource,
      response.status,
      response.body,
    ],
  );
  return rows.length === 1;
}

const RESPONSES = columnsFrom(1, { resource: 'text', status: 'int', body: 'text' });

const UPDATE_WAITING = `
  update idempotency_keys k
  set status = 'completed', response_status = r.status, response_body = r.body
  from ${RESPONSES.table('r')}
  where k.resource = r.resource and k.status = 'in_progress'`;

/** Gives the final response to the requests that wait for these objects. */
export async function updateWaiting(
  tx: Tx,
  responses: readonly { resource: string; status: number; body: string }[],
): Promise<void> {
  await RESPONSES.run(tx, UPDATE_WAITING, { rows: responses });
}

/** @returns how many expired keys were deleted, at most `limit`. */
export async function deleteExpired(sql: Sql, now: Date, limit: number): Promise<number> {
  const rows = await sql.query(
    `delete from idempotency_keys where ctid = any(array(
       select ctid from idempotency_keys where expires_at <= $1 limit $2))
     returning 1 as dropped`,
    [now, limit],
  );
  return rows.length;
}
