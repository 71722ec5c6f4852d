import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';
import { deletingExpired } from '#people/expired-queries.ts';

export type PersonLinkKind = 'not_me' | 'trust_factor' | 'recover_factor' | 'report_email';

export const personLinks = table(
  'person_links',
  {
    kind: as<PersonLinkKind>('text'),
    user_id: 'text',
    account_id: 'text?',
    /** The recipient of the mail. */
    email: 'text',
    what: 'text',
    created: 'timestamptz',
  },
  { hash: 'bytea', expires_at: 'timestamptz' },
);

export type PersonLinkRow = Row<typeof personLinks>;

export async function selectPersonLink(
  sql: Sql,
  filter: { readonly hash: Buffer; readonly now: Date },
): Promise<PersonLinkRow | undefined> {
  return personLinks.find(sql, 'where hash = $1 and expires_at > $2 and used_at is null', [
    filter.hash,
    filter.now,
  ]);
}

/** Consumes the link. @returns undefined if it was used or has expired. */
export async function takePersonLink(
  tx: Tx,
  filter: { readonly hash: Buffer; readonly now: Date },
): Promise<PersonLinkRow | undefined> {
  const where = 'hash = $1 and expires_at > $2 and used_at is null';
  const open = { where, values: [filter.hash, filter.now], also: 'used_at = $2' };
  return (await personLinks.update(tx, {}, open))[0];
}

export const deleteOldPersonLinks = deletingExpired('person_links', {
  key: 'hash',
  expired: 'expires_at <= $1',
});
