import { only } from '#core/assert.ts';
import type { Sql, Tx } from '#db/database.ts';
import { MIN_LEFT_S } from '#settlement/relayer/deadlines.ts';
import type { Hex, RequestKind } from '#settlement/requests.ts';

/** A request as the relayer works on it. */
export interface RequestRow {
  id: bigint;
  kind: RequestKind;
  subject_id: string;
  number: bigint | null;
  payload: unknown;
  tries: number;
  created: Date;
  owed: boolean;
  /** For a payment: it must not settle later than this. What is owed has no deadline. */
  deadline: Date | null;
  settle_within: number | null;
}

/** The ledger counts the request as done, though a reorganisation may have undone it. */
const OWED = `(applied_at is not null and status <> 'failed')`;
const REQUEST = `id, kind, subject_id, number, payload, tries, created, ${OWED} as owed,
  case when ${OWED} then now() + settle_within * interval '1 second' else deadline end as deadline,
  settle_within`;
const IN_TIME = `(deadline is null or ${OWED}
  or deadline >= now() + ${MIN_LEFT_S} * interval '1 second')`;

/**
 * Locks waiting payments that can still be settled in time, oldest first; what another worker has
 * locked is skipped. Those with an authorization of their payer, or those without.
 */
export async function claimPayments(
  tx: Tx,
  wanted: { readonly livemode: boolean; readonly authorized: boolean; readonly limit: number },
): Promise<RequestRow[]> {
  return tx.query(
    `select ${REQUEST} from chain_requests
     where livemode = $1 and status = 'queued' and kind = 'payment' and tries = 0
       and (payload ? 'authorization') = $3 and ${IN_TIME}
     order by id limit $2 for update skip locked`,
    [wanted.livemode, wanted.limit, wanted.authorized],
  );
}

/**
 * Signed payments whose deadline forbids signing them once more, and whose newest bytes can settle
 * in no block later than `time`. Not locked: the chain is asked first.
 */
export async function selectPerhapsDead(
  sql: Sql,
  wanted: { readonly livemode: boolean; readonly time: Date; readonly limit: number },
): Promise<(RequestRow & { transaction_id: bigint | null })[]> {
  // Waiting for other bytes, or on their way: the latter are found through their few transactions.
  return sql.query(
    `select ${REQUEST}, transaction_id from (
       select * from chain_requests
       where livemode = $1 and status = 'queued' and kind = 'payment' and tries > 0
       union all
       select r.* from chain_transactions t join chain_requests r on r.transaction_id = t.id
       where t.livemode = $1 and t.status in ('signed', 'mined') and t.status = 'signed'
         and t.valid_until < $2 and r.status = 'submitted' and r.kind = 'payment'
     ) signed
     where signed_until < $2 and not ${IN_TIME}
     order by id limit $3`,
    [wanted.livemode, wanted.time, wanted.limit],
  );
}

/**
 * Locks declined payments of these numbers, the newest first, whose intents have no other attempt
 * under way or paid.
 */
export async function selectDeclined(
  tx: Tx,
  wanted: { readonly livemode: boolean; readonly numbers: readonly bigint[] },
): Promise<RequestRow[]> {
  return tx.query(
    `select ${REQUEST} from chain_requests r
     where livemode = $1 and kind = 'payment' and status = 'failed' and number = any($2::bigint[])
       and applied_at is not null and not exists (
         select from chain_requests o where o.kind = 'payment' and o.subject_id = r.subject_id
           and o.status in ('queued', 'submitted', 'succeeded'))
     order by id desc for update of r`,
    [wanted.livemode, wanted.numbers.map(String)],
  );
}

