import type { Sql } from '#db/database.ts';
import { checked, wholeKey } from '#db/plan-shapes.ts';

/** True if a reorganization has undone the payment and it is being sent again. */
export async function isBeingPaidAgain(sql: Sql, paymentId: string): Promise<boolean> {
  const rows = await sql.query(
    `select from payments p
     cross join lateral (
       select status, transaction_id from chain_requests
       where ${wholeKey(['kind', 'subject_id'], ["'payment'", 'p.payment_intent_id'])}
         and status in ('queued', 'submitted', 'succeeded')
       limit 1) r
     left join chain_transactions t on t.id = r.transaction_id
     where p.id = $1 and (r.status <> 'succeeded' or t.status = 'signed')`,
    [paymentId],
  );
  return rows.length > 0;
}

export interface RefundSums {
  payment_id: string;
  /** Atoms that were refunded, according to the ledger. */
  settled: bigint;
  /** Atoms of refunds that are signed and not known to be mined. */
  under_way: bigint;
  /** True if another sender has sent some of these refunds. */
  elsewhere: boolean;
}

/** Reads the refunds of each payment in one snapshot. Refunds without a job were recovered. */
export async function selectRefundSums(
  sql: Sql,
  wanted: {
    readonly livemode: boolean;
    readonly sender: number;
    readonly paymentIds: readonly string[];
  },
): Promise<RefundSums[]> {
  return sql.query(
    `with asked as (
       select distinct id from unnest($3::text[]) as i (id)
     ), known as (
       select a.id, (r.payload ->> 'amount')::bigint as amount,
         r.status = 'succeeded' and t.status is distinct from 'signed' as settled, t.sender
       from asked a
       cross join lateral (
         select * from chain_requests
         where kind = 'refund' and payload ->> 'paymentId' = a.id
           and ${checked("status in ('submitted', 'succeeded') and livemode = $1")}
         order by payload ->> 'paymentId' offset 0) r
       left join chain_transactions t on t.id = r.transaction_id
       union all
       select a.id, f.amount, true, null
       from asked a
       cross join lateral (
         select id, amount from refunds
         where payment_id = a.id and ${checked("livemode = $1 and status = 'succeeded'")}
         offset 0) f
       where not exists (
         select from chain_requests r
         where r.kind = 'refund' and r.payload ->> 'paymentId' = a.id and r.subject_id = f.id
         offset 0)
     )
     select a.id as payment_id,
       coalesce(sum(k.amount) filter (where k.settled), 0)::bigint as settled,
       coalesce(sum(k.amount) filter (where not k.settled), 0)::bigint as under_way,
       coalesce(bool_or(k.sender <> $2) filter (where not k.settled), false) as elsewhere
     from asked a left join known k on k.id = a.id
     group by a.id`,
    [wanted.livemode, wanted.sender, wanted.paymentIds],
  );
}
