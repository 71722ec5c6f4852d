import type { Sql } from '#db/database.ts';
import type { Hex } from '#settlement/requests.ts';

/** The number that the contract knows a payment by, or null when there is no such payment. */
export async function selectPaymentNumber(sql: Sql, paymentId: string): Promise<bigint | null> {
  const rows = await sql.query<{ settlement_number: bigint }>(
    'select settlement_number from payments where id = $1',
    [paymentId],
  );
  return rows[0]?.settlement_number ?? null;
}

export interface ChainPaymentRow {
  number: bigint;
  batch_number: bigint;
  payer: Hex;
  merchant_number: bigint;
  amount: bigint;
  order_id: string;
  tx_hash: Hex;
}

/** All payments that were settled in one batch with this one, in the order of the tree's leaves. */
export async function selectBatchOf(
  sql: Sql,
  of: { readonly livemode: boolean; readonly number: bigint },
): Promise<ChainPaymentRow[]> {
  return sql.query(
    `select p.number, p.batch_number, p.payer, p.merchant_number, p.amount, p.order_id, p.tx_hash
     from chain_payments own
     join chain_payments p on p.livemode = own.livemode and p.batch_number = own.batch_number
     where own.livemode = $1 and own.number = $2
     order by p.log_index`,
    [of.livemode, of.number],
  );
}
