import type { Sql } from '#db/database.ts';

/** The style and language in which a merchant's pages appear. */
export interface MerchantLook {
  /** CSS, see `brandStyles`; `null` if the merchant has neither logo nor color. */
  readonly style: string | null;
  /** The language; `null` if the merchant has not chosen one. */
  readonly language: string | null;
}

/** SQL: the language of the location (`l`), otherwise of the account (`a`). */
const LANGUAGE = 'coalesce(l.language, a.language) as language';

/** Reads the look of an intent's merchant; `null` if there is no such intent. */
export async function selectLookOfIntent(sql: Sql, intentId: string): Promise<MerchantLook | null> {
  const rows = await sql.query<MerchantLook>(
    `select b.style, ${LANGUAGE} from payment_intents i
     join accounts a on a.id = i.account_id
     left join locations l on l.id = i.location_id
     left join account_brands b on b.account_id = i.account_id
     where i.id = $1`,
    [intentId],
  );
  return rows[0] ?? null;
}

/** Reads the look of the merchant on a receipt. The receipt is a payment's or a refund's. */
export async function selectLookOfReceipt(
  sql: Sql,
  wanted: { readonly livemode: boolean } & (
    | { readonly number: bigint }
    | { readonly refundId: string }
  ),
): Promise<MerchantLook | null> {
  const rows = await sql.query<MerchantLook>(
    'number' in wanted
      ? `select b.style, ${LANGUAGE} from payments p
         join accounts a on a.id = p.account_id
         left join locations l on l.id = p.location_id
         left join account_brands b on b.account_id = p.account_id
         where p.livemode = $1 and p.settlement_number = $2`
      : `select b.style, ${LANGUAGE} from refunds r
         join accounts a on a.id = r.account_id
         left join locations l on l.id = r.location_id
         left join account_brands b on b.account_id = r.account_id
         where r.livemode = $1 and r.id = $2`,
    [wanted.livemode, 'number' in wanted ? wanted.number : wanted.refundId],
  );
  return rows[0] ?? null;
}
