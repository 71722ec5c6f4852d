import { only } from '#core/assert.ts';
import type { Sql, Tx } from '#db/database.ts';
import { checked } from '#db/plan-shapes.ts';
import { as, type Row, table } from '#db/table.ts';
import { columnOfText, numberText, toNumberColumn } from '#settlement/uint64-columns.ts';

export interface BlockRange {
  readonly livemode: boolean;
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
}

export const reconciliationCursors = table(
  'reconciliation_cursors',
  { livemode: 'boolean', next_block: 'bigint', updated: 'timestamptz' },
  {
    /** Events of the contract before this block are older than the service. */
    watched_from: 'bigint',
  },
);

type CursorRow = Row<typeof reconciliationCursors>;

export async function selectCursor(sql: Sql, livemode: boolean): Promise<CursorRow | undefined> {
  return reconciliationCursors.find(sql, 'where livemode = $1', [livemode]);
}

/** Returns the contracts that already had events when they were added to the service's settings. */
export async function selectUnread(sql: Sql, livemode: boolean): Promise<number[]> {
  const rows = await sql.query<{ contract_version: number }>(
    'select contract_version from settlement_contracts where livemode = $1 and not read',
    [livemode],
  );
  return rows.map((row) => row.contract_version);
}

export async function markRead(
  tx: Tx,
  contract: { readonly livemode: boolean; readonly contractVersion: number },
): Promise<void> {
  await tx.query(
    'update settlement_contracts set read = true where livemode = $1 and contract_version = $2',
    [contract.livemode, contract.contractVersion],
  );
}

const LOCKED = reconciliationCursors.pick(['next_block', 'watched_from']);

/** Locks the cursor, so that only one of two concurrent runs takes effect. */
export async function lockCursor(
  tx: Tx,
  filter: { readonly livemode: boolean; readonly start: bigint; readonly watchedFrom: bigint },
  now: Date,
): Promise<Row<typeof LOCKED>> {
  const rows = await tx.query<Row<typeof LOCKED>>(
    `insert into reconciliation_cursors (livemode, next_block, updated, watched_from)
     values ($1, $2, $3, $4)
     on conflict (livemode) do update set updated = excluded.updated
     returning ${LOCKED}`,
    [filter.livemode, filter.start, now, filter.watchedFrom],
  );
  return only(rows, 'cursor of a network');
}

/** Returns the last block of the lost period; `null` if no data was lost. */
export async function selectLostTo(sql: Sql, livemode: boolean): Promise<bigint | null> {
  const rows = await sql.query<{ lost_to: bigint | null }>(
    'select lost_to from network_recoveries where livemode = $1',
    [livemode],
  );
  return rows[0]?.lost_to ?? null;
}

export async function moveCursor(tx: Tx, livemode: boolean, nextBlock: bigint): Promise<void> {
  await tx.query('update reconciliation_cursors set next_block = $2 where livemode = $1', [
    livemode,
    nextBlock,
  ]);
}

/**
 * Moves the cursor back to the contract's deployment. Events without an alarm are then reported as
 * new, however old they are.
 */
export async function resetCursor(tx: Tx, livemode: boolean, start: bigint): Promise<void> {
  await tx.query(
    `with balances as (delete from reconciliation_balances where livemode = $1)
     update reconciliation_cursors set next_block = $2, watched_from = 0,
       compared_block = null, compared_at = null
     where livemode = $1`,
    [livemode, start],
  );
}

/** Deletes the rows of payments in this range that a reorganization has removed from the chain. */
export async function deleteOtherPayments(
  tx: Tx,
  range: BlockRange,
  numbers: readonly bigint[],
): Promise<void> {
  await tx.query(
    `delete from chain_payments
     where livemode = $1 and block_number between $2 and $3 and number <> all($4::bigint[])`,
    [range.livemode, range.fromBlock, range.toBlock, numbers.map(toNumberColumn).map(String)],
  );
}

