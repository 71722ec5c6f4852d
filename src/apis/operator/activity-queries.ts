import type { Sql } from '#db/database.ts';

export interface ActivityFigures {
  readonly payments: number;
  /** Sales that ended unpaid after a decline. */
  readonly failed: number;
  /** Atoms. */
  readonly volume: bigint;
  /** From the tap (without one, from the sale's creation) to the payment. */
  readonly paid_ms_p50: number | null;
  readonly paid_ms_p99: number | null;
  readonly gas_per_payment: number | null;
}

export interface ActivityRow extends ActivityFigures {
  /** When the hour or day begins, in UTC; `null` in the row with the figures of the whole span. */
  readonly start: Date | null;
}

export interface ActivitySpan {
  readonly livemode: boolean;
  readonly from: Date;
  readonly until: Date;
  readonly every: 'hour' | 'day';
}

/**
 * Returns a network's figures of each hour or day with a sale, and of the whole span. Sales count
 * when they were created. Each account's sales are one range of a list index: no index orders the
 * sales of all accounts by time, because every sale would have to write it. `offset 0` keeps the
 * planner from joining whole tables instead.
 */
export async function selectActivity(sql: Sql, span: ActivitySpan): Promise<ActivityRow[]> {
  return sql.query<ActivityRow>(
    `with tried as materialized (
       select i.* from account_modes m
       cross join lateral (
         select id, date_trunc($4, created, 'UTC') as start, coalesce(tapped_at, created) as began,
           status <> 'succeeded' as failed
         from payment_intents
         where account_id = m.account_id and livemode = $1 and created >= $2 and created < $3
           and (status = 'succeeded' or last_payment_error is not null and (status = 'canceled'
             or status = 'requires_payment_method' and expires_at <= now()))
         offset 0
       ) i
       where m.livemode = $1
     ), paid as materialized (
       select p.* from account_modes m
       cross join lateral (
         select payment_intent_id, created, amount, tx_hash from payments
         where account_id = m.account_id and livemode = $1 and created >= $2
         offset 0
       ) p
       where m.livemode = $1
     ), sales as materialized (
       select i.start, i.failed, p.amount, p.tx_hash,
         extract(epoch from p.created - i.began) * 1000 as ms
       from tried i left join paid p on p.payment_intent_id = i.id
     ), spent as (
       select s.start, round(sum(t.gas_used) / sum(s.payments))::int as gas_per_payment
       from (
         select start, tx_hash, count(*) as payments
         from sales where tx_hash is not null group by start, tx_hash
       ) s
       join chain_attempts a on a.tx_hash = s.tx_hash
       join chain_transactions t on t.id = a.transaction_id and t.gas_used is not null
       group by grouping sets ((s.start), ())
     ), counted as (
       select start, count(amount)::int as payments,
         (count(*) filter (where failed))::int as failed,
         coalesce(sum(amount), 0)::bigint as volume,
         (percentile_disc(0.5) within group (order by ms))::int as paid_ms_p50,
         (percentile_disc(0.99) within group (order by ms))::int as paid_ms_p99
       from sales group by grouping sets ((start), ())
     )
     select c.*, s.gas_per_payment
     from counted c left join spent s on s.start is not distinct from c.start
     order by c.start`,
    [span.livemode, span.from, span.until, span.every],
  );
}
