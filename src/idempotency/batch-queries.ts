import type { Answer } from '#core/answer.ts';
import { columnsFrom } from '#db/columns.ts';
import { tenantKey } from '#db/commit-order.ts';
import type { Sql, Tx } from '#db/database.ts';
import type { KeyRow } from '#idempotency/queries.ts';
import type { IdempotentRequest } from '#idempotency/request.ts';

interface ScopedKeyRow extends KeyRow {
  account_id: string;
  livemode: boolean;
  caller: string;
}

async function selectRows(
  sql: Sql,
  requests: readonly IdempotentRequest[],
): Promise<ScopedKeyRow[]> {
  // One look-up by the whole primary key each (`offset 0` keeps them apart): as a join, the plan
  // used only a part of it, and each batch read many of its account's keys.
  return sql.query<ScopedKeyRow>(
    `select k.* from unnest((select $1::text[]), (select $2::boolean[]), (select $3::text[]),
           (select $4::text[])) as wanted (account_id, livemode, caller, key)
       cross join lateral (
         select account_id, livemode, caller, key, fingerprint, method, path, status, resource,
           response_status, response_body, created, expires_at
         from idempotency_keys i
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

/** The rows of these requests' keys, by account, mode, caller and key. */
export async function selectKeys(
  sql: Sql,
  requests: readonly IdempotentRequest[],
  now: Date,
): Promise<Map<string, KeyRow>> {
  const rows = await selectRows(sql, requests);
  return byKey(rows.filter((row) => row.expires_at > now));
}

/**
 * The same for who is about to store what it decides. Keys that have expired belong to nobody:
 * their rows go, so that they can be written anew.
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

export interface DecidedRequest {
  readonly request: IdempotentRequest;
  readonly resource: string | null;
  /** null: the work of `resource` goes on, and will store the response. */
  readonly answer: Answer | null;
  readonly created: Date;
  readonly expiresAt: Date;
}

const NEW_KEY_COLUMNS = `account_id, livemode, caller, key, fingerprint, method, path,
  status, resource, response_status, response_body, created, expires_at`;

const NEW_KEYS = columnsFrom(1, {
  account_id: 'text',
  livemode: 'boolean',
  caller: 'text',
  key: 'text',
  fingerprint: 'bytea',
  method: 'text',
  path: 'text',
  status: 'text',
  resource: 'text',
  response_status: 'int',
  response_body: 'text',
  created: 'timestamptz',
  expires_at: 'timestamptz',
});

const INSERT_KEYS = `
  insert into idempotency_keys (${NEW_KEY_COLUMNS})
  select ${NEW_KEY_COLUMNS} from ${NEW_KEYS.table('t')}
  order by account_id, livemode, caller, key`;

/**
 * Stores requests that were decided in this transaction. If another request has taken a key since
 * we looked for it, this is a unique violation: the transaction runs again and finds the row.
 */
export async function insertDecided(tx: Tx, decided: readonly DecidedRequest[]): Promise<void> {
  if (decided.length === 0) return;
  const rows = decided.map(({ request, resource, answer, created, expiresAt }) => ({
    account_id: request.tenant.accountId,
    livemode: request.tenant.livemode,
    caller: request.caller,
    key: request.key,
    fingerprint: request.fingerprint,
    method: request.method,
    path: request.path,
    status: answer === null ? 'in_progress' : 'completed',
    resource,
    response_status: answer?.status ?? null,
    response_body: answer?.body ?? null,
    created,
    expires_at: expiresAt,
  }));
  await NEW_KEYS.run(tx, INSERT_KEYS, { rows });
}
