import { only } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { type Row, table } from '#db/table.ts';

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

/** The account must be locked. */
export async function deleteCatalogueItem(tx: Tx, id: string): Promise<void> {
  await tx.query('delete from catalogue_items where id = $1', [id]);
}