export const chainTransfers = table('chain_transfers', {
  tx_hash: 'text',
  log_index: 'int',
  kind: as<'refund' | 'withdrawal'>('text'),
  number: as<string>('bigint'),
  merchant_number: as<string>('bigint'),
  recipient: 'text',
  amount: as<string>('bigint'),
  block_number: as<string>('bigint'),
  block_time: as<string>('timestamptz'),
  /** Hex without 0x; `null` for withdrawals. */
  reference: as<string | null>('bytea?'),
});

export type TransferRow = Row<typeof chainTransfers>;

/** If a reorganization has moved a transfer here from a later block, its newest position counts. */
export async function replaceTransfers(
  tx: Tx,
  range: BlockRange,
  transfers: readonly TransferRow[],
): Promise<void> {
  await tx.query(
    'delete from chain_transfers where livemode = $1 and block_number between $2 and $3',
    [range.livemode, range.fromBlock, range.toBlock],
  );
  await tx.query(
    `insert into chain_transfers (livemode, ${chainTransfers.columns})
     select $2, i.tx_hash, i.log_index, i.kind, i.number, i.merchant_number, i.recipient, i.amount,
       i.block_number, i.block_time, decode(i.reference, 'hex')
     from jsonb_to_recordset($1::jsonb) as i (
       tx_hash text, log_index integer, kind text, number bigint, merchant_number bigint,
       recipient text, amount bigint, block_number bigint,
       block_time timestamptz, reference text)
     on conflict (livemode, tx_hash, log_index) do update set
       kind = excluded.kind, number = excluded.number,
       merchant_number = excluded.merchant_number, recipient = excluded.recipient,
       amount = excluded.amount, block_number = excluded.block_number,
       block_time = excluded.block_time, reference = excluded.reference`,
    [JSON.stringify(transfers), range.livemode],
  );
}

/** Adds the movements of a final range to each merchant's balance according to events. */
export async function addBalances(tx: Tx, range: BlockRange): Promise<void> {
  await tx.query(
    `insert into reconciliation_balances (livemode, merchant_number, balance)
     select $1, merchant_number, sum(amount) from (${MOVEMENTS}) m group by merchant_number
     on conflict (livemode, merchant_number)
     do update set balance = reconciliation_balances.balance + excluded.balance`,
    [range.livemode, range.fromBlock, range.toBlock],
  );
}

const MOVEMENTS = `
  select merchant_number, amount from chain_payments
  where livemode = $1 and block_number between $2 and $3
  union all
  select merchant_number, -amount from chain_transfers
  where livemode = $1 and block_number between $2 and $3`;

/** Returns each merchant's balance by all events up to a block. `fromBlock` is the cursor. */
export async function selectExpectedBalances(
  sql: Sql,
  range: BlockRange,
): Promise<{ readonly merchant_number: bigint; readonly balance: bigint }[]> {
  return sql.query(
    `select merchant_number, sum(amount)::bigint as balance from (
       select merchant_number, balance as amount from reconciliation_balances where livemode = $1
       union all ${MOVEMENTS}
     ) all_movements group by merchant_number`,
    [range.livemode, range.fromBlock, range.toBlock],
  );
}

export interface DifferenceRow {
  readonly kind: string;
  readonly subject: string;
  readonly details: { readonly [key: string]: unknown };
}

/**
 * SQL: payments in a block that do not count yet, because the operator requires a longer wait for
 * their amounts (`…_CONFIRMATION_TIERS`). The wait may take minutes.
 */
const WAITING = `
  select r.number from chain_transactions t cross join lateral (
    select * from chain_requests where transaction_id = t.id offset 0) r
  where t.status = 'signed' and ${checked('t.livemode = $1')} and t.waits_for is not null
    and r.kind = 'payment' and r.status = 'submitted' and r.number is not null`;

