import { only } from '#core/assert.ts';
import { columnsFrom } from '#db/columns.ts';
import type { Sql, Tx } from '#db/database.ts';
import { checked } from '#db/plan-shapes.ts';
import type { Attempt, Fees, Offer, OpenRequest } from '#settlement/relayer/machine/transaction.ts';
import { OWED_UNTIL } from '#settlement/relayer/rows/owed-queries.ts';
import { hasStatus } from '#settlement/request-queries.ts';
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
  /** Where it was asked for: when a booked sale that the chain refuses is sent no more. */
  owed_until?: Date | null;
}

/** The ledger counts the request as done, though a reorganization may have undone it. */
const OWED = `(applied_at is not null and status <> 'failed')`;
/** Time to simulate, sign, send and mine: a payment with less time left is not sent. */
export const MIN_LEFT_S = 10;

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
       where livemode = $1 and status = 'queued' and tries > 0
       union all
       select r.* from chain_transactions t cross join lateral (
         select * from chain_requests where transaction_id = t.id offset 0) r
       where t.status = 'signed' and ${checked('t.livemode = $1')}
         and t.valid_until < $2 and r.status = 'submitted'
         -- In a block that waits for more; should it be lost unnoticed, it is looked at after all.
         and (t.included_at is null or t.included_at < now() - interval '10 minutes')
     ) signed
     -- Not a condition for an index: the one of all payments ever would seem to serve it.
     where (kind || '') = 'payment' and signed_until < $2 and not ${IN_TIME}
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
    `select ${REQUEST}, ${OWED_UNTIL} as owed_until from chain_requests
     where livemode = $1 and status = 'queued' and (kind <> 'payment' or tries > 0)
       and (next_attempt is null or next_attempt <= now())
       -- Not a condition for an index: the one of all first tries would seem to serve it.
       and (kind || '') = any($2) and id <> all($3::bigint[]) and ${IN_TIME}
     order by id limit $4`,
    [wanted.livemode, wanted.kinds, wanted.except.map(String), wanted.limit],
  );
}

/** Those of the requests that still wait and that nobody else has locked. */
export async function lockQueued(tx: Tx, ids: readonly bigint[]): Promise<bigint[]> {
  const rows = await tx.query<{ id: bigint }>(
    `select id from chain_requests r where id = any($1) and ${hasStatus('queued')}
     order by id for update skip locked`,
    [ids.map(String)],
  );
  return rows.map((row) => row.id);
}

export interface NewTransaction {
  readonly nonce: bigint;
  readonly kind: string;
  readonly target: string;
  readonly input: Uint8Array;
  readonly gas_limit: bigint;
  /** null: a signer elsewhere is asked for the bytes once this is committed. */
  readonly tx_hash: string | null;
  readonly raw: Uint8Array | null;
  readonly max_fee: bigint;
  readonly max_tip: bigint;
  readonly valid_until: Date | null;
  readonly request_ids: readonly bigint[];
}

const SIGNED = columnsFrom(7, {
  nonce: 'bigint',
  kind: 'text',
  target: 'text',
  input: 'bytea',
  gas_limit: 'bigint',
  tx_hash: 'text',
  raw: 'bytea',
  // Fees have 256 bits.
  max_fee: 'text',
  max_tip: 'text',
  valid_until: 'timestamptz',
});

