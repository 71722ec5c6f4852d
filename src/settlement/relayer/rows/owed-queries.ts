import type { Tx } from '#db/database.ts';

// A booked sale that a reorganization undid, and that the chain refuses now. The ledger relies on
// it, so it is sent again, each time after a longer pause, until its time is over.

/** Seconds: the longest pause between two attempts. */
const MAX_PAUSE_S = 60;
/** Pauses double up to here: 2^6 s is more than the longest. */
const MAX_DOUBLINGS = 6;

/**
 * How an update counts one more try. Where `refused` holds, the first pause is a second, and each
 * one twice the one before.
 */
export function backOff(refused: string): string {
  const earlier = 'case when r.owed_since is null then 0 else r.tries end';
  return `tries = case when ${refused} and r.owed_since is null then 1 else r.tries + 1 end,
    owed_since = case when ${refused} then coalesce(r.owed_since, now()) else r.owed_since end,
    next_attempt = case when ${refused} then now() + interval '1 second'
      * least(${MAX_PAUSE_S}, power(2, least(${MAX_DOUBLINGS}, ${earlier}))) end`;
}

/** Hours for which a sale by pass is sent again. One by authorization ends with that. */
const OWED_HOURS = 24;

/** When a sale that the ledger relies on is sent no more; null: it was not refused. */
export const OWED_UNTIL = `case
  when applied_at is null or kind <> 'payment' then null
  when payload ? 'authorization' then to_timestamp(
    -- As a number, because a wallet may name a time that is no date.
    least((payload #>> '{authorization,validBefore}')::numeric, 1e11)::double precision)
  else owed_since + interval '${OWED_HOURS} hours' end`;

/** The simulation says that the chain would refuse them: nothing is sent, and they wait. */
export async function postpone(tx: Tx, ids: readonly bigint[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(`update chain_requests r set ${backOff('true')} where id = any($1::bigint[])`, [
    ids.map(String),
  ]);
}

export interface UnsettledSaleRow {
  readonly intent: string;
  readonly payment: string | null;
  readonly account: string | null;
  readonly merchant: string | null;
  readonly payer: string;
  readonly amount: string;
  readonly order_id: string;
  readonly since: Date | null;
}

/** Their time is over: they stay in the queue, so that refunds of them wait, and are not sent. */
export async function endAttempts(tx: Tx, ids: readonly bigint[]): Promise<UnsettledSaleRow[]> {
  if (ids.length === 0) return [];
  return tx.query<UnsettledSaleRow>(
    `with ended as (
       update chain_requests set next_attempt = 'infinity' where id = any($1::bigint[])
       returning subject_id, payload, owed_since
     )
     select e.subject_id as intent, p.id as payment, p.account_id as account, a.name as merchant,
       e.payload ->> 'payer' as payer, e.payload ->> 'amount' as amount,
       e.payload ->> 'orderId' as order_id, e.owed_since as since
     from ended e
     left join payments p on p.payment_intent_id = e.subject_id
     left join accounts a on a.id = p.account_id`,
    [ids.map(String)],
  );
}
