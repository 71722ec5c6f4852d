import type { Sql, Tx } from '#db/database.ts';
import type { Row } from '#db/table.ts';
import { type PayerRequestRow, payerRequests } from '#payers/request-queries.ts';
import { payerSessions } from '#payers/session-queries.ts';

/** Returns the time of the wallet's latest signature; undefined if the session has ended. */
export async function selectSignedAt(sql: Sql, hash: Buffer): Promise<Date | undefined> {
  const rows = await sql.query<{ signed_at: Date }>(
    'select coalesce(signed_at, created) as signed_at from payer_sessions where hash = $1',
    [hash],
  );
  return rows[0]?.signed_at;
}

export async function selectPayerSessions(
  sql: Sql,
  payerId: string,
): Promise<Row<typeof payerSessions>[]> {
  return payerSessions.list(sql, 'where payer_id = $1 order by created desc', [payerId]);
}

export async function selectRequestsOf(
  sql: Sql,
  payerId: string,
  limit: number,
): Promise<PayerRequestRow[]> {
  const rest = 'where payer_id = $1 order by created desc limit $2';
  return payerRequests.list(sql, rest, [payerId, limit]);
}

/**
 * Deletes the payer's personal data; the caller holds the payer's lock. Agent tokens that an intent
 * has accepted belong to that payment, so they are revoked instead. The wallet's address, its
 * block, payments and transfers are kept, because they document moved money.
 */
export async function erasePayerRows(
  tx: Tx,
  which: { readonly payerId: string; readonly now: Date },
): Promise<void> {
  await tx.query(
    `with ended as (delete from payer_sessions where payer_id = $1),
       cards as (delete from cards where payer_id = $1),
       chips as (delete from chips where payer_id = $1),
       erased as (delete from passes where payer_id = $1 returning id),
       copies as (update pass_copies set version = version + 1, changed_at = $2, tries = 0,
         next_try_at = $2, erased_at = $2 where pass_id in (select id from erased)),
       unused as (delete from agent_tokens where payer_id = $1 and payment_intent_id is null),
       used as (update agent_tokens set revoked_at = coalesce(revoked_at, $2)
         where payer_id = $1 and payment_intent_id is not null),
       moved as (delete from wallet_movements where payer_id = $1),
       read as (delete from wallet_reads where payer_id = $1),
       asked as (delete from payer_requests where payer_id = $1 and kind <> 'transfer'),
       keys as (delete from idempotency_keys where account_id = $1 and status = 'completed')
     update payers set limit_per_payment = null, limit_per_day = null,
       confirm_first_payment = false
     where id = $1`,
    [which.payerId, which.now],
  );
}
