import type { Sql } from '#db/database.ts';

/** The styles of whoever asks for this payment; null: it has none, or there is no such intent. */
export async function selectStyleOfIntent(sql: Sql, intentId: string): Promise<string | null> {
  const rows = await sql.query<{ style: string }>(
    `select b.style from payment_intents i join account_brands b on b.account_id = i.account_id
     where i.id = $1`,
    [intentId],
  );
  return rows[0]?.style ?? null;
}

/** The styles of the merchant of a receipt: of a payment by its number, or of a refund. */
export async function selectStyleOfReceipt(
  sql: Sql,
  wanted: { readonly livemode: boolean } & (
    | { readonly number: bigint }
    | { readonly refundId: string }
  ),
): Promise<string | null> {
  const rows = await sql.query<{ style: string }>(
    'number' in wanted
      ? `select b.style from payments p join account_brands b on b.account_id = p.account_id
         where p.livemode = $1 and p.settlement_number = $2`
      : `select b.style from refunds r join account_brands b on b.account_id = r.account_id
         where r.livemode = $1 and r.id = $2`,
    [wanted.livemode, 'number' in wanted ? wanted.number : wanted.refundId],
  );
  return rows[0]?.style ?? null;
}
