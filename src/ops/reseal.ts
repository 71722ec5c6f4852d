import { decrypt, encrypt, type RotatingKey } from '#core/bearer-secrets.ts';
import type { Database } from '#db/database.ts';

/** Rows per batch: few, because a document has up to 5 MiB. */
const BATCH = 20;

interface SealedRow {
  readonly id: string;
  readonly sealed: Buffer;
  readonly context: string;
}

async function selectSealed(
  db: Database,
  column: SealedColumn,
  after: string,
): Promise<SealedRow[]> {
  return db.query(
    `select ${column.id}::text as id, ${column.column} as sealed, ${column.context}::text as context
     from ${column.table}
     where ${column.column} is not null and ${column.id}::text > $1
     order by ${column.id}::text limit ${BATCH}`,
    [after],
  );
}

/**
 * @returns false if the service has since written another value, already sealed under the new key.
 */
async function replaceSeal(
  db: Database,
  change: SealedColumn,
  row: SealedRow,
  sealed: Buffer,
): Promise<boolean> {
  const rows = await db.query(
    `update ${change.table} set ${change.column} = $3
     where ${change.id}::text = $1 and ${change.column} = $2 returning 1 as done`,
    [row.id, row.sealed, sealed],
  );
  return rows.length === 1;
}

function isCurrent(key: RotatingKey, row: SealedRow): boolean {
  try {
    decrypt(Buffer.from(key), row.sealed, row.context);
    return true;
  } catch {
    return false;
  }
}

export interface ResealReport {
  readonly column: string;
  readonly resealed: number;
  readonly current: number;
  /** Number of values that neither key decrypts. */
  readonly lost: number;
}

async function resealColumn(
  db: Database,
  column: SealedColumn,
  key: RotatingKey,
): Promise<ResealReport> {
  const counts = { resealed: 0, current: 0, lost: 0 };
  let after = '';
  for (;;) {
    const rows: SealedRow[] = await selectSealed(db, column, after);
    for (const row of rows) {
      after = row.id;
      if (isCurrent(key, row)) counts.current++;
      else counts[await resealRow(db, column, { key, row })]++;
    }
    if (rows.length < BATCH) break;
  }
  return { column: `${column.table}.${column.column}`, ...counts };
}

async function resealRow(
  db: Database,
  column: SealedColumn,
  { key, row }: { readonly key: RotatingKey; readonly row: SealedRow },
): Promise<'resealed' | 'current' | 'lost'> {
  let plain: string;
  try {
    plain = decrypt(key, row.sealed, row.context);
  } catch {
    return 'lost';
  }
  const sealed = encrypt(Buffer.from(key), plain, row.context);
  return (await replaceSeal(db, column, row, sealed)) ? 'resealed' : 'current';
}

/**
 * Encrypts all sealed values again under the current secret. It can run while the service is
 * running, and again after an interruption: a row changes only if it still has the value that was
 * read.
 */
export async function reseal(
  db: Database,
  keys: Readonly<Record<SealPurpose, RotatingKey>>,
): Promise<readonly ResealReport[]> {
  const reports: ResealReport[] = [];
  for (const column of SEALED_COLUMNS) {
    reports.push(await resealColumn(db, column, keys[column.purpose]));
  }
  return reports;
}

/** Names the service's key that seals a column. */
type SealPurpose = 'people' | 'webhooks' | 'cards' | 'ids';

interface SealedColumn {
  readonly table: string;
  /** The primary key. */
  readonly id: string;
  readonly column: string;
  /** SQL for the seal's context (associated data). */
  readonly context: string;
  readonly purpose: SealPurpose;
}

/**
 * All columns sealed under the service's secret. Add new columns here: `npm run reseal` uses the
 * list, and a test compares it with the schema.
 */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'users', id: 'id', column: 'totp_secret', context: 'id', purpose: 'people' },
  { table: 'kyb_documents', id: 'id', column: 'content', context: 'id', purpose: 'people' },
  { table: 'mail_outbox', id: 'id', column: 'sealed', context: 'context', purpose: 'people' },
  { table: 'webhook_endpoints', id: 'id', column: 'secret', context: 'id', purpose: 'webhooks' },
  {
    table: 'webhook_endpoints',
    id: 'id',
    column: 'previous_secret',
    context: 'id',
    purpose: 'webhooks',
  },
  { table: 'cards', id: 'id', column: 'keys', context: 'id', purpose: 'cards' },
  { table: 'rotating_keys', id: 'pass_id', column: 'key', context: 'pass_id', purpose: 'cards' },
  {
    table: 'phone_passes',
    id: 'hash',
    column: 'sealed',
    context: `kind || ' ' || pass_id`,
    purpose: 'cards',
  },
  {
    table: 'collector_keys',
    id: 'version',
    column: 'private_key',
    context: 'version',
    purpose: 'cards',
  },
  { table: 'service_keys', id: 'name', column: 'sealed', context: 'name', purpose: 'ids' },
];
