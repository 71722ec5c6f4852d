import { randomBytes } from 'node:crypto';
import { present } from '#core/assert.ts';
import { decrypt, encrypt } from '#core/bearer-secrets.ts';
import { type IdKey, toIdKey } from '#core/ids.ts';
import { StartError } from '#core/start-error.ts';
import type { Database, Sql } from '#db/database.ts';

/** The name of the key's row, which is also the context of its encryption. */
const NAME = 'ids';
const KEY_BYTES = 32;

/** Stores the key, unless another process was first, and returns the stored one. */
async function readOrKeep(sql: Sql, sealed: Buffer): Promise<Buffer> {
  await sql.query(
    'insert into service_keys (name, sealed) values ($1, $2) on conflict (name) do nothing',
    [NAME, sealed],
  );
  return present(await readSealed(sql), 'id key');
}

async function readSealed(sql: Sql): Promise<Buffer | null> {
  const rows = await sql.query<{ sealed: Buffer }>(
    'select sealed from service_keys where name = $1',
    [NAME],
  );
  return rows[0]?.sealed ?? null;
}

/**
 * Opens the key from which ids are derived (`core/ids.ts`). It is generated at the first start and
 * stored in the database, so that every backup contains it, and encrypted, so that a backup alone
 * does not reveal it. Only the encryption depends on the service's secret, so a new secret does not
 * change ids.
 * @throws StartError if the key was encrypted with another secret
 */
export async function openIdKey(
  sql: Pick<Database, 'query' | 'cell'>,
  sealingKey: Buffer,
): Promise<IdKey> {
  const fresh = () => encrypt(sealingKey, randomBytes(KEY_BYTES).toString('base64'), NAME);
  const sealed = (await readSealed(sql)) ?? (await readOrKeep(sql, fresh()));
  try {
    return toIdKey(Buffer.from(decrypt(sealingKey, sealed, NAME), 'base64'), sql.cell);
  } catch {
    throw new StartError(
      'this database was set up with another secret: start with the TAPLINE_SECRET (or, if ' +
        'none is set, the data folder) that it was first started with',
    );
  }
}
