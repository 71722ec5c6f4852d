import type { Answer } from '#core/answer.ts';
import { columnsFrom } from '#db/columns.ts';
import { tenantKey } from '#db/commit-order.ts';
import { RunAgain, type Sql, type Tx } from '#db/database.ts';
import type { KeyRow } from '#idempotency/queries.ts';
import type { IdempotentRequest } from '#idempotency/request.ts';

interface ScopedKeyRow extends KeyRow {
  account_id: string;
  livemode: boolean;
  caller: string;
}

/** The rows of these requests' keys, by account, mode, caller and key. */
export async function selectKeys(
  sql: Sql,
  requests: readonly IdempotentRequest[],
  now: Date,
): Promise<Map<string, KeyRow>> {
  // One look-up by the whole primary key each (`offset 0` keeps them apart): as a join, the plan
  // used only a part of it, and each batch read many of its account's keys.
  const rows = await sql.query<ScopedKeyRow>(
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
  const valid = rows.filter((row) => row.expires_at > now);
  return new Map(
    valid.map((row) => {
      const tenant = { accountId: row.account_id, livemode: row.livemode };
      return [`${tenantKey(tenant)} ${row.caller} ${row.key}`, row];
    }),
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

export const NEW_KEY_COLUMNS = `account_id, livemode, caller, key, fingerprint, method, path,
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
  insert into idempotency_keys as k (${NEW_KEY_COLUMNS})
  select ${NEW_KEY_COLUMNS} from ${NEW_KEYS.table('t')}
  order by account_id, livemode, caller, key
  on conflict (account_id, livemode, caller, key) do update
  set fingerprint = excluded.fingerprint, method = excluded.method, path = excluded.path,
    status = excluded.status, resource = excluded.resource,
    response_status = excluded.response_status, response_body = excluded.response_body,
    created = excluded.created, expires_at = excluded.expires_at
  where k.expires_at <= excluded.created
  returning key`;

/**
 * Stores requests that were decided in this transaction. If another request has claimed a key since
 * we looked for it, the transaction runs again and then finds the row.
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
  const written = await NEW_KEYS.run(tx, INSERT_KEYS, { rows });
  if (written.length < rows.length) throw new RunAgain('an idempotency key was claimed meanwhile');
}
