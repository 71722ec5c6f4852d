import { present } from '#core/assert.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';
import type { Role } from '#people/role-order.ts';

export const invitations = table(
  'invitations',
  {
    id: 'text',
    /** The account or the organization of the invitation; the other ID is `null`. */
    account_id: 'text?',
    organization_id: 'text?',
    email: 'text',
    role: as<Role>('text'),
    invited_by: 'text',
    created: 'timestamptz',
    expires_at: 'timestamptz',
  },
  { accepted_at: 'timestamptz?', hash: 'bytea' },
);

export type InvitationRow = Row<typeof invitations>;

export type InvitedTo = { readonly accountId: string } | { readonly organizationId: string };

function columnOf(to: InvitedTo): { readonly column: string; readonly id: string } {
  return 'accountId' in to
    ? { column: 'account_id', id: to.accountId }
    : { column: 'organization_id', id: to.organizationId };
}

export interface NamedInvitation extends InvitationRow {
  readonly account_name: string;
}

const OPEN = 'accepted_at is null and revoked_at is null';

/** An earlier open one to the same address becomes invalid. */
export async function replaceInvitation(
  tx: Tx,
  to: InvitedTo,
  row: Omit<InvitationRow, 'account_id' | 'organization_id'> & { readonly hash: Buffer },
): Promise<InvitationRow> {
  const { column, id } = columnOf(to);
  const owner = column === 'account_id' ? { account_id: id } : { organization_id: id };
  const stored = await invitations.upsert(
    tx,
    { ...row, ...owner },
    `on conflict (${column}, email) where ${OPEN} do update
     set id = excluded.id, role = excluded.role, hash = excluded.hash,
       invited_by = excluded.invited_by, created = excluded.created,
       expires_at = excluded.expires_at`,
  );
  return present(stored, 'invitation');
}

export async function selectInvitations(
  sql: Sql,
  filter: { readonly to: InvitedTo; readonly now: Date },
): Promise<InvitationRow[]> {
  const { column, id } = columnOf(filter.to);
  return invitations.list(
    sql,
    `where ${column} = $1 and ${OPEN} and expires_at > $2 order by created desc, id desc`,
    [id, filter.now],
  );
}

export async function selectInvitationByHash(
  sql: Sql,
  filter: { readonly hash: Buffer; readonly now: Date },
): Promise<NamedInvitation | undefined> {
  const rows = await sql.query<NamedInvitation>(
    `select ${invitations.of('i')}, coalesce(a.name, o.name) as account_name from invitations i
     left join accounts a on a.id = i.account_id
     left join organizations o on o.id = i.organization_id
     where i.hash = $1 and i.expires_at > $2 and i.accepted_at is null and i.revoked_at is null`,
    [filter.hash, filter.now],
  );
  return rows[0];
}

export async function takeInvitation(
  tx: Tx,
  filter: { readonly hash: Buffer; readonly now: Date },
): Promise<NamedInvitation | undefined> {
  const rows = await tx.query<NamedInvitation>(
    `update invitations set accepted_at = $2
     where hash = $1 and expires_at > $2 and ${OPEN}
     returning ${invitations.columns},
       coalesce((select name from accounts a where a.id = account_id),
         (select name from organizations o where o.id = organization_id)) as account_name`,
    [filter.hash, filter.now],
  );
  return rows[0];
}

export async function revokeInvitationsBy(
  tx: Tx,
  which: { readonly to: InvitedTo; readonly userId: string; readonly now: Date },
): Promise<void> {
  const { column, id } = columnOf(which.to);
  await tx.query(
    `update invitations set revoked_at = $3
     where ${column} = $1 and invited_by = $2 and ${OPEN}`,
    [id, which.userId, which.now],
  );
}

export async function revokeInvitation(
  tx: Tx,
  which: { readonly to: InvitedTo; readonly id: string; readonly now: Date },
): Promise<InvitationRow | undefined> {
  const { column, id } = columnOf(which.to);
  const open = {
    where: `${column} = $1 and id = $2 and ${OPEN}`,
    values: [id, which.id, which.now],
  };
  return (await invitations.update(tx, {}, { ...open, also: 'revoked_at = $3' }))[0];
}
