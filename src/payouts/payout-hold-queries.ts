import { accounts } from '#accounts/account-queries.ts';
import type { Sql, Tx } from '#db/database.ts';
import { type Row, table } from '#db/table.ts';
import { ownerChanges, payoutHoldLinks } from '#people/owner-change-queries.ts';

const NAME = accounts.pick({ account_name: 'name' }, 'a');
const CHANGE = ownerChanges.pick({ kind: 'kind', subject: 'email' }, 'c');

type AnyLink = Row<typeof payoutHoldLinks> & Row<typeof NAME>;
type Wallet = 'livemode' | 'merchant_number' | 'wallet';

/** A valid link about a change of owners. */
export type OwnersLinkRow = Omit<AnyLink, 'change_id' | Wallet> &
  Row<typeof CHANGE> & { change_id: string };

/** A valid link about an announced wallet. */
export type WalletLinkRow = Omit<AnyLink, 'change_id' | Wallet> & {
  [N in Wallet]: NonNullable<AnyLink[N]>;
} & { change_id: null };

export type HoldLinkRow = OwnersLinkRow | WalletLinkRow;

export async function selectHoldLink(
  sql: Sql,
  filter: { readonly hash: Buffer; readonly now: Date },
): Promise<HoldLinkRow | undefined> {
  const rows = await sql.query<HoldLinkRow>(
    `select ${payoutHoldLinks.of('l')}, ${NAME}, ${CHANGE}
     from payout_hold_links l
     left join owner_changes c on c.id = l.change_id
     join accounts a on a.id = l.account_id
     where l.hash = $1 and l.expires_at > $2 and l.used_at is null`,
    [filter.hash, filter.now],
  );
  return rows[0];
}

/** Consumes the link. @returns false if it was used or has expired. */
export async function takeHoldLink(
  tx: Tx,
  filter: { readonly hash: Buffer; readonly now: Date },
): Promise<boolean> {
  const rows = await tx.query(
    `update payout_hold_links set used_at = $2
     where hash = $1 and expires_at > $2 and used_at is null returning change_id`,
    [filter.hash, filter.now],
  );
  return rows.length === 1;
}

/** Holds the account's payouts. @returns false if they are already held. */
export async function insertHold(
  tx: Tx,
  { id, account_id, change_id, held_by, created }: HoldRow,
): Promise<boolean> {
  const hold = { id, account_id, change_id, held_by, created };
  const conflict = 'on conflict (account_id) where lifted_at is null do nothing';
  return (await payoutHolds.upsert(tx, hold, conflict)) !== undefined;
}

export const payoutHolds = table('payout_holds', {
  id: 'text',
  account_id: 'text',
  /** The change of owners; `null` if the link is about a person or a wallet. */
  change_id: 'text?',
  held_by: 'text',
  created: 'timestamptz',
});

export type HoldRow = Row<typeof payoutHolds>;

export async function selectOpenHold(sql: Sql, accountId: string): Promise<HoldRow | undefined> {
  return payoutHolds.find(sql, 'where account_id = $1 and lifted_at is null', [accountId]);
}

export async function updateHoldLifted(
  tx: Tx,
  change: { readonly accountId: string; readonly liftedBy: string; readonly now: Date },
): Promise<HoldRow | undefined> {
  const rows = await tx.query<HoldRow>(
    `update payout_holds set lifted_at = $3, lifted_by = $2
     where account_id = $1 and lifted_at is null returning ${payoutHolds.columns}`,
    [change.accountId, change.liftedBy, change.now],
  );
  return rows[0];
}