const INSERT_TRANSACTIONS = `
  with input as materialized (
    select * from ${SIGNED.table('t')}
  ), added as (
    insert into chain_transactions
      (livemode, lane, nonce, kind, status, created, target, input, gas_limit, valid_until)
    select $1, $2, nonce, kind, 'signed', $4, target, input, gas_limit, valid_until
    from input returning id, nonce, valid_until
  ), attempts as (
    insert into chain_attempts
      (tx_hash, transaction_id, raw, max_fee_per_gas, max_priority_fee_per_gas, created)
    select i.tx_hash, a.id, i.raw, i.max_fee::numeric, i.max_tip::numeric, $4
    from input i join added a using (nonce) where i.raw is not null
  ), unsigned as (
    insert into chain_unsigned
      (transaction_id, max_fee_per_gas, max_priority_fee_per_gas, created)
    select a.id, i.max_fee::numeric, i.max_tip::numeric, $4
    from input i join added a using (nonce) where i.raw is null
  ), moved as (
    update relayer_lanes set next_nonce = $3 where livemode = $1 and lane = $2
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
  const carried = transactions.flatMap(({ nonce, request_ids: ids }) =>
    ids.map((id) => ({ id: id.toString(), nonce: nonce.toString() })),
  );
  const rows = transactions.map((one) => ({
    ...one,
    max_fee: one.max_fee.toString(),
    max_tip: one.max_tip.toString(),
  }));
  const before = [
    ...[lane.livemode, lane.lane, lane.nextNonce, now],
    ...[carried.map(({ id }) => id), carried.map(({ nonce }) => nonce)],
  ];
  return SIGNED.run(tx, INSERT_TRANSACTIONS, { before, rows });
}

/** Another attempt at the same nonce. */
export async function insertAttempt(
  tx: Tx,
  transactionId: bigint,
  { hash, raw, noop, fees }: Attempt,
  now: Date,
): Promise<void> {
  await tx.query(
    `insert into chain_attempts
       (tx_hash, transaction_id, raw, noop, max_fee_per_gas, max_priority_fee_per_gas, created)
     values ($1, $2, decode($3, 'hex'), $4, $5::text::numeric, $6::text::numeric, $7)`,
    [hash, transactionId, raw.slice(2), noop, ...textsOf(fees), now],
  );
}

/** What a signer elsewhere is asked for from now on, in place of what it was asked before. */
export async function upsertUnsigned(
  tx: Tx,
  transactionId: bigint,
  { noop, fees }: Offer,
  now: Date,
): Promise<void> {
  await tx.query(
    `insert into chain_unsigned
       (transaction_id, noop, max_fee_per_gas, max_priority_fee_per_gas, created)
     values ($1, $2, $3::text::numeric, $4::text::numeric, $5)
     on conflict (transaction_id) do update set noop = excluded.noop,
       max_fee_per_gas = excluded.max_fee_per_gas,
       max_priority_fee_per_gas = excluded.max_priority_fee_per_gas, created = excluded.created`,
    [transactionId, noop, ...textsOf(fees), now],
  );
}

/** The same, unless something else is asked for by now. @returns whether it was replaced. */
export async function replaceUnsigned(
  tx: Tx,
  transactionId: bigint,
  { before, offer }: { readonly before: Offer; readonly offer: Offer },
  now: Date,
): Promise<boolean> {
  const rows = await tx.query(
    `update chain_unsigned set noop = $2, max_fee_per_gas = $3::text::numeric,
       max_priority_fee_per_gas = $4::text::numeric, created = $8
     where transaction_id = $1 and noop = $5 and max_fee_per_gas = $6::text::numeric
       and max_priority_fee_per_gas = $7::text::numeric
     returning transaction_id`,
    [
      ...[transactionId, offer.noop, ...textsOf(offer.fees)],
      ...[before.noop, ...textsOf(before.fees), now],
    ],
  );
  return rows.length > 0;
}

/** The bytes that a signer was asked for. @returns false: nobody waits for them any more. */
export async function insertSigned(
  tx: Tx,
  transactionId: bigint,
  attempt: Attempt,
  now: Date,
): Promise<boolean> {
  const asked = await tx.query(
    `delete from chain_unsigned where transaction_id = $1 and noop = $2
       and max_fee_per_gas = $3::text::numeric and max_priority_fee_per_gas = $4::text::numeric
     returning transaction_id`,
    [transactionId, attempt.noop, ...textsOf(attempt.fees)],
  );
  if (asked.length === 0) return false;
  await insertAttempt(tx, transactionId, attempt, now);
  return true;
}

/** Fees have 256 bits. */
function textsOf({ maxFeePerGas, maxPriorityFeePerGas }: Fees): string[] {
  return [maxFeePerGas.toString(), maxPriorityFeePerGas.toString()];
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

export interface OfferRow {
  noop: boolean;
  max_fee: string;
  max_tip: string;
}

export interface OpenTransactionRow {
  id: bigint;
  nonce: bigint;
  kind: string;
  target: Hex;
  input: Buffer;
  gas_limit: bigint;
  attempts: (OfferRow & { hash: Hex; raw: string })[];
  unsigned: OfferRow | null;
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
       (select jsonb_build_object('noop', u.noop, 'max_fee', u.max_fee_per_gas::text,
          'max_tip', u.max_priority_fee_per_gas::text)
        from chain_unsigned u where u.transaction_id = t.id) as unsigned,
       (select coalesce(jsonb_agg(jsonb_build_object(
            'id', r.id::text, 'kind', r.kind, 'subject_id', r.subject_id,
            'number', r.number::text, 'payload', r.payload, 'tries', r.tries,
            'created', r.created, 'owed', r.applied_at is not null and r.status <> 'failed',
            'failed', r.status = 'failed', 'deadline', r.deadline,
            'settle_within', r.settle_within
          ) order by r.id), '[]')
        from chain_requests r where r.transaction_id = t.id) as requests
     from chain_transactions t
     where t.status = 'signed' and ${checked('t.livemode = $1 and t.lane = $2')}
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
     where status = 'signed' and ${checked('livemode = $1 and lane = any($2::int[])')}`,
    [wanted.livemode, wanted.lanes],
  );
}

export function toOpenRequest(row: RequestRow): OpenRequest {
  const { subject_id: subjectId, settle_within: settleWithinS, owed_until, ...same } = row;
  return { ...same, subjectId, settleWithinS, owedUntil: owed_until ?? null };
}
