import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';
import { numberText, withChainNumbers } from '#settlement/uint64-columns.ts';

/** Contract events that match no row, because one of this service's keys was used elsewhere. */
export const foreignSettlements = table('foreign_settlements', {
  id: 'bigint',
  livemode: 'boolean',
  kind: as<'payment' | 'refund' | 'withdrawal'>('text'),
  number: 'bigint',
  tx_hash: 'text',
  block_number: 'bigint',
  account_id: 'text',
  /** The payer, or the wallet that was paid. */
  address: 'text',
  amount: 'bigint',
  found: 'timestamptz',
  decision: as<'accepted' | 'refused' | null>('text?'),
});

export type ForeignRow = Row<typeof foreignSettlements>;

/** Money of one merchant that was moved outside the service. */
export interface ForeignMovements extends Tenant {
  readonly moved: readonly Pick<ForeignRow, 'kind' | 'amount' | 'tx_hash'>[];
}

export interface ForeignRange {
  readonly livemode: boolean;
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  /** Events after this time are left for the next poll. */
  readonly before: Date;
}

/**
 * SQL: true if nothing explains a payment (`c`, to the merchant `m`): no row records it, no
 * transaction of ours settled it, and no job for the same sum and payer is in progress.
 */
const PAYMENT_UNEXPLAINED = `
  not exists (
      select from payments p where p.livemode = c.livemode and p.settlement_number = c.number)
    and not exists (select from chain_attempts a where a.tx_hash = c.tx_hash)
    and not exists (
      select from payment_intents i
      join chain_requests r on r.kind = 'payment' and r.subject_id = i.id
      where i.livemode = c.livemode and i.settlement_number = c.number
        and i.account_id = m.account_id and r.applied_at is null
        and r.status in ('queued', 'submitted', 'succeeded')
        and lower(r.payload ->> 'payer') = lower(c.payer)
        and (r.payload ->> 'amount')::bigint = c.amount)`;

/**
 * SQL: true if nothing in the ledger explains a transfer (`t`). Withdrawals that a wallet made
 * without the service (number 0) do not count, because the ledger does not record them. Neither do
 * refunds in the lost period that a recovery has read: if one was skipped because its payment was
 * not booked yet, the recovery that reconciliation requests books it.
 */
const TRANSFER_UNEXPLAINED = `
  (t.kind = 'refund' or t.number <> 0)
    and not exists (
      select from network_recoveries v where t.kind = 'refund' and v.livemode = t.livemode
        and t.block_number <= v.lost_to)
    and not exists (select from chain_attempts a where a.tx_hash = t.tx_hash)
    and not exists (
      select from refunds f where t.kind = 'refund' and f.livemode = t.livemode
        and (f.reference = t.reference or f.tx_hash = t.tx_hash))
    and not exists (
      select from withdrawals w where t.kind = 'withdrawal' and w.livemode = t.livemode
        and (w.number = t.number or w.tx_hash = t.tx_hash))`;

/** SQL: payments that nothing explains, whether or not their merchant has an account here. */
const FOREIGN_PAYMENTS = `
  select c.livemode, 'payment' as kind, c.number, c.tx_hash, c.log_index, c.block_number,
    m.account_id, c.merchant_number, c.payer as address, c.amount
  from chain_payments c
  left join merchant_accounts m
    on m.livemode = c.livemode and m.merchant_number = c.merchant_number
  where c.livemode = $1 and c.block_number between $2 and $3 and c.block_time < $4
    and ${PAYMENT_UNEXPLAINED}`;

const FOREIGN_TRANSFERS = `
  select t.livemode, t.kind, t.number, t.tx_hash, t.log_index, t.block_number,
    m.account_id, t.merchant_number, t.recipient as address, t.amount
  from chain_transfers t
  left join merchant_accounts m
    on m.livemode = t.livemode and m.merchant_number = t.merchant_number
  where t.livemode = $1 and t.block_number between $2 and $3 and t.block_time < $4
    and ${TRANSFER_UNEXPLAINED}`;

export interface MovedOnChain {
  readonly kind: ForeignRow['kind'];
  /** The number in the form that columns store: see {@link toNumberColumn}. */
  readonly number: string;
  readonly tx_hash: string;
  readonly log_index: number;
  readonly block_number: string;
  readonly merchant_number: string;
  /** The payer, or the wallet that was paid. */
  readonly address: string;
  readonly amount: string;
  /** For refunds only: 32 hex digits. */
  readonly reference: string | null;
}

export type UnexplainedRow = FoundForeignRow & { readonly log_index: number };

/** Returns the given events (just read, not stored) that no row explains. */
export async function selectUnexplained(
  sql: Sql,
  livemode: boolean,
  moved: readonly MovedOnChain[],
): Promise<UnexplainedRow[]> {
  if (moved.length === 0) return [];
  const rows = await sql.query<UnexplainedRow>(
    `with moved as (
       select $1::boolean as livemode, x.kind, x.number, x.tx_hash, x.log_index, x.block_number,
         x.merchant_number, x.address as payer, x.amount, decode(x.reference, 'hex') as reference
       from jsonb_to_recordset($2::jsonb) as x (kind text, number bigint, tx_hash text,
         log_index integer, block_number bigint, merchant_number bigint, address text,
         amount bigint, reference text)
     )
     select c.kind, c.number, c.tx_hash, c.log_index, m.account_id, c.merchant_number,
       c.payer as address, c.amount
     from moved c
     left join merchant_accounts m
       on m.livemode = c.livemode and m.merchant_number = c.merchant_number
     where c.kind = 'payment' and ${PAYMENT_UNEXPLAINED}
     union all
     select t.kind, t.number, t.tx_hash, t.log_index, m.account_id, t.merchant_number,
       t.payer, t.amount
     from moved t
     left join merchant_accounts m
       on m.livemode = t.livemode and m.merchant_number = t.merchant_number
     where t.kind <> 'payment' and ${TRANSFER_UNEXPLAINED}`,
    [livemode, JSON.stringify(moved)],
  );
  return withChainNumbers(rows);
}

