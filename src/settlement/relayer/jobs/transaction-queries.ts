import { present } from '#core/assert.ts';
import { columnsFrom, type Sent } from '#db/columns.ts';
import type { Sql, Tx } from '#db/database.ts';
import { checked } from '#db/plan-shapes.ts';
import type { Fees } from '#settlement/chain/fees/gas-fees.ts';
import { hasStatus } from '#settlement/chain-request-queries.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type {
  Attempt,
  Offer,
  OpenRequest,
  TransactionFacts,
} from '#settlement/relayer/state-machine/transaction.ts';

/** If it has no bytes yet, a remote signer signs it after the commit. */
export type NewTransaction = Omit<TransactionFacts, 'id'>;

interface OfSender {
  readonly livemode: boolean;
  readonly sender: number;
}

interface OfSenders {
  readonly livemode: boolean;
  readonly senders: readonly number[];
}

const SIGNED = columnsFrom(7, {
  nonce: 'bigint',
  kind: 'text',
  target: 'text',
  input: 'bytea',
  gas_limit: 'bigint',
  tx_hash: 'text?',
  raw: 'bytea?',
  cancels: 'boolean',
  // Fees are text, because they have up to 256 bits.
  max_fee: 'text',
  max_tip: 'text',
  valid_until: 'timestamptz?',
});

const INSERT_TRANSACTIONS = `
  with input as materialized (
    select * from ${SIGNED.table('t')}
  ), added as (
    insert into chain_transactions
      (livemode, sender, nonce, kind, status, created, target, input, gas_limit, valid_until)
    select $1, $2, nonce, kind, 'signed', $4, target, input, gas_limit, valid_until
    from input returning id, nonce, valid_until
  ), attempts as (
    insert into chain_attempts
      (tx_hash, transaction_id, raw, cancels, max_fee_per_gas, max_priority_fee_per_gas, created)
    select i.tx_hash, a.id, i.raw, i.cancels, i.max_fee::numeric, i.max_tip::numeric, $4
    from input i join added a using (nonce) where i.raw is not null
  ), unsigned as (
    insert into chain_unsigned
      (transaction_id, cancels, max_fee_per_gas, max_priority_fee_per_gas, created)
    select a.id, i.cancels, i.max_fee::numeric, i.max_tip::numeric, $4
    from input i join added a using (nonce) where i.raw is null
  ), moved as (
    update relayer_senders set next_nonce = $3 where livemode = $1 and sender = $2
  ), submitted as (
    update chain_requests r set status = 'submitted', transaction_id = a.id,
      signed_until = greatest(r.signed_until, a.valid_until)
    from unnest($5::bigint[], $6::bigint[]) as carried (request_id, nonce)
    join added a using (nonce)
    where r.id = carried.request_id and ${hasStatus('queued')}
    returning r.transaction_id
  )
  select a.id, a.nonce,
    (select count(*)::int from submitted s where s.transaction_id = a.id) as requests
  from added a order by a.nonce`;

/** Stores transactions with their first offer, their jobs and the sender's next nonce. */
export async function insertTransactions(
  tx: Tx,
  sender: OfSender & { readonly nextNonce: bigint },
  transactions: readonly NewTransaction[],
  now: Date,
): Promise<{ readonly id: bigint; readonly nonce: bigint; readonly requests: number }[]> {
  const carried = transactions.flatMap(({ nonce, requests }) =>
    requests.map(({ id }) => ({ id: id.toString(), nonce: nonce.toString() })),
  );
  const rows = transactions.map((one) => {
    const { nonce, kind, target, input, gasLimit, validUntil, wanted } = one;
    const [attempt] = one.attempts;
    const { cancels, fees } = present(wanted ?? attempt, 'offer of a new transaction');
    const [max_fee = '', max_tip = ''] = textsOf(fees);
    return {
      ...{ nonce, kind, target, input: toBuffer(input), gas_limit: gasLimit },
      tx_hash: attempt?.hash ?? null,
      raw: attempt === undefined ? null : toBuffer(attempt.raw),
      ...{ cancels, max_fee, max_tip, valid_until: validUntil },
    };
  });
  const before = [
    ...[sender.livemode, sender.sender, sender.nextNonce, now],
    ...[carried.map(({ id }) => id), carried.map(({ nonce }) => nonce)],
  ];
  return SIGNED.run(tx, INSERT_TRANSACTIONS, { before, rows });
}

