import { accounts } from '#accounts/account-queries.ts';
import type { Json } from '#core/canonical-json.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';

export const kybSubmissions = table('kyb_submissions', {
  account_id: 'text',
  version: 'int',
  details: as<{ readonly [key: string]: Json }>('jsonb'),
  submitted_at: 'timestamptz?',
  decided_at: 'timestamptz?',
  decided_by: 'text?',
  decision_reason: 'text?',
  updated: 'timestamptz',
});

export type SubmissionRow = Row<typeof kybSubmissions>;

export async function selectSubmission(
  sql: Sql,
  accountId: string,
): Promise<SubmissionRow | undefined> {
  return kybSubmissions.find(sql, 'where account_id = $1', [accountId]);
}

/** Writes the details if the row is still at `version` (0 if there is none yet). */
export async function saveDetails(
  tx: Tx,
  change: Pick<SubmissionRow, 'account_id' | 'version' | 'details' | 'updated'>,
): Promise<SubmissionRow[]> {
  return tx.query(
    `insert into kyb_submissions as k (account_id, details, updated)
     values ($1, $3::text::jsonb, $4)
     on conflict (account_id) do update
     set details = excluded.details, updated = excluded.updated, version = k.version + 1
     where k.version = $2
     returning ${kybSubmissions.columns}`,
    [change.account_id, change.version, JSON.stringify(change.details), change.updated],
  );
}

export async function updateSubmission(
  tx: Tx,
  accountId: string,
  set: Partial<Omit<SubmissionRow, 'account_id' | 'version'>>,
): Promise<void> {
  const which = { where: 'account_id = $1', values: [accountId], also: 'version = version + 1' };
  await kybSubmissions.update(tx, set, which);
}

export const kybDocuments = table(
  'kyb_documents',
  {
    id: 'text',
    account_id: 'text',
    kind: 'text',
    file_name: 'text',
    content_type: 'text',
    size: 'int',
    sha256: 'text',
    uploaded_by: 'text',
    created: 'timestamptz',
  },
  { content: 'bytea' },
);

export type DocumentRow = Row<typeof kybDocuments>;

export async function selectDocuments(sql: Sql, accountId: string): Promise<DocumentRow[]> {
  return kybDocuments.list(sql, 'where account_id = $1 order by created, id', [accountId]);
}

export async function selectDocumentContent(
  sql: Sql,
  filter: { readonly accountId: string; readonly id: string },
): Promise<(DocumentRow & { content: Buffer }) | undefined> {
  const rows = await sql.query<DocumentRow & { content: Buffer }>(
    `select ${kybDocuments.columns}, content from kyb_documents where account_id = $1 and id = $2`,
    [filter.accountId, filter.id],
  );
  return rows[0];
}

export async function deleteDocument(
  tx: Tx,
  which: { readonly accountId: string; readonly id: string },
): Promise<DocumentRow | undefined> {
  const rows = await tx.query<DocumentRow>(
    `delete from kyb_documents where account_id = $1 and id = $2 returning ${kybDocuments.columns}`,
    [which.accountId, which.id],
  );
  return rows[0];
}

const WAITING = kybSubmissions.pick(['account_id'], 'k');
const NAME = accounts.pick(['name'], 'a');

export type QueueRow = Row<typeof WAITING> &
  Row<typeof NAME> & { submitted_at: Date; documents: number };

/** Returns the accounts that wait for a decision, those that have waited longest first. */
export async function selectQueue(sql: Sql, limit: number): Promise<QueueRow[]> {
  return sql.query(
    `select ${WAITING}, ${NAME}, k.submitted_at,
       (select count(*)::int from kyb_documents d where d.account_id = k.account_id) as documents
     from kyb_submissions k join accounts a on a.id = k.account_id
     where k.submitted_at is not null and k.decided_at is null
     order by k.submitted_at limit $1`,
    [limit],
  );
}
