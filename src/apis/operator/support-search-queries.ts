import { accounts } from '#accounts/account-queries.ts';
import type { Sql } from '#db/database.ts';
import type { Row } from '#db/table.ts';

/** Maximum number of results of each kind. If there are more, staff must search more precisely. */
export const SHOWN = 20;

async function idsOf(sql: Sql, statement: string, value: unknown): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(statement, [value, SHOWN]);
  return rows.map(({ id }) => id);
}

/** Finds an intent by its ID, its payment's ID, or the ID of one of its refunds. */
export function selectIntentsById(sql: Sql, id: string): Promise<string[]> {
  return idsOf(
    sql,
    `select id from payment_intents where id = $1
     union
     select payment_intent_id from payments where id = $1
     union
     select p.payment_intent_id from refunds r join payments p on p.id = r.payment_id
     where r.id = $1
     limit $2`,
    id,
  );
}

/** Finds intents by order ID, which is unique only within an account and mode. */
export function selectIntentsByOrder(sql: Sql, orderId: string): Promise<string[]> {
  return idsOf(sql, 'select id from payment_intents where order_id = $1 limit $2', orderId);
}

/** Finds intents by a sale's or refund's receipt number, unique only per account and mode. */
export function selectIntentsByReceipt(sql: Sql, receiptNumber: string): Promise<string[]> {
  return idsOf(
    sql,
    `select payment_intent_id as id from payments
     where id = any(array(
       select id from payments where receipt_number = $1
       union all
       select payment_id from refunds where receipt_number = $1))
     limit $2`,
    receiptNumber,
  );
}

/**
 * Finds intents by the hash of a transaction that this service has sent, even if it was not mined;
 * otherwise by the transaction of a booked payment.
 */
export async function selectIntentsByTransaction(sql: Sql, hash: string): Promise<string[]> {
  const sent = await idsOf(
    sql,
    `select distinct case r.kind when 'refund'
       then (select p.payment_intent_id from payments p where p.id = r.payload ->> 'paymentId')
       else r.subject_id end as id
     from chain_attempts a join chain_requests r on r.transaction_id = a.transaction_id
     where a.tx_hash = $1 and r.kind in ('payment', 'refund')
     limit $2`,
    hash,
  );
  if (sent.length > 0) return sent;
  return idsOf(
    sql,
    'select payment_intent_id as id from payments where tx_hash = $1 limit $2',
    hash,
  );
}

/** Finds the intents of a payer's newest payments, and the payer's intents in progress. */
export function selectIntentsOfPayer(sql: Sql, payerId: string): Promise<string[]> {
  return idsOf(
    sql,
    `(select id from payment_intents
      where attempt ->> 'payerId' = $1 and status in ('requires_action', 'processing') limit $2)
     union
     (select payment_intent_id from payments where payer_id = $1
      order by settled_at desc, settlement_number desc limit $2)`,
    payerId,
  );
}

export async function selectAccountIds(sql: Sql, text: string): Promise<string[]> {
  return idsOf(
    sql,
    `select id from accounts where id = $1
     union
     select account_id from terminals where id = $1
     union
     select m.account_id from users u join account_rights m on m.user_id = u.id
     where u.realm = 'merchant' and u.email = lower($1)
     limit $2`,
    text,
  );
}

const NAMED = accounts.pick(['id', 'name', 'status', 'created']);

export type NamedAccountRow = Row<typeof NAMED>;

export async function selectNamedAccounts(
  sql: Sql,
  ids: readonly string[],
): Promise<NamedAccountRow[]> {
  return sql.query(`select ${NAMED} from accounts where id = any($1) order by id`, [ids]);
}