function toBuffer(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex');
}

export async function insertAttempt(
  tx: Tx,
  transactionId: bigint,
  { hash, raw, cancels, fees }: Attempt,
  now: Date,
): Promise<void> {
  await tx.query(
    `insert into chain_attempts
       (tx_hash, transaction_id, raw, cancels, max_fee_per_gas, max_priority_fee_per_gas, created)
     values ($1, $2, decode($3, 'hex'), $4, $5::text::numeric, $6::text::numeric, $7)`,
    [hash, transactionId, raw.slice(2), cancels, ...textsOf(fees), now],
  );
}

/** Stores the offer that a remote signer must sign, replacing an earlier one. */
export async function upsertUnsigned(
  tx: Tx,
  transactionId: bigint,
  { cancels, fees }: Offer,
  now: Date,
): Promise<void> {
  await tx.query(
    `insert into chain_unsigned
       (transaction_id, cancels, max_fee_per_gas, max_priority_fee_per_gas, created)
     values ($1, $2, $3::text::numeric, $4::text::numeric, $5)
     on conflict (transaction_id) do update set cancels = excluded.cancels,
       max_fee_per_gas = excluded.max_fee_per_gas,
       max_priority_fee_per_gas = excluded.max_priority_fee_per_gas, created = excluded.created`,
    [transactionId, cancels, ...textsOf(fees), now],
  );
}

/** Deletes the request to sign this offer. @returns `false` if it no longer exists. */
export async function endUnsigned(
  tx: Tx,
  transactionId: bigint,
  { cancels, fees }: Offer,
): Promise<boolean> {
  const rows = await tx.query(
    `delete from chain_unsigned where transaction_id = $1 and cancels = $2
       and max_fee_per_gas = $3::text::numeric and max_priority_fee_per_gas = $4::text::numeric
     returning transaction_id`,
    [transactionId, cancels, ...textsOf(fees)],
  );
  return rows.length > 0;
}

function textsOf({ maxFeePerGas, maxPriorityFeePerGas }: Fees): string[] {
  return [maxFeePerGas.toString(), maxPriorityFeePerGas.toString()];
}

/** The fees are text, because JSON's numbers have fewer than 256 bits. */
export interface OfferRow {
  readonly cancels: boolean;
  readonly maxFee: string;
  readonly maxTip: string;
}

type JsonOf<T> = T extends bigint | Date ? string : T;
type JobJson = {
  readonly [K in keyof Omit<OpenRequest, 'owedUntil'>]: JsonOf<OpenRequest[K]>;
};

export interface OpenTransactionRow
  extends Omit<TransactionFacts, 'attempts' | 'requests' | 'signedAtMs'> {
  readonly attempts: readonly (OfferRow & Pick<Attempt, 'hash' | 'raw'>)[];
  readonly unsigned: OfferRow | null;
  readonly requests: readonly (JobJson & { readonly failed: boolean })[];
  /** True if one of the transaction's jobs was queued again. */
  readonly retired: boolean;
}

/**
 * Returns a sender's signed but unmined transactions with all of their broadcasts, in nonce order.
 * A cancellation is the newest broadcast whatever its fees, because nothing else is sent after it.
 */
