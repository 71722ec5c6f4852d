import type { Scope } from '#accounts/api-key-scopes.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';

export const apiKeys = table(
  'api_keys',
  {
    id: 'text',
    account_id: 'text',
    livemode: 'boolean',
    hint: 'text',
    name: 'text',
    scopes: as<Scope[]>('text[]'),
    ip_allowlist: as<string[]>('text[]'),
    api_version: 'text',
    created: 'timestamptz',
    created_by: 'text?',
    expires_at: 'timestamptz?',
    revoked_at: 'timestamptz?',
    last_used_at: 'timestamptz?',
    rotated_from: 'text?',
    version: 'int',
  },
  { hash: 'bytea' },
);

export type ApiKeyRow = Row<typeof apiKeys>;

export async function selectApiKeys(sql: Sql, tenant: Tenant): Promise<ApiKeyRow[]> {
  return apiKeys.list(
    sql,
    `where account_id = $1 and livemode = $2
     order by created desc, id desc`,
    [tenant.accountId, tenant.livemode],
  );
}

/** Counts the keys that are usable now or will be later. Only these count toward the limit. */
export async function countUsableApiKeys(tx: Tx, tenant: Tenant, now: Date): Promise<number> {
  return apiKeys.count(
    tx,
    `where account_id = $1 and livemode = $2 and revoked_at is null
       and (expires_at is null or expires_at > $3)`,
    [tenant.accountId, tenant.livemode, now],
  );
}

export async function lockApiKey(
  tx: Tx,
  tenant: Tenant,
  id: string,
): Promise<ApiKeyRow | undefined> {
  return apiKeys.findOwn(tx, tenant, id, 'for update');
}

export async function updateApiKey(
  tx: Tx,
  id: string,
  set: Pick<ApiKeyRow, 'name' | 'expires_at' | 'revoked_at'> & {
    readonly scopes: readonly Scope[];
    readonly ip_allowlist: readonly string[];
  },
): Promise<ApiKeyRow[]> {
  return apiKeys.update(tx, set, {
    where: 'id = $1',
    values: [id],
    also: 'version = version + 1',
  });
}
