import type { Role } from '#accounts/roles.ts';
import type { Sql, Tx } from '#db/database.ts';

export interface InvitationRow {
  readonly id: string;
  readonly account_id: string;
  readonly email: string;
  readonly role: Role;
  readonly invited_by: string;
  readonly created: Date;
  readonly expires_at: Date;
}

const COLUMNS = 'id, account_id, email, role, invited_by, created, expires_at';
const OPEN = 'accepted_at is null and revoked_at is null';

/** An open invitation to the same address is replaced: its link is void. */
export async function replaceInvitation(
  tx: Tx,
  invitation: {
    readonly id: string;
    readonly accountId: string;
    readonly email: string;
    readonly role: Role;
    readonly hash: Buffer;
    readonly invitedBy: string;
    readonly now: Date;
    readonly expiresAt: Date;
  },
): Promise<InvitationRow[]> {
  return tx.query(
    `insert into invitations (id, account_id, email, role, hash, invited_by, created, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (account_id, email) where ${OPEN} do update
     set id = excluded.id, role = excluded.role, hash = excluded.hash,
       invited_by = excluded.invited_by, created = excluded.created,
       expires_at = excluded.expires_at
     returning ${COLUMNS}`,
    [
      invitation.id,
      invitation.accountId,
      invitation.email,
      invitation.role,
      invitation.hash,
      invitation.invitedBy,
      invitation.now,
      invitation.expiresAt,
    ],
  );
}

export async function selectInvitations(
  sql: Sql,
  of: { readonly accountId: string; readonly now: Date },
): Promise<InvitationRow[]> {
  return sql.query(
    `select ${COLUMNS} from invitations
     where account_id = $1 and ${OPEN} and expires_at > $2 order by created desc, id desc`,
    [of.accountId, of.now],
  );
}

export async function selectInvitationByHash(
  sql: Sql,
  of: { readonly hash: Buffer; readonly now: Date },
): Promise<(InvitationRow & { account_name: string }) | undefined> {
  const rows = await sql.query<InvitationRow & { account_name: string }>(
    `select i.id, i.account_id, i.email, i.role, i.invited_by, i.created, i.expires_at,
       a.name as account_name
     from invitations i join accounts a on a.id = i.account_id
     where i.hash = $1 and i.expires_at > $2 and i.accepted_at is null and i.revoked_at is null`,
    [of.hash, of.now],
  );
  return rows[0];
}

export async function takeInvitation(
  tx: Tx,
  of: { readonly hash: Buffer; readonly now: Date },
): Promise<InvitationRow | undefined> {
  const rows = await tx.query<InvitationRow>(
    `update invitations set accepted_at = $2
     where hash = $1 and expires_at > $2 and ${OPEN} returning ${COLUMNS}`,
    [of.hash, of.now],
  );
  return rows[0];
}

/** Revokes what a person has sent. */
export async function revokeInvitationsBy(
  tx: Tx,
  of: { readonly accountId: string; readonly userId: string; readonly now: Date },
): Promise<void> {
  await tx.query(
    `update invitations set revoked_at = $3
     where account_id = $1 and invited_by = $2 and ${OPEN}`,
    [of.accountId, of.userId, of.now],
  );
}

export async function revokeInvitation(
  tx: Tx,
  of: { readonly accountId: string; readonly id: string; readonly now: Date },
): Promise<InvitationRow | undefined> {
  const rows = await tx.query<InvitationRow>(
    `update invitations set revoked_at = $3
     where account_id = $1 and id = $2 and ${OPEN} returning ${COLUMNS}`,
    [of.accountId, of.id, of.now],
  );
  return rows[0];
}
