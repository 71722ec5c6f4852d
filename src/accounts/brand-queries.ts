import type { Sql, Tx } from '#db/database.ts';
import { type Row, table } from '#db/table.ts';

/** A merchant's logo and color; a row has at least one of them. */
export const accountBrands = table('account_brands', {
  /** Six hex digits. */
  color: 'text?',
  logo_id: 'text?',
  /** The name of the brand's style sheet: see `brandStyles`. */
  style: 'text',
});

export type BrandRow = Row<typeof accountBrands>;

export async function selectBrand(sql: Sql, accountId: string): Promise<BrandRow | null> {
  return (await accountBrands.find(sql, 'where account_id = $1', [accountId])) ?? null;
}

export async function saveBrand(
  tx: Tx,
  brand: { readonly accountId: string } & Pick<BrandRow, 'color' | 'logo_id'>,
  now: Date,
): Promise<void> {
  const { accountId, color, logo_id: logoId } = brand;
  if (color === null && logoId === null) {
    await tx.query('delete from account_brands where account_id = $1', [accountId]);
    return;
  }
  await tx.query(
    `insert into account_brands (account_id, color, logo_id, updated) values ($1, $2, $3, $4)
     on conflict (account_id) do update
     set color = excluded.color, logo_id = excluded.logo_id, updated = excluded.updated`,
    [accountId, color, logoId, now],
  );
}

export async function insertLogo(
  tx: Tx,
  logo: { readonly id: string; readonly accountId: string; readonly content: Buffer },
  now: Date,
): Promise<void> {
  await tx.query(
    `insert into brand_logos (id, account_id, content, created) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [logo.id, logo.accountId, logo.content, now],
  );
}

/** Deletes all logos except the current one, because nothing references the others now. */
export async function deleteOtherLogos(
  tx: Tx,
  { accountId, kept }: { readonly accountId: string; readonly kept: string | null },
): Promise<void> {
  await tx.query('delete from brand_logos where account_id = $1 and id is distinct from $2', [
    accountId,
    kept,
  ]);
}

export async function selectLogo(sql: Sql, id: string): Promise<Buffer | null> {
  const rows = await sql.query<{ content: Buffer }>(
    'select content from brand_logos where id = $1',
    [id],
  );
  return rows[0]?.content ?? null;
}