/** Returns the first block with a payment that does not count yet; `null` if there is none. */
export async function selectFirstWaiting(sql: Sql, livemode: boolean): Promise<bigint | null> {
  const rows = await sql.query<{ block: bigint | null }>(
    `select min(block_number) as block from chain_payments
     where livemode = $1 and number in (${WAITING})`,
    [livemode],
  );
  return rows[0]?.block ?? null;
}

/**
 * Returns payments that only the chain or only the ledger has, or that differ. The ledger may not
 * have payments yet that are within the grace period, or have a longer confirmation wait.
 */
export async function selectPaymentDifferences(
  sql: Sql,
  range: BlockRange,
  settledBefore: Date,
): Promise<DifferenceRow[]> {
  return sql.query(
    `with mine as (
       select * from payments where livemode = $1 and block_number between $2 and $3
     ), theirs as (
       select * from chain_payments where livemode = $1 and block_number between $2 and $3
     ), open as (
       select subject from reconciliation_differences
       where livemode = $1 and resolved_at is null and kind like 'payment_%'
     ), suspects as (
       select number from theirs
       union select settlement_number from mine
       union select ${columnOfText('subject')} from open where subject ~ '^[0-9]+$'
     )
     select case when p.id is null then 'payment_unknown_here'
         when c.number is null then 'payment_missing_on_chain'
         else 'payment_differs' end as kind,
       ${numberText('s.number')} as subject,
       jsonb_build_object('payment', p.id,
         'ours', case when p.id is not null then jsonb_build_object(
           'merchant_number', m.merchant_number, 'payer', p.payer_address, 'amount', p.amount,
           'order_id', p.order_id, 'fee_acquirer', p.fee_acquirer,
           'fee_protocol', p.fee_protocol, 'cashback', p.fee_cashback, 'tx_hash', p.tx_hash,
           'block_number', p.block_number, 'log_index', p.log_index) end,
         'chain', to_jsonb(c) - '{livemode,number,batch_number,block_time}'::text[]) as details
     from suspects s
     left join payments p on p.livemode = $1 and p.settlement_number = s.number
     left join chain_payments c on c.livemode = $1 and c.number = s.number
     left join account_modes m on m.account_id = p.account_id and m.livemode = p.livemode
     left join merchant_accounts k on k.livemode = $1 and k.merchant_number = c.merchant_number
       and k.account_id = p.account_id
     where coalesce(c.block_time, p.settled_at - p.ahead_seconds * interval '1 second') < $4
       and (p.id is null or c.number is null or ${DIFFERENT_MONEY})
       and (p.id is not null or s.number not in (${WAITING}))
     order by s.number`,
    [range.livemode, range.fromBlock, range.toBlock, settledBefore],
  );
}

const DIFFERENT_MONEY = `(
  (p.amount, lower(p.payer_address), p.order_id, p.fee_acquirer, p.fee_protocol, p.fee_cashback)
  is distinct from
  (c.amount, lower(c.payer), c.order_id, c.fee_acquirer, c.fee_protocol, c.cashback)
  or k.merchant_number is null)`;

/** The blocks and rows that a run compares, in addition to the open differences. */
export interface ComparedSince extends BlockRange {
  /** Rows that changed since this time are compared. */
  readonly since: Date;
}

/**
 * Returns refunds that only the chain or only the ledger shows as paid, or whose amounts differ. If
 * one refund of a payment may have changed, all of its refunds are compared.
 */