export interface FoundForeignRow
  extends Pick<ForeignRow, 'kind' | 'number' | 'tx_hash' | 'address' | 'amount'> {
  /** `null` if no account has the merchant number. */
  readonly account_id: string | null;
  readonly merchant_number: bigint;
}

/**
 * Records the foreign events in these blocks, and deletes those that a reorganization has removed.
 * @returns the events that are new, or whose merchant has no account here.
 */
export async function insertForeign(
  tx: Tx,
  range: ForeignRange,
  now: Date,
): Promise<FoundForeignRow[]> {
  const { livemode, fromBlock, toBlock, before } = range;
  await tx.query(
    `delete from foreign_settlements f where f.livemode = $1 and f.decision is null
     and not exists (
       select from chain_payments c where f.kind = 'payment' and c.livemode = f.livemode
         and c.number = f.number and c.tx_hash = f.tx_hash and c.log_index = f.log_index)
     and not exists (
       select from chain_transfers t where f.kind <> 'payment' and t.livemode = f.livemode
         and t.tx_hash = f.tx_hash and t.log_index = f.log_index)`,
    [livemode],
  );
  const rows = await tx.query<FoundForeignRow>(
    `with found as (${FOREIGN_PAYMENTS} union all ${FOREIGN_TRANSFERS}), written as (
       insert into foreign_settlements (livemode, kind, number, tx_hash, log_index, block_number,
         account_id, address, amount, found)
       select livemode, kind, number, tx_hash, log_index, block_number, account_id, address,
         amount, $5 from found where account_id is not null
       on conflict do nothing returning tx_hash, log_index
     )
     select account_id, merchant_number, kind, number, tx_hash, address, amount from found
     where account_id is null or (tx_hash, log_index) in (select tx_hash, log_index from written)
     order by block_number, log_index`,
    [livemode, fromBlock, toBlock, before, now],
  );
  return withChainNumbers(rows);
}

/** Marks differences about foreign events as accepted if two operators have refused the events. */
export async function acceptRefused(tx: Tx, livemode: boolean, now: Date): Promise<void> {
  await tx.query(
    `update reconciliation_differences d set accepted_at = $2
     where d.livemode = $1 and d.resolved_at is null and d.accepted_at is null and exists (
       select from foreign_settlements f
       where f.livemode = d.livemode and f.decision = 'refused' and ${IS_DIFFERENCE})`,
    [livemode, now],
  );
}

/** SQL: the condition that joins differences (`d`) with foreign settlements (`f`), by subject. */
export const IS_DIFFERENCE = `
  (d.kind, d.subject) = (f.kind || '_unknown_here', ${numberText('f.number')}
    || case f.kind when 'refund' then '/' || f.tx_hash else '' end)`;

/** Returns the foreign events, undecided ones first. */
export async function selectForeign(sql: Sql): Promise<ForeignRow[]> {
  const rows = await foreignSettlements.list(
    sql,
    'order by decision is not null, livemode, account_id, id',
    [],
  );
  return withChainNumbers(rows);
}

export interface ForeignGroup extends Tenant {
  /** The newest event that operators saw before they decided. */
  readonly upTo: bigint;
}

/** Returns an account's newest undecided event; `null` if there is none. */
export async function selectNewestForeign(sql: Sql, tenant: Tenant): Promise<bigint | null> {
  const rows = await sql.query<{ id: bigint | null }>(
    `select max(id) as id from foreign_settlements
     where account_id = $1 and livemode = $2 and decision is null`,
    [tenant.accountId, tenant.livemode],
  );
  return rows[0]?.id ?? null;
}

/**
 * Stores the decision on an account's events.
 * @returns how many were undecided.
 */
export async function decideForeign(
  tx: Tx,
  group: ForeignGroup,
  decided: { readonly decision: 'accepted' | 'refused'; readonly now: Date },
): Promise<number> {
  const rows = await tx.query(
    `update foreign_settlements set decision = $4, decided_at = $5
     where account_id = $1 and livemode = $2 and id <= $3 and decision is null returning id`,
    [group.accountId, group.livemode, group.upTo, decided.decision, decided.now],
  );
  return rows.length;
}

/** Deletes undecided events, because the database was restored and recovery books them. */
export async function deleteUndecided(tx: Tx, livemode: boolean): Promise<void> {
  await tx.query('delete from foreign_settlements where livemode = $1 and decision is null', [
    livemode,
  ]);
}

/** Returns the atoms that an account may not pay out: undecided events and refused payments. */
export async function selectKeptBack(sql: Sql, tenant: Tenant): Promise<bigint> {
  const rows = await sql.query<{ amount: bigint }>(
    `select coalesce(sum(amount), 0)::bigint as amount from foreign_settlements
     where account_id = $1 and livemode = $2
       and (decision is null or (decision = 'refused' and kind = 'payment'))`,
    [tenant.accountId, tenant.livemode],
  );
  return rows[0]?.amount ?? 0n;
}
