import type { Sql } from '#db/database.ts';
import { as, table } from '#db/table.ts';

export type OwnerChangeKind = 'invited' | 'joined' | 'promoted' | 'demoted' | 'removed' | 'left';

export const ownerChanges = table('owner_changes', {
  id: 'text',
  account_id: 'text',
  kind: as<OwnerChangeKind>('text'),
  email: 'text',
  changed_by: 'text',
  created: 'timestamptz',
});

export const payoutHoldLinks = table(
  'payout_hold_links',
  {
    change_id: 'text?',
    account_id: 'text',
    email: 'text',
    created: 'timestamptz',
    livemode: 'boolean?',
    merchant_number: 'bigint?',
    wallet: 'text?',
  },
  { hash: 'bytea', expires_at: 'timestamptz' },
);

/** Invitations do not count until accepted. */
export async function selectLastOwnerChange(sql: Sql, accountId: string): Promise<Date | null> {
  const rows = await sql.query<{ created: Date }>(
    `select created from owner_changes where account_id = $1 and kind <> 'invited'
     order by created desc limit 1`,
    [accountId],
  );
  return rows[0]?.created ?? null;
}

/** A wallet that was announced for a merchant. */
export interface ProposedWallet {
  readonly livemode: boolean;
  readonly merchantNumber: bigint;
  readonly wallet: string;
}

/** The subject of a hold link: a stored change of owners, or an announced wallet. */
export type HoldLinkAbout = { readonly changeId: string } | ProposedWallet;

/** True if a hold link about this wallet was mailed to an owner after `since`. */
export async function hasHoldLink(
  sql: Sql,
  filter: ProposedWallet & { readonly accountId: string; readonly since: Date },
): Promise<boolean> {
  const rows = await sql.query(
    `select 1 from payout_hold_links
     where account_id = $1 and created > $2 and livemode = $3 and merchant_number = $4
       and lower(wallet) = lower($5) limit 1`,
    [filter.accountId, filter.since, filter.livemode, filter.merchantNumber, filter.wallet],
  );
  return rows.length > 0;
}
