import { only } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';
import type { FindItem } from '#prices/check-asked-lines.ts';

/** A choice that is added to an item's price and name: "oat", "large". */
export interface ItemOption {
  readonly name: string;
  /** In the units of the item's price, of either sign. */
  readonly unit_amount: number;
}

export const catalogueItems = table(
  'catalogue_items',
  {
    id: 'text',
    name: 'text',
    unit_amount: 'bigint',
    currency: 'text?',
    tax_rate: 'int',
    tax_inclusive: 'boolean',
    color: 'text?',
    position: 'int',
    category: 'text?',
    barcode: 'text?',
    /** Choices that change the price, as the buttons show them. */
    options: as<readonly ItemOption[]>('jsonb'),
    version: 'int',
  },
  { account_id: 'text', livemode: 'boolean', created: 'timestamptz' },
);

export type CatalogueRow = Row<typeof catalogueItems>;

/** SQL: the items of one account and mode. An index begins with these two columns. */
const OF_CATALOGUE = 'account_id = $1 and livemode = $2';

/** Returns the items in the order of the till's buttons. */
export async function selectCatalogue(sql: Sql, tenant: Tenant): Promise<CatalogueRow[]> {
  const order = 'order by position, created, id';
  const values = [tenant.accountId, tenant.livemode];
  return catalogueItems.list(sql, `where ${OF_CATALOGUE} ${order}`, values);
}

/**
 * Frees a position by adding 1 to the positions of the item there and all later ones. The account
 * must be locked.
 */
export async function moveItemsBack(tx: Tx, tenant: Tenant, position: number): Promise<void> {
  await tx.query(
    `update catalogue_items set position = position + 1
     where ${OF_CATALOGUE} and position >= $3`,
    [tenant.accountId, tenant.livemode, position],
  );
}

/** The account must be locked. */
export async function updateCatalogueItem(tx: Tx, row: CatalogueRow): Promise<CatalogueRow> {
  const { id, version: _changed, ...set } = row;
  const which = { where: 'id = $1', values: [id], also: 'version = version + 1' };
  return only(await catalogueItems.update(tx, set, which), 'catalog item');
}

/** Deletes an item, and keeps its ID and category. The account must be locked. */
export async function deleteCatalogueItem(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `with deleted as (
       delete from catalogue_items where id = $1 returning id, account_id, livemode, category)
     insert into deleted_catalogue_items (id, account_id, livemode, category)
     select id, account_id, livemode, category from deleted`,
    [id],
  );
}

interface SoldItem {
  readonly id: string;
  readonly account_id: string;
  readonly livemode: boolean;
  readonly category: string | null;
}

/** Reads catalog items that sales name, of any tenant, including items that were deleted. */
export async function selectSoldItems(
  sql: Sql,
  ids: readonly string[],
): Promise<(tenant: Tenant) => FindItem> {
  const rows = await sql.query<SoldItem>(
    `select id, account_id, livemode, category from catalogue_items where id = any($1)
     union all
     select id, account_id, livemode, category from deleted_catalogue_items where id = any($1)`,
    [[...new Set(ids)]],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ({ accountId, livemode }) =>
    (id) => {
      const row = byId.get(id);
      return row?.account_id === accountId && row.livemode === livemode ? row : undefined;
    };
}
