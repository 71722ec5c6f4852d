import type { Tx } from '#db/database.ts';
import type { Alarm } from '#settlement/alarms.ts';

/**
 * Rules for sales that a reorganization undid after the ledger had booked them, and that the chain
 * now refuses: when each is tried again, and for how long.
 */

/** The longest pause between two tries, in seconds. */
const MAX_PAUSE_S = 60;

/** Pauses double at most this often: 2^6 s is more than the longest pause. */
const MAX_DOUBLINGS = 6;

/**
 * SQL: an update that counts one more try. If `refused` is true, the chain refuses a booked sale
 * that a reorganization undid. The ledger relies on the sale, so it is sent again until its time
 * has run out: first after a second, then after pauses that double.
 */
export function backOff(refused: string): string {
  const earlier = 'case when r.owed_since is null then 0 else r.tries end';
  return `tries = case when ${refused} and r.owed_since is null then 1 else r.tries + 1 end,
    owed_since = case when ${refused} then coalesce(r.owed_since, now()) else r.owed_since end,
    next_attempt = case when ${refused} then now() + interval '1 second'
      * least(${MAX_PAUSE_S}, power(2, least(${MAX_DOUBLINGS}, ${earlier}))) end`;
}

/**
 * A sale by pass is resent for this long; one by authorization, until the authorization expires.
 */
const OWED_HOURS = 24;

/** SQL: the time after which a booked sale that the chain has refused is no longer sent. */
export const OWED_UNTIL = `case
  when applied_at is null or kind <> 'payment' then null
  when payload ? 'authorization' then to_timestamp(
    -- As a number, because a wallet may name a time that is no date.
    least((payload #>> '{authorization,validBefore}')::numeric, 1e11)::double precision)
  else owed_since + interval '${OWED_HOURS} hours' end`;

/** Postpones jobs that the chain would refuse, according to the simulation. */
export async function postpone(tx: Tx, ids: readonly bigint[]): Promise<void> {
  if (ids.length === 0) return;
  const update = `update chain_requests r set ${backOff('true')}`;
  await tx.query(`${update} where id = any($1::bigint[])`, [ids.map(String)]);
}

/**
 * Ends the attempts of sales whose time has run out. The sales stay queued, so that their refunds
 * wait, but are not sent again.
 * @returns each intent, with the details that an operator needs to settle the sale with payer and
 * merchant.
 */
export async function endAttempts(
  tx: Tx,
  ids: readonly bigint[],
): Promise<(Alarm['details'] & { readonly intent: string })[]> {
  if (ids.length === 0) return [];
  return tx.query(
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