export async function selectOpenTransactions(
  sql: Sql,
  filter: OfSender,
): Promise<OpenTransactionRow[]> {
  return sql.query(
    `select t.id, t.nonce, t.kind, t.target, '0x' || encode(t.input, 'hex') as input,
       t.gas_limit as "gasLimit", t.retired, t.valid_until as "validUntil",
       (select coalesce(jsonb_agg(jsonb_build_object(
            'hash', a.tx_hash, 'raw', '0x' || encode(a.raw, 'hex'), 'cancels', a.cancels,
            'maxFee', a.max_fee_per_gas::text, 'maxTip', a.max_priority_fee_per_gas::text
          ) order by a.cancels, a.max_fee_per_gas), '[]')
        from chain_attempts a where a.transaction_id = t.id) as attempts,
       (select jsonb_build_object('cancels', u.cancels, 'maxFee', u.max_fee_per_gas::text,
          'maxTip', u.max_priority_fee_per_gas::text)
        from chain_unsigned u where u.transaction_id = t.id) as unsigned,
       (select coalesce(jsonb_agg(jsonb_build_object(
            'id', r.id::text, 'kind', r.kind, 'subjectId', r.subject_id,
            'number', r.number::text, 'payload', r.payload, 'tries', r.tries,
            'created', r.created, 'owed', r.applied_at is not null and r.status <> 'failed',
            'failed', r.status = 'failed', 'deadline', r.deadline,
            'settleWithinS', r.settle_within
          ) order by r.id), '[]')
        from chain_requests r where r.transaction_id = t.id) as requests
     from chain_transactions t
     where t.status = 'signed' and ${checked('t.livemode = $1 and t.sender = $2')}
     order by t.nonce`,
    [filter.livemode, filter.sender],
  );
}

/** Returns these senders' nonces that are signed and not mined. */
export async function selectOpenNonces(
  sql: Sql,
  filter: OfSenders,
): Promise<{ readonly sender: number; readonly nonce: bigint }[]> {
  return sql.query(
    `select sender, nonce from chain_transactions
     where status = 'signed' and ${checked('livemode = $1 and sender = any($2::int[])')}`,
    [filter.livemode, filter.senders],
  );
}

const MINED = columnsFrom(1, {
  id: 'bigint',
  tx_hash: 'text',
  block_number: 'bigint',
  block_hash: 'text',
  gas_used: 'bigint',
});

const MARK_MINED = `
  update chain_transactions t
  set status = 'mined', tx_hash = i.tx_hash, block_number = i.block_number,
    block_hash = i.block_hash, gas_used = i.gas_used
  from ${MINED.table('i')}
  where t.id = any(${MINED.all('id')}) and t.id = i.id and ${checked("t.status = 'signed'")}`;

export async function markMined(tx: Tx, rows: readonly Sent<typeof MINED>[]): Promise<void> {
  await MINED.run(tx, MARK_MINED, { rows });
}

/** Marks transactions from this nonce on as not mined, because a reorganization undid them. */
export async function reopenFromNonce(
  tx: Tx,
  which: OfSender & { readonly from: bigint },
): Promise<number> {
  const rows = await tx.query(
    `update chain_transactions
     set status = 'signed', tx_hash = null, block_number = null, block_hash = null,
       gas_used = null, finalized_at = null
     where livemode = $1 and sender = $2 and nonce >= $3 and status in ('mined', 'finalized')
     returning id`,
    [which.livemode, which.sender, which.from],
  );
  return rows.length;
}

/** Marks transactions in these blocks as not mined, because the blocks have left the chain. */
export async function reopenBlocks(
  tx: Tx,
  which: OfSenders & { readonly blockHashes: readonly Hex[] },
): Promise<{ readonly sender: number }[]> {
  return tx.query(
    `update chain_transactions
     set status = 'signed', tx_hash = null, block_number = null, block_hash = null,
       gas_used = null
     where status = 'mined' and block_hash = any($3)
       and ${checked('livemode = $1 and sender = any($2::int[])')}
     returning sender`,
    [which.livemode, which.senders, which.blockHashes],
  );
}

