import type { Sql } from '#db/database.ts';

export type CredentialEnd = 'revoked' | 'expired' | 'unpaired' | 'inactive';

export interface CredentialEndRow {
  readonly hash: Buffer;
  /** The reason why the credential ended; `null` if it is still valid. */
  readonly ended: CredentialEnd | null;
}

/** Reads the state of these API keys and device keys, by the database's clock. */
export async function selectCredentialEnds(
  sql: Sql,
  hashes: readonly Buffer[],
): Promise<CredentialEndRow[]> {
  return sql.query(
    `select hash, case when revoked_at <= now() then 'revoked'
       when expires_at <= now() then 'expired' end as ended
     from api_keys where hash = any($1)
     union all
     select d.hash, case when d.revoked_at <= now() then 'unpaired'
       when t.status <> 'active' then 'inactive' end
     from device_keys d join terminals t on t.id = d.terminal_id
     where d.hash = any($1)`,
    [hashes],
  );
}