export async function selectRefundDifferences(
  sql: Sql,
  filter: ComparedSince,
  settledBefore: Date,
): Promise<DifferenceRow[]> {
  return sql.query(
    `with open as (${OPEN_TRANSFERS} and kind like 'refund_%'
     ), changed as (
       select id from refunds
       where livemode = $1 and status = 'succeeded' and updated between $4 and 'infinity'
       union select subject from open
     ), suspects as (
       select number from chain_transfers
       where livemode = $1 and kind = 'refund' and block_number between $2 and $3
       union select number from open
       union select p.settlement_number
       from changed join refunds f using (id) join payments p on p.id = f.payment_id
     ), theirs as (
       select t.* from suspects s join chain_transfers t using (number)
       where t.livemode = $1 and t.kind = 'refund'
     ), mine as (
       select f.id, f.amount, f.tx_hash, f.updated, p.settlement_number,
         coalesce(x.tx_hash, f.tx_hash) as chain_hash
       from suspects s
       join payments p on p.livemode = $1 and p.settlement_number = s.number
       join refunds f on f.account_id = p.account_id and f.livemode = p.livemode
         and f.payment_id = p.id and f.status = 'succeeded'
       -- What a reorganization undid is paid in another transaction than the refund names.
       left join chain_requests q on q.kind = 'refund' and q.subject_id = f.id
         and q.status = 'succeeded'
       left join chain_transactions x on x.id = q.transaction_id
     )
     select case when m.id is null then 'refund_unknown_here'
         when t.tx_hash is null then 'refund_missing_on_chain'
         else 'refund_differs' end as kind,
       coalesce(m.id, ${numberText('t.number')} || '/' || t.tx_hash) as subject,
       jsonb_build_object('ours', to_jsonb(m) - 'chain_hash', 'chain', to_jsonb(t)) as details
     from theirs t
     full join mine m on m.settlement_number = t.number and m.chain_hash = t.tx_hash
     where (m.id is null or t.tx_hash is null or m.amount <> t.amount or m.tx_hash <> t.tx_hash)
       and coalesce(t.block_time, m.updated) < $5
       and (t.block_number is null or t.block_number <= $3)
     order by 2`,
    [filter.livemode, filter.fromBlock, filter.toBlock, filter.since, settledBefore],
  );
}

const OPEN_TRANSFERS = `
  select subject, (details -> 'chain' ->> 'number')::bigint as number
  from reconciliation_differences
  where livemode = $1 and resolved_at is null`;

/**
 * Returns withdrawals that only the chain or only the ledger has, or that differ. Withdrawals that
 * a wallet made without the service (number 0) are ignored.
 */
export async function selectWithdrawalDifferences(
  sql: Sql,
  filter: ComparedSince,
  settledBefore: Date,
): Promise<DifferenceRow[]> {
  return sql.query(
    `with open as (${OPEN_TRANSFERS} and kind like 'withdrawal_%'
     ), changed as (
       select id from withdrawals
       where livemode = $1 and status = 'succeeded' and updated between $4 and 'infinity'
       union select subject from open
     ), numbers as (
       select number from chain_transfers
       where livemode = $1 and kind = 'withdrawal' and block_number between $2 and $3
       union select number from open
     ), suspects as (
       select id from changed
       union select w.id from numbers n join withdrawals w using (number) where w.livemode = $1
       union select q.subject_id from numbers n join chain_requests q using (number)
       where q.livemode = $1 and q.kind = 'withdrawal'
     ), mine as (
       select w.id, w.amount, w.wallet, w.tx_hash, w.updated, coalesce(w.number, q.number) as number
       from suspects s
       join withdrawals w on w.id = s.id and w.livemode = $1 and w.status = 'succeeded'
       left join chain_requests q on q.kind = 'withdrawal' and q.subject_id = w.id
         and q.status = 'succeeded'
     ), theirs as (
       select t.* from (select number from numbers union select number from mine) s
       join chain_transfers t using (number)
       where t.livemode = $1 and t.kind = 'withdrawal' and t.number <> 0
     )
     select case when m.id is null then 'withdrawal_unknown_here'
         when t.tx_hash is null then 'withdrawal_missing_on_chain'
         else 'withdrawal_differs' end as kind,
       coalesce(m.id, ${numberText('t.number')}) as subject,
       jsonb_build_object('ours', to_jsonb(m), 'chain', to_jsonb(t)) as details
     from theirs t
     full join mine m on m.number = t.number
     where (m.id is null or t.tx_hash is null or m.amount <> t.amount or m.tx_hash <> t.tx_hash
         or lower(m.wallet) <> lower(t.recipient))
       and coalesce(t.block_time, m.updated) < $5
       and (t.block_number is null or t.block_number <= $3)
     order by 2`,
    [filter.livemode, filter.fromBlock, filter.toBlock, filter.since, settledBefore],
  );
}