/** Returns the sender's nonces from `from` up to `to` without a stored transaction. */
export async function selectMissingNonces(
  tx: Tx,
  gap: OfSender & { readonly from: bigint; readonly to: bigint },
): Promise<bigint[]> {
  const rows = await tx.query<{ nonce: bigint }>(
    `select nonce from generate_series($3::bigint, $4::bigint - 1) as gap (nonce)
     where not exists (
       select from chain_transactions t
       where t.livemode = $1 and t.sender = $2 and t.nonce = gap.nonce)
     order by nonce`,
    [gap.livemode, gap.sender, gap.from, gap.to],
  );
  return rows.map(({ nonce }) => nonce);
}

export async function markForeign(tx: Tx, id: bigint): Promise<void> {
  await tx.query(`update chain_transactions set status = 'foreign' where id = $1`, [id]);
}

export interface MinedBlockRow {
  block_number: bigint;
  block_hash: Hex;
}

/**
 * Returns blocks with transactions of ours that are not marked final: the oldest, which may be
 * final now, and the newest, which a reorganization may have removed.
 */
export async function selectMinedBlocks(
  sql: Sql,
  filter: OfSenders & { readonly limit: number },
): Promise<MinedBlockRow[]> {
  return sql.query(
    `with mined as (
       select distinct block_number, block_hash from chain_transactions
       where status = 'mined' and ${checked('livemode = $1 and sender = any($2::int[])')}
     )
     (select * from mined order by block_number limit $3)
     union
     (select * from mined order by block_number desc limit $3)
     order by block_number`,
    [filter.livemode, filter.senders, filter.limit],
  );
}

export interface AnsweredRow {
  /** Ids of the jobs that the transaction completed. */
  ids: bigint[];
  tx_hash: Hex;
  block_number: bigint;
}

/**
 * Returns transactions above this block that are not linked to rows of ours and contain the applied
 * results of jobs. There are few of them in few blocks.
 */
export async function selectAnswered(
  sql: Sql,
  filter: { readonly livemode: boolean; readonly after: bigint },
): Promise<AnsweredRow[]> {
  return sql.query(
    `select array_agg(id) as ids, outcome #>> '{facts,txHash}' as tx_hash,
       (outcome #>> '{facts,blockNumber}')::bigint as block_number
     from chain_requests
     where livemode = $1 and transaction_id is null and status = 'succeeded'
       and (outcome #>> '{facts,blockNumber}')::bigint > $2
       and applied_at is not null and kind in ('payment', 'refund', 'withdrawal')
     group by 2, 3`,
    [filter.livemode, filter.after],
  );
}

/** Queues jobs again, unless another worker has meanwhile found them in another block. */
export async function requeueAnswered(sql: Sql, { ids, tx_hash, block_number }: AnsweredRow) {
  await sql.query(
    `update chain_requests set status = 'queued', outcome = null, tries = tries + 1
     where id = any($1::bigint[]) and transaction_id is null and status = 'succeeded'
       and outcome #>> '{facts,txHash}' = $2 and outcome #>> '{facts,blockNumber}' = $3`,
    [ids.map(String), tx_hash, block_number.toString()],
  );
}

/** Stores what the result waits for, and since when; `null` if the transaction is in no block. */
export async function updateIncluded(
  sql: Sql,
  { id, waitsFor }: { readonly id: bigint; readonly waitsFor: string | null },
  now: Date,
): Promise<void> {
  await sql.query(
    `update chain_transactions set waits_for = $2,
       included_at = case when $2::text is not null then $3::timestamptz end
     where id = $1 and status = 'signed'`,
    [id, waitsFor, now],
  );
}

export async function markFinalized(
  sql: Sql,
  change: { readonly livemode: boolean; readonly blockHashes: readonly Hex[] },
  now: Date,
): Promise<void> {
  await sql.query(
    `update chain_transactions set status = 'finalized', finalized_at = $3
     where status = 'mined' and block_hash = any($2) and ${checked('livemode = $1')}`,
    [change.livemode, change.blockHashes, now],
  );
}
