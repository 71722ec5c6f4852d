import type { Sql, Tx } from '#db/database.ts';

export type PersonLinkKind = 'not_me' | 'trust_factor' | 'recover_factor';

export interface PersonLinkRow {
  readonly kind: PersonLinkKind;
  readonly user_id: string;
  readonly account_id: string | null;
  /** Who got the mail. */
  readonly email: string;
  readonly what: string;
  readonly created: Date;
}

export async function insertPersonLink(
  tx: Tx,
  link: {
    readonly hash: Buffer;
    readonly kind: PersonLinkKind;
    readonly userId: string;
    readonly accountId: string | null;
    readonly email: string;
    readonly what: string;
    readonly now: Date;
    readonly expiresAt: Date;
  },
): Promise<void> {
  await tx.query(
    `insert into person_links (hash, kind, user_id, account_id, email, what, created, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      link.hash,
      link.kind,
      link.userId,
      link.accountId,
      link.email,
      link.what,
      link.now,
      link.expiresAt,
    ],
  );
}

const COLUMNS = 'kind, user_id, account_id, email, what, created';

export async function selectPersonLink(
  sql: Sql,
  wanted: { readonly hash: Buffer; readonly now: Date },
): Promise<PersonLinkRow | undefined> {
  const rows = await sql.query<PersonLinkRow>(
    `select ${COLUMNS} from person_links
     where hash = $1 and expires_at > $2 and used_at is null`,
    [wanted.hash, wanted.now],
  );
  return rows[0];
}

/** Uses the link up; undefined when it was used, or its time is over. */
export async function takePersonLink(
  tx: Tx,
  wanted: { readonly hash: Buffer; readonly now: Date },
): Promise<PersonLinkRow | undefined> {
  const rows = await tx.query<PersonLinkRow>(
    `update person_links set used_at = $2
     where hash = $1 and expires_at > $2 and used_at is null returning ${COLUMNS}`,
    [wanted.hash, wanted.now],
  );
  return rows[0];
}

/** @returns how many of at most `limit` links that ended before `before` were dropped. */
export async function deleteOldPersonLinks(sql: Sql, before: Date, limit: number): Promise<number> {
  const rows = await sql.query(
    `delete from person_links where hash in
       (select hash from person_links where expires_at <= $1 limit $2)
     returning hash`,
    [before, limit],
  );
  return rows.length;
}
