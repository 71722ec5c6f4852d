import type { Scope } from '#accounts/scopes.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { ofTenant } from '#db/plan-shapes.ts';

export interface ApiKeyRow {
  readonly id: string;
  readonly account_id: string;
  readonly livemode: boolean;
  readonly hint: string;
  readonly name: string;
  readonly scopes: Scope[];
  readonly ip_allowlist: string[];
  readonly api_version: string;
  readonly created: Date;
  readonly created_by: string | null;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly last_used_at: Date | null;
  readonly rotated_from: string | null;
  readonly version: number;
}

const COLUMNS = `id, account_id, livemode, hint, name, scopes, ip_allowlist, api_version, created,
  created_by, expires_at, revoked_at, last_used_at, rotated_from, version`;

export interface NewApiKeyRow {
  readonly id: string;
  readonly tenant: Tenant;
  readonly hash: Buffer;
  readonly hint: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly ipAllowlist: readonly string[];
  readonly apiVersion: string;
  readonly createdBy: string;
  readonly expiresAt: Date | null;
  readonly rotatedFrom: string | null;
  readonly now: Date;
}

export async function insertApiKey(tx: Tx, key: NewApiKeyRow): Promise<ApiKeyRow[]> {
  return tx.query(
    `insert into api_keys (id, account_id, livemode, hash, hint, name, scopes, ip_allowlist,
       api_version, created, created_by, expires_at, rotated_from)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) returning ${COLUMNS}`,
    [
      key.id,
      key.tenant.accountId,
      key.tenant.livemode,
      key.hash,
      key.hint,
      key.name,
      key.scopes,
      key.ipAllowlist,
      key.apiVersion,
      key.now,
      key.createdBy,
      key.expiresAt,
      key.rotatedFrom,
    ],
  );
}

export async function selectApiKeys(sql: Sql, tenant: Tenant): Promise<ApiKeyRow[]> {
  return sql.query(
    `select ${COLUMNS} from api_keys where account_id = $1 and livemode = $2
     order by created desc, id desc`,
    [tenant.accountId, tenant.livemode],
  );
}

/** Keys that open something now or later: those that count against the limit. */
export async function countUsableApiKeys(tx: Tx, tenant: Tenant, now: Date): Promise<number> {
  const rows = await tx.query<{ count: number }>(
    `select count(*)::int as count from api_keys
     where account_id = $1 and livemode = $2 and revoked_at is null
       and (expires_at is null or expires_at > $3)`,
    [tenant.accountId, tenant.livemode, now],
  );
  return rows[0]?.count ?? 0;
}

export async function lockApiKey(
  tx: Tx,
  tenant: Tenant,
  id: string,
): Promise<ApiKeyRow | undefined> {
  const rows = await tx.query<ApiKeyRow>(
    `select ${COLUMNS} from api_keys where id = $3 and ${ofTenant('$1', '$2')}
     for update`,
    [tenant.accountId, tenant.livemode, id],
  );
  return rows[0];
}

export async function updateApiKey(
  tx: Tx,
  key: {
    readonly id: string;
    readonly name: string;
    readonly scopes: readonly string[];
    readonly ipAllowlist: readonly string[];
    readonly expiresAt: Date | null;
    readonly revokedAt: Date | null;
  },
): Promise<ApiKeyRow[]> {
  return tx.query(
    `update api_keys set name = $2, scopes = $3, ip_allowlist = $4, expires_at = $5,
       revoked_at = $6, version = version + 1
     where id = $1 returning ${COLUMNS}`,
    [key.id, key.name, key.scopes, key.ipAllowlist, key.expiresAt, key.revokedAt],
  );
}