/** The state after the last complete run; `null` to compare everything. */
export interface Compared {
  readonly compared_block: bigint;
  readonly compared_at: Date;
}

export async function selectCompared(sql: Sql, livemode: boolean): Promise<Compared | null> {
  const rows = await sql.query<Compared>(
    `select compared_block, compared_at from reconciliation_cursors
     where livemode = $1 and compared_at is not null`,
    [livemode],
  );
  return rows[0] ?? null;
}

/**
 * Stores where the next run begins: at the first block that a reorganization can undo, and at rows
 * of that time. Does nothing if another run, or a recovery, has changed the state since `earlier`
 * was read.
 */
export async function moveCompared(
  tx: Tx,
  earlier: Compared | null,
  { livemode, toBlock, before }: Omit<BlockRange, 'fromBlock'> & { readonly before: Date },
): Promise<void> {
  await tx.query(
    `update reconciliation_cursors c
     set compared_block = least(c.next_block, $2::bigint + 1),
       compared_at = least($3::timestamptz, c.updated, (
         select min(t.block_time) from chain_transfers t
         where t.livemode = c.livemode and t.block_number >= least(c.next_block, $2::bigint + 1)))
     where c.livemode = $1 and c.compared_at is not distinct from $4`,
    [livemode, toBlock, before, earlier?.compared_at ?? null],
  );
}

/** `accepted`: an operator has accepted the difference in its present form. */
export type OpenDifferenceRow = DifferenceRow & { readonly accepted: boolean };

/** Returns the differences found by the last run that looked for them. */
export async function selectOpenDifferences(
  sql: Sql,
  livemode: boolean,
  kind: string,
): Promise<OpenDifferenceRow[]> {
  return sql.query(
    `select kind, subject, details, accepted_at is not null as accepted
     from reconciliation_differences
     where livemode = $1 and kind = $2 and resolved_at is null`,
    [livemode, kind],
  );
}

/** Keeps one open row per difference, and resolves differences that were not found again. */
export async function saveDifferences(
  tx: Tx,
  livemode: boolean,
  differences: readonly DifferenceRow[],
  now: Date,
): Promise<OpenDifferenceRow[]> {
  return tx.query(
    `with found as (
       select * from jsonb_to_recordset($2::jsonb) as t (kind text, subject text, details jsonb)
     ), resolved as (
       update reconciliation_differences d set resolved_at = $3
       where d.livemode = $1 and d.resolved_at is null and not exists (
         select from found f where f.kind = d.kind and f.subject = d.subject)
     )
     insert into reconciliation_differences
       (livemode, kind, subject, details, first_seen, last_seen)
     select $1, kind, subject, details, $3, $3 from found
     on conflict (livemode, kind, subject) where resolved_at is null
     do update set last_seen = excluded.last_seen,
       details = excluded.details, accepted_at = case
         when reconciliation_differences.details = excluded.details
         then reconciliation_differences.accepted_at end
     returning kind, subject, details, accepted_at is not null as accepted`,
    [livemode, JSON.stringify(differences), now],
  );
}

/** Accepts the difference on behalf of an operator, until its details change. */
export async function acceptDifference(sql: Sql, id: bigint, now: Date): Promise<boolean> {
  const rows = await sql.query(
    `update reconciliation_differences set accepted_at = $2
     where id = $1 and resolved_at is null and accepted_at is null returning id`,
    [id, now],
  );
  return rows.length > 0;
}