/** What waits to be sent alone, oldest first. Not locked: it is simulated first. */
export async function selectSingles(
  sql: Sql,
  wanted: {
    readonly livemode: boolean;
    readonly kinds: readonly RequestKind[];
    readonly except: readonly bigint[];
    readonly limit: number;
  },
): Promise<RequestRow[]> {
  return sql.query(
    `select ${REQUEST} from chain_requests
     where livemode = $1 and status = 'queued' and (kind <> 'payment' or tries > 0)
       -- Not a condition for an index: the one of all first tries would seem to serve it.
       and (kind || '') = any($2) and id <> all($3::bigint[]) and ${IN_TIME}
     order by id limit $4`,
    [wanted.livemode, wanted.kinds, wanted.except.map(String), wanted.limit],
  );
}

/** Those of the requests that still wait and that nobody else has locked. */
export async function lockQueued(tx: Tx, ids: readonly bigint[]): Promise<bigint[]> {
  const rows = await tx.query<{ id: bigint }>(
    `select id from chain_requests where id = any($1) and status = 'queued'
     order by id for update skip locked`,
    [ids.map(String)],
  );
  return rows.map((row) => row.id);
}

export interface NewTransaction {
  readonly nonce: string;
  readonly kind: string;
  readonly target: string;
  /** Hex without 0x, as are the hashes' raw bytes below. */
  readonly input: string;
  readonly gas_limit: string;
  readonly tx_hash: string;
  readonly raw: string;
  readonly max_fee: string;
  readonly max_tip: string;
  readonly valid_until: Date | null;
  readonly request_ids: readonly string[];
}

/**
 * Stores signed transactions with the requests that they carry, and moves the lane's nonce past
 * them. The lane and the requests are locked. Everything or (with a lost fence) nothing.
 */
export async function insertTransactions(
  tx: Tx,
  lane: { readonly livemode: boolean; readonly lane: number; readonly nextNonce: bigint },
  transactions: readonly NewTransaction[],
  now: Date,
): Promise<{ readonly id: bigint; readonly nonce: bigint; readonly requests: number }[]> {
  return tx.query(
    `with input as (
       select * from jsonb_to_recordset($1::jsonb) as t (
         nonce bigint, kind text, target text, input text, gas_limit bigint, tx_hash text,
         raw text, max_fee numeric, max_tip numeric, valid_until timestamptz, request_ids bigint[])
     ), added as (
       insert into chain_transactions
         (livemode, lane, nonce, kind, status, created, target, input, gas_limit, valid_until)
       select $2, $3, nonce, kind, 'signed', $5, target, decode(input, 'hex'), gas_limit,
         valid_until
       from input returning id, nonce
     ), attempts as (
       insert into chain_attempts
         (tx_hash, transaction_id, raw, max_fee_per_gas, max_priority_fee_per_gas, created)
       select i.tx_hash, a.id, decode(i.raw, 'hex'), i.max_fee, i.max_tip, $5
       from input i join added a using (nonce)
     ), moved as (
       update relayer_lanes set next_nonce = $4 where livemode = $2 and lane = $3
     ), submitted as (
       update chain_requests r set status = 'submitted', transaction_id = c.transaction_id,
         signed_until = greatest(r.signed_until, c.valid_until)
       from (
         select a.id as transaction_id, i.valid_until, unnest(i.request_ids) as request_id
         from input i join added a using (nonce)
       ) c
       where r.id = c.request_id and r.status = 'queued'
       returning r.transaction_id
     )
     select a.id, a.nonce,
       (select count(*)::int from submitted s where s.transaction_id = a.id) as requests
     from added a order by a.nonce`,
    [JSON.stringify(transactions), lane.livemode, lane.lane, lane.nextNonce, now],
  );
}

/** Another attempt at the same nonce. */
export async function insertAttempt(
  tx: Tx,
  attempt: {
    readonly transactionId: bigint;
    readonly txHash: Hex;
    readonly raw: Hex;
    readonly maxFeePerGas: bigint;
    readonly maxPriorityFeePerGas: bigint;
    readonly noop: boolean;
  },
  now: Date,
): Promise<void> {
  await tx.query(
    `insert into chain_attempts
       (tx_hash, transaction_id, raw, noop, max_fee_per_gas, max_priority_fee_per_gas, created)
     values ($1, $2, decode($3, 'hex'), $4, $5::text::numeric, $6::text::numeric, $7)`,
    [
      attempt.txHash,
      attempt.transactionId,
      attempt.raw.slice(2),
      attempt.noop,
      attempt.maxFeePerGas.toString(),
      attempt.maxPriorityFeePerGas.toString(),
      now,
    ],
  );
}

