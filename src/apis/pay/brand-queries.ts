import type { Sql } from '#db/database.ts';

export interface MerchantLook {
  readonly style: string | null;
  /** The language; `null` if the merchant has not chosen one. */
  readonly language: string | null;
}

/** Reads the look of an intent's merchant; `null` if there is no such intent. */
export async function selectLookOfIntent(sql: Sql, intentId: string): Promise<MerchantLook | null> {
  return lookOf(sql, { table: 'payment_intents', where: 'o.id = $1' }, [intentId]);
}

/** Reads the look of the merchant on a receipt. The receipt is a payment's or a refund's. */
export async function selectLookOfReceipt(
  sql: Sql,
  filter: { readonly livemode: boolean } & (
    | { readonly number: bigint }
    | { readonly refundId: string }
  ),
): Promise<MerchantLook | null> {
  if ('number' in filter) {
    const where = 'o.livemode = $1 and o.settlement_number = $2';
    return lookOf(sql, { table: 'payments', where }, [filter.livemode, filter.number]);
  }
  const where = 'o.livemode = $1 and o.id = $2';
  return lookOf(sql, { table: 'refunds', where }, [filter.livemode, filter.refundId]);
}

async function lookOf(
  sql: Sql,
  { table, where }: { readonly table: string; readonly where: string },
  values: readonly unknown[],
): Promise<MerchantLook | null> {
  const rows = await sql.query<MerchantLook>(
    `select b.style, coalesce(l.language, a.language) as language from ${table} o
     join accounts a on a.id = o.account_id
     left join locations l on l.id = o.location_id
     left join account_brands b on b.account_id = o.account_id
     where ${where}`,
    values,
  );
  return rows[0] ?? null;
}
