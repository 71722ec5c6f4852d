import type { Tenant } from '#core/mode.ts';
import { columnsFrom } from '#db/columns.ts';
import type { Sql, Tx } from '#db/database.ts';
import type { IdempotentRequest } from '#idempotency/request.ts';

export interface KeyRow {
  key: string;
  fingerprint: Buffer;
  method: string;
  path: string;
  status: 'in_progress' | 'completed';
  resource: string | null;
  response_status: number | null;
  response_body: string | null;
  created: Date;
  expires_at: Date;
}

/** Claims the key unless somebody holds it; an expired row counts as nobody's. */
export async function insertClaim(
  tx: Tx,
  request: IdempotentRequest,
  at: { readonly now: Date; readonly expiresAt: Date },
): Promise<boolean> {
  const rows = await tx.query(
    `insert into idempotency_keys as k
       (account_id, livemode, caller, key, fingerprint, method, path, status, created, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, 'in_progress', $8, $9)
     on conflict (account_id, livemode, caller, key) do update
     set fingerprint = excluded.fingerprint, method = excluded.method, path = excluded.path,
       status = 'in_progress', resource = null, response_status = null, response_body = null,
       created = excluded.created, expires_at = excluded.expires_at
     where k.expires_at <= excluded.created
     returning key`,
    [
      request.tenant.accountId,
      request.tenant.livemode,
      request.caller,
      request.key,
      request.fingerprint,
      request.method,
      request.path,
      at.now,
      at.expiresAt,
    ],
  );
  return rows.length === 1;
}

export async function selectKey(
  sql: Sql,
  tenant: Tenant,
  wanted: { readonly caller: string; readonly key: string; readonly now: Date },
): Promise<KeyRow | undefined> {
  const rows = await sql.query<KeyRow>(
    `select key, fingerprint, method, path, status, resource, response_status, response_body,
       created, expires_at
     from idempotency_keys
     where account_id = $1 and livemode = $2 and caller = $3 and key = $4 and expires_at > $5`,
    [tenant.accountId, tenant.livemode, wanted.caller, wanted.key, wanted.now],
  );
  return rows[0];
}

/** Names the object whose work this request waits for. */
export async function updateResource(
  tx: Tx,
  request: IdempotentRequest,
  resource: string,
): Promise<void> {
  await tx.query(
    `update idempotency_keys set resource = $5
     where account_id = $1 and livemode = $2 and caller = $3 and key = $4`,
    [request.tenant.accountId, request.tenant.livemode, request.caller, request.key, resource],
  );
}

/** Stores the response unless one is stored already: the first one counts. */
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

/** The work of these objects is done: gives their waiting requests the final response. */
export async function updateWaiting(
  tx: Tx,
  responses: readonly { resource: string; status: number; body: string }[],
): Promise<void> {
  await RESPONSES.run(tx, UPDATE_WAITING, { rows: responses });
}

/** @returns how many of at most `limit` expired keys were dropped. */
export async function deleteExpired(sql: Sql, now: Date, limit: number): Promise<number> {
  const rows = await sql.query(
    `delete from idempotency_keys where ctid = any(array(
       select ctid from idempotency_keys where expires_at <= $1 limit $2))
     returning 1 as dropped`,
    [now, limit],
  );
  return rows.length;
}
