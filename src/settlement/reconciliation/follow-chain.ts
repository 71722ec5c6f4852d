import { bookMovements } from '#books/book-movements.ts';
import { addSeconds } from '#core/clock.ts';
import { stampOrders } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';

/**
 * Makes the books match the contract. Money that a reorganization has removed from the contract, or
 * that the contract holds again, is booked as a correction; money that a merchant's own wallet has
 * withdrawn, as a payout. Save the differences of this run first.
 */
export async function followChain(
  tx: Tx,
  run: { readonly livemode: boolean; readonly final: bigint; readonly now: Date },
): Promise<void> {
  const { livemode, now } = run;
  const unbooked = await selectUnbooked(tx, livemode, now);
  const own = await selectOwnPayouts(tx, run);
  const tenantOf = ({ account_id: accountId }: { readonly account_id: string }) => {
    return { accountId, livemode };
  };
  const counts = [...unbooked, ...own].map((one) => ({ tenant: tenantOf(one), count: 1 }));
  if (counts.length === 0) return;
  const stampOf = await stampOrders(tx, counts, now);
  await bookMovements(tx, [
    ...unbooked.map(({ id, amount, ...one }) => ({
      ...({ tenant: tenantOf(one), type: 'correction', objectId: id, amount } as const),
      ...{ happened: null, stamp: stampOf(tenantOf(one)) },
    })),
    ...own.map(({ id, amount, block_time, ...one }) => {
      const [tenant, stamp] = [tenantOf(one), stampOf(tenantOf(one))];
      const happened = addSeconds(block_time, stamp.aheadSeconds);
      return { tenant, type: 'payout', objectId: id, amount, happened, stamp } as const;
    }),
  ]);
}

/** A difference between books and chain that is not booked yet. */
interface Unbooked {
  readonly account_id: string;
  /** The payment, refund or withdrawal. */
  readonly id: string;
  /** The sum that the books lack; negative if they contain too much. */
  readonly amount: bigint;
}

/**
 * Returns the corrections not booked yet for payments, refunds and withdrawals that the chain
 * lacks, or that this run found there again. A refund that the chain shows in another transaction
 * is not lost.
 */
async function selectUnbooked(tx: Tx, livemode: boolean, now: Date): Promise<Unbooked[]> {
  return tx.query<Unbooked>(
    `with changed as (
       select case when d.kind like 'payment_%' then d.details ->> 'payment' else d.subject end
         as id, d.resolved_at is null as is_gone
       from reconciliation_differences d
       where d.livemode = $1 and d.kind like '%_missing_on_chain'
         and (d.resolved_at is null or d.resolved_at = $2)
         and not exists (
           select from reconciliation_differences o
           where o.livemode = $1 and o.resolved_at is null and o.kind = 'refund_unknown_here'
             and o.details -> 'chain' ->> 'number' = d.details -> 'ours' ->> 'settlement_number')
     ), objects as (
       select c.*, p.account_id, p.amount, case when p.recovered then 0 else p.amount end as booked
       from changed c join payments p using (id)
       union all
       select c.*, f.account_id, -f.amount, 0 from changed c join refunds f using (id)
       union all
       select c.*, w.account_id, -w.amount, 0 from changed c join withdrawals w using (id)
     ), found as (
       select o.account_id, o.id, (case when o.is_gone then 0 else o.amount end - o.booked
         - coalesce((select sum(e.amount) from balance_entries e where e.object_id = o.id), 0)
         )::bigint as amount
       from objects o
     )
     select * from found where amount <> 0 order by account_id, id`,
    [livemode, now],
  );
}

/** A payout that the merchant's wallet made on the contract without the service. */
interface OwnPayout extends Unbooked {
  readonly block_time: Date;
}

/** Returns the payouts made by wallets, up to a final block, that are not booked yet. */
async function selectOwnPayouts(
  tx: Tx,
  filter: { readonly livemode: boolean; readonly final: bigint },
): Promise<OwnPayout[]> {
  return tx.query<OwnPayout>(
    `with own as (
       select m.account_id, t.block_time, -t.amount as amount,
         'own_' || substr(t.tx_hash, 3, 24) || '_' || t.log_index as id
       from chain_transfers t
       join merchant_accounts m
         on m.livemode = t.livemode and m.merchant_number = t.merchant_number
       where t.livemode = $1 and t.number = 0 and t.kind = 'withdrawal' and t.block_number <= $2
     )
     select * from own
     where not exists (select from balance_entries e where e.object_id = own.id)
     order by account_id, block_time`,
    [filter.livemode, filter.final],
  );
}
