import { lockOwnAccount } from '#accounts/account-queries.ts';
import { MAX_ROWS } from '#accounts/catalogue-file.ts';
import {
  type CatalogueRow,
  catalogueItems,
  deleteCatalogueItem,
  type ItemOption,
  moveItemsBack,
  selectCatalogue,
  updateCatalogueItem,
} from '#accounts/catalogue-queries.ts';
import { selectShopSettings, selectTaxSettings } from '#accounts/shop-settings.ts';
import { recordTenantChange, type TenantRef } from '#audit/record-change.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import type { Json } from '#core/canonical-json.ts';
import { minorDigits } from '#core/currencies.ts';
import { newId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import { staleVersion } from '#core/stale-version.ts';
import type { Sql, Tx } from '#db/database.ts';
import { basisPointsOf, rateAt, unknownTaxRate } from '#prices/check-asked-lines.ts';

/** The fields of an item that a request may set. Named as in the API. */
export interface CatalogueEdit {
  readonly name?: string;
  /** Minor units of the currency, or atoms. */
  readonly unit_amount?: number;
  readonly currency?: string | null;
  /** Basis points, or the name of one of the account's rates. */
  readonly tax_rate?: number | string;
  readonly tax_inclusive?: boolean;
  readonly color?: string | null;
  readonly category?: string | null;
  readonly barcode?: string | null;
  readonly options?: readonly ItemOption[];
  readonly position?: number;
}

export type NewCatalogueItem = CatalogueEdit &
  Required<Pick<CatalogueEdit, 'name' | 'unit_amount'>>;

type ItemRef = TenantRef & { readonly id: string };

function fieldsOf({ id: _, version: __, unit_amount, options, ...row }: CatalogueRow) {
  return { ...row, unit_amount: Number(unit_amount), options: options.map((one) => ({ ...one })) };
}

export function catalogueItem(row: CatalogueRow): { readonly [key: string]: Json } {
  const { id, version } = row;
  return { id, object: 'catalogue_item', ...fieldsOf(row), version };
}

/** Returns the items as a terminal sells them, with the tax rates of its location. */
export async function readTillCatalogue(
  sql: Sql,
  { tenant, terminalId }: { readonly tenant: Tenant; readonly terminalId: string },
): Promise<CatalogueRow[]> {
  const at = { accountId: tenant.accountId, terminalId };
  const [rows, shop, taxesAt] = await Promise.all([
    selectCatalogue(sql, tenant),
    selectShopSettings(sql, tenant.accountId),
    selectTaxSettings(sql, [at]),
  ]);
  const rates = { account: shop.tax_rates, local: taxesAt(at)?.tax_rates ?? [] };
  return rows.map((row) => ({ ...row, tax_rate: rateAt(row.tax_rate, rates) }));
}

/**
 * The account stays locked until the end of the transaction: positions depend on each other, so
 * changes are made one at a time.
 */
export async function lockCatalogue(
  tx: Tx,
  { accountId, livemode }: Tenant,
): Promise<CatalogueRow[]> {
  await lockOwnAccount(tx, accountId);
  return selectCatalogue(tx, { accountId, livemode });
}

/** Refuses a barcode that another item has, because a scan must find one item. */
function checkBarcode(
  { barcode = null }: CatalogueEdit,
  others: readonly CatalogueRow[],
): Refusal | null {
  const owner = barcode === null ? undefined : others.find((other) => other.barcode === barcode);
  if (owner === undefined) return null;
  const message = `The item ${JSON.stringify(owner.name)} already has this barcode.`;
  return refuse('parameter_invalid', message, 'barcode');
}

/** Frees a position by moving the item there, and all later ones, back by one. */
async function takePosition(
  tx: Tx,
  tenant: Tenant,
  { position, others }: { readonly position: number; readonly others: readonly CatalogueRow[] },
): Promise<void> {
  const isTaken = others.some((other) => other.position === position);
  if (isTaken) await moveItemsBack(tx, tenant, position);
}

/**
 * Returns the values of an edit: omitted fields get the account's defaults, and the name of a tax
 * rate is replaced by the rate.
 */
async function readEdit(
  tx: Tx,
  { tenant }: TenantRef,
  edit: CatalogueEdit,
): Promise<Pick<CatalogueRow, 'currency' | 'tax_rate' | 'tax_inclusive'> | Refusal> {
  const settings = await selectShopSettings(tx, tenant.accountId);
  const { currency = settings.currency, tax_rate: rate = 0 } = edit;
  if (currency !== null && minorDigits(currency) === undefined) {
    const message = `currency must be a lowercase ISO 4217 code or null, not ${currency}.`;
    return refuse('parameter_invalid', message, 'currency');
  }
  const points = basisPointsOf(rate, settings);
  if (points === null) return unknownTaxRate('tax_rate', rate);
  const isWithin = edit.tax_inclusive ?? settings.prices_include_tax;
  return { currency, tax_rate: points, tax_inclusive: isWithin };
}

export async function recordChange(
  tx: Tx,
  ref: TenantRef,
  change: {
    readonly verb: 'created' | 'updated' | 'deleted';
    readonly before: CatalogueRow | null;
    readonly after: CatalogueRow | null;
  },
): Promise<void> {
  const { verb, before, after } = change;
  await recordTenantChange(tx, ref, {
    action: `catalogue_item.${verb}`,
    objectId: (after ?? before)?.id ?? '',
    before: before === null ? null : fieldsOf(before),
    after: after === null ? null : fieldsOf(after),
  });
}

export async function createCatalogueItem(
  tx: Tx,
  ref: TenantRef,
  item: NewCatalogueItem,
): Promise<CatalogueRow | Refusal> {
  const { tenant, now } = ref;
  const others = await lockCatalogue(tx, tenant);
  const read = checkBarcode(item, others) ?? (await readEdit(tx, ref, item));
  if (isRefusal(read)) return read;
  if (others.length >= MAX_ROWS) {
    return refuse(
      'unexpected_state',
      `A catalog can have at most ${MAX_ROWS} items. Delete one first.`,
    );
  }
  const { position = (others.at(-1)?.position ?? 0) + 1 } = item;
  await takePosition(tx, tenant, { position, others });
  const after = await catalogueItems.insert(tx, {
    ...read,
    id: newId('catalogueItem', now),
    account_id: tenant.accountId,
    livemode: tenant.livemode,
    created: now,
    name: item.name,
    unit_amount: BigInt(item.unit_amount),
    color: item.color ?? null,
    category: item.category ?? null,
    barcode: item.barcode ?? null,
    options: item.options ?? [],
    position,
  });
  await recordChange(tx, ref, { verb: 'created', before: null, after });
  return after;
}

const MISSING = 'catalog item';

export async function editCatalogueItem(
  tx: Tx,
  ref: ItemRef,
  edit: CatalogueEdit & { readonly version: number },
): Promise<CatalogueRow | Refusal> {
  const { tenant, id } = ref;
  const items = await lockCatalogue(tx, tenant);
  const before = items.find((item) => item.id === id);
  if (before === undefined) return resourceMissing(MISSING, 'item');
  if (before.version !== edit.version) return staleVersion(before.version);
  const { currency, tax_rate, tax_inclusive } = before;
  const others = items.filter((item) => item !== before);
  const read =
    checkBarcode(edit, others) ??
    (await readEdit(tx, ref, { currency, tax_rate, tax_inclusive, ...edit }));
  if (isRefusal(read)) return read;
  const { position = before.position } = edit;
  await takePosition(tx, tenant, { position, others });
  const after = await updateCatalogueItem(tx, {
    ...before,
    ...read,
    name: edit.name ?? before.name,
    unit_amount: edit.unit_amount === undefined ? before.unit_amount : BigInt(edit.unit_amount),
    color: edit.color === undefined ? before.color : edit.color,
    category: edit.category === undefined ? before.category : edit.category,
    barcode: edit.barcode === undefined ? before.barcode : edit.barcode,
    options: edit.options ?? before.options,
    position,
  });
  await recordChange(tx, ref, { verb: 'updated', before, after });
  return after;
}

/** @returns null if the item was deleted. */
export async function removeCatalogueItem(tx: Tx, ref: ItemRef): Promise<Refusal | null> {
  const { tenant, id } = ref;
  const before = (await lockCatalogue(tx, tenant)).find((item) => item.id === id);
  if (before === undefined) return resourceMissing(MISSING, 'item');
  await deleteCatalogueItem(tx, id);
  await recordChange(tx, ref, { verb: 'deleted', before, after: null });
  return null;
}
