import type { Sql, Tx } from '#db/database.ts';
import { type Row, table } from '#db/table.ts';

export const nameRequests = table('account_name_requests', {
  account_id: 'text',
  name: 'text',
  requested_by: 'text',
  created: 'timestamptz',
});

/** A requested name, with the current name, which payers see until staff decide. */
export type NameRequestRow = Row<typeof nameRequests> & { present_name: string };

export async function saveNameRequest(
  tx: Tx,
  { account_id, name, requested_by, created }: Row<typeof nameRequests>,
): Promise<void> {
  await nameRequests.upsert(
    tx,
    { account_id, name, requested_by, created },
    `on conflict (account_id) do update
     set name = excluded.name, requested_by = excluded.requested_by, created = excluded.created`,
  );
}

/** Deletes the request. @returns the requested name; undefined if no request was open. */
export async function takeNameRequest(tx: Tx, accountId: string): Promise<string | undefined> {
  const rows = await tx.query<{ name: string }>(
    'delete from account_name_requests where account_id = $1 returning name',
    [accountId],
  );
  return rows[0]?.name;
}

export async function selectRequestedName(sql: Sql, accountId: string): Promise<string | null> {
  return (await nameRequests.find(sql, 'where account_id = $1', [accountId]))?.name ?? null;
}

/** Returns the names that wait for a decision, those that have waited longest first. */
export async function selectNameRequests(sql: Sql, limit: number): Promise<NameRequestRow[]> {
  return sql.query(
    `select ${nameRequests.of('r')}, a.name as present_name
     from account_name_requests r join accounts a on a.id = r.account_id
     order by r.created limit $1`,
    [limit],
  );
}