/** A transaction with a nonce of its own and nothing in it, to fill a gap. */
export async function insertFiller(
  tx: Tx,
  filler: {
    readonly livemode: boolean;
    readonly lane: number;
    readonly nonce: bigint;
    readonly target: Hex;
    readonly gasLimit: bigint;
  },
  now: Date,
): Promise<bigint> {
  const rows = await tx.query<{ id: bigint }>(
    `insert into chain_transactions
       (livemode, lane, nonce, kind, status, created, target, input, gas_limit)
     values ($1, $2, $3, 'filler', 'signed', $4, $5, '', $6) returning id`,
    [filler.livemode, filler.lane, filler.nonce, now, filler.target, filler.gasLimit],
  );
  return only(rows, 'filler').id;
}

export interface OpenTransactionRow {
  id: bigint;
  nonce: bigint;
  kind: string;
  target: Hex;
  input: Buffer;
  gas_limit: bigint;
  attempts: {
    hash: Hex;
    raw: string;
    noop: boolean;
    max_fee: string;
    max_tip: string;
  }[];
  requests: {
    id: string;
    kind: RequestKind;
    subject_id: string;
    number: string | null;
    payload: unknown;
    tries: number;
    created: string;
    owed: boolean;
    failed: boolean;
    deadline: string | null;
    settle_within: number | null;
  }[];
  valid_until: Date | null;
  /** One of its requests went back to the queue. */
  retired: boolean;
}

/**
 * Signed and not mined transactions of a lane with all of their attempts, in nonce order. A no-op
 * is the newest attempt whatever it offers: nothing is sent after it.
 */
export async function selectOpenTransactions(
  sql: Sql,
  wanted: { readonly livemode: boolean; readonly lane: number },
): Promise<OpenTransactionRow[]> {
  return sql.query(
    `select t.id, t.nonce, t.kind, t.target, t.input, t.gas_limit, t.retired, t.valid_until,
       (select coalesce(jsonb_agg(jsonb_build_object(
            'hash', a.tx_hash, 'raw', encode(a.raw, 'hex'), 'noop', a.noop,
            'max_fee', a.max_fee_per_gas::text, 'max_tip', a.max_priority_fee_per_gas::text
          ) order by a.noop, a.max_fee_per_gas), '[]')
        from chain_attempts a where a.transaction_id = t.id) as attempts,
       (select coalesce(jsonb_agg(jsonb_build_object(
            'id', r.id::text, 'kind', r.kind, 'subject_id', r.subject_id,
            'number', r.number::text, 'payload', r.payload, 'tries', r.tries,
            'created', r.created, 'owed', r.applied_at is not null and r.status <> 'failed',
            'failed', r.status = 'failed', 'deadline', r.deadline,
            'settle_within', r.settle_within
          ) order by r.id), '[]')
        from chain_requests r where r.transaction_id = t.id) as requests
     from chain_transactions t
     where t.livemode = $1 and t.lane = $2 and t.status = 'signed'
     order by t.nonce`,
    [wanted.livemode, wanted.lane],
  );
}

/** The nonces of these lanes that are signed and not mined. */
export async function selectOpenNonces(
  sql: Sql,
  wanted: { readonly livemode: boolean; readonly lanes: readonly number[] },
): Promise<{ readonly lane: number; readonly nonce: bigint }[]> {
  return sql.query(
    `select lane, nonce from chain_transactions
     where livemode = $1 and lane = any($2::int[]) and status = 'signed'`,
    [wanted.livemode, wanted.lanes],
  );
}
