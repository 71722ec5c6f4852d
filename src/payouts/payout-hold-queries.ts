import type { Sql, Tx } from '#db/database.ts';
import { type Row, table } from '#db/table.ts';
import type { OwnerChangeKind } from '#people/owner-change-queries.ts';

interface AnyHoldLinkRow {
  readonly account_id: string;
  readonly email: string;
  readonly account_name: string;
  readonly created: Date;
}

/** A valid link, and the change of owners that it belongs to. */
export interface OwnersLinkRow extends AnyHoldLinkRow {
  readonly change_id: string;
  readonly kind: OwnerChangeKind;
  readonly subject: string;
}

/** A valid link, and the announced wallet. */
export interface WalletLinkRow extends AnyHoldLinkRow {
  readonly change_id: null;
  readonly livemode: boolean;
  readonly merchant_number: bigint;
  readonly wallet: string;
}

export type HoldLinkRow = OwnersLinkRow | WalletLinkRow;

export async function selectHoldLink(
  sql: Sql,
  wanted: { readonly hash: Buffer; readonly now: Date },
): Promise<HoldLinkRow | undefined> {
  const rows = await sql.query<HoldLinkRow>(
    `select l.change_id, l.account_id, l.email, a.name as account_name, c.kind,
       c.email as subject, l.created, l.livemode, l.merchant_number, l.wallet
     from payout_hold_links l
     left join owner_changes c on c.id = l.change_id
     join accounts a on a.id = l.account_id
     where l.hash = $1 and l.expires_at > $2 and l.used_at is null`,
    [wanted.hash, wanted.now],
  );
  return rows[0];
}

/** Consumes the link; false if it was used, or has expired. */
export async function takeHoldLink(
  tx: Tx,
  wanted: { readonly hash: Buffer; readonly now: Date },
): Promise<boolean> {
  const rows = await tx.query(
    `update payout_hold_links set used_at = $2
     where hash = $1 and expires_at > $2 and used_at is null returning change_id`,
    [wanted.hash, wanted.now],
  );
  return rows.length === 1;
}

/** False if the account's payouts are already held. */
export async function insertHold(
  tx: Tx,
  hold: {
    readonly id: string;
    readonly accountId: string;
    /** `null` if it comes from a link about a person. */
    readonly changeId: string | null;
    readonly heldBy: string;
    readonly now: Date;
  },
): Promise<boolean> {
  const rows = await tx.query(
    `insert into payout_holds (id, account_id, change_id, held_by, created)
     values ($1, $2, $3, $4, $5)
     on conflict (account_id) where lifted_at is null do nothing returning id`,
    [hold.id, hold.accountId, hold.changeId, hold.heldBy, hold.now],
  );
  return rows.length === 1;
}

export const payoutHolds = table('payout_holds', {
  id: 'text',
  held_by: 'text',
  created: 'timestamptz',
});

export type HoldRow = Row<typeof payoutHolds>;

export async function selectOpenHold(sql: Sql, accountId: string): Promise<HoldRow | undefined> {
  const rows = await sql.query<HoldRow>(
    'select id, held_by, created from payout_holds where account_id = $1 and lifted_at is null',
    [accountId],
  );
  return rows[0];
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
