import {
  type FileRow,
  type ItemValues,
  MAX_ROWS,
  readCatalogueFile,
} from '#accounts/catalogue-file.ts';
import {
  type CatalogueRow,
  catalogueItems,
  selectCatalogue,
  updateCatalogueItem,
} from '#accounts/catalogue-queries.ts';
import { lockCatalogue, recordChange } from '#accounts/edit-catalogue.ts';
import { type ShopSettings, selectShopSettings } from '#accounts/shop-settings.ts';
import type { TenantRef } from '#audit/record-change.ts';
import { isRefusal, type Refusal } from '#core/answer.ts';
import { CATALOGUE_PROBLEMS, type CatalogueProblem } from '#core/catalogue-problems.ts';
import { newId } from '#core/ids.ts';
import type { Database, Sql, Tx } from '#db/database.ts';

/** What becomes of a row of the file. Named as in the API. */
export interface ImportedRow {
  readonly row: number;
  readonly action: 'create' | 'update' | 'none';
  readonly name: string;
  /** The reason why the row is refused; `null` if it is not. */
  readonly error: string | null;
}

export interface Import {
  readonly rows: readonly ImportedRow[];
  /** True if the catalog was changed. One refused row keeps all others from being imported. */
  readonly applied: boolean;
}

/** An item before and after the import; `before` is `null` for a new one. */
interface Change {
  readonly before: CatalogueRow | null;
  readonly after: Omit<CatalogueRow, 'id' | 'version'>;
}

interface Planned {
  readonly row: FileRow;
  /** `null` if the item is already as in the row. */
  readonly result: Change | CatalogueProblem | null;
}

/** Imports a file of items, or only says what an import would do. */
export async function importCatalogue(
  db: Database,
  ref: TenantRef,
  { bytes, isPreview }: { readonly bytes: Uint8Array; readonly isPreview: boolean },
): Promise<Import | Refusal> {
  const { tenant } = ref;
  const planWith = async (sql: Sql, items: readonly CatalogueRow[]) => {
    const settings = await selectShopSettings(sql, tenant.accountId);
    const read = readCatalogueFile(bytes, settings);
    return isRefusal(read) ? read : plan(read, items, settings);
  };
  if (isPreview) {
    const planned = await planWith(db, await selectCatalogue(db, tenant));
    return isRefusal(planned) ? planned : importOf(planned, false);
  }
  return db.transaction(async (tx) => {
    const planned = await planWith(tx, await lockCatalogue(tx, tenant));
    if (isRefusal(planned)) return planned;
    const isRefused = planned.some(({ result }) => typeof result === 'string');
    if (!isRefused) await apply(tx, ref, planned);
    return importOf(planned, !isRefused);
  });
}

const nameOf = ({ name }: { readonly name: string }) => name.trim();

/** Finds the item that a row changes: the one with its barcode, or else one with its name. */
class Items {
  readonly #items: readonly CatalogueRow[];
  readonly #byBarcode: ReadonlyMap<string | null, CatalogueRow>;
  readonly #byRow = new Map<FileRow, CatalogueRow>();
  readonly #claimed = new Set<CatalogueRow>();

  constructor(items: readonly CatalogueRow[], rows: readonly FileRow[]) {
    this.#items = items;
    this.#byBarcode = new Map(items.map((item) => [item.barcode, item]));
    for (const row of rows) {
      const { barcode = null } = typeof row.read === 'string' ? {} : row.read;
      const item = barcode === null ? undefined : this.#byBarcode.get(barcode);
      if (item !== undefined && !this.#claimed.has(item)) this.#claim(row, item);
    }
  }

  #claim(row: FileRow, item: CatalogueRow): void {
    this.#byRow.set(row, item);
    this.#claimed.add(item);
  }

  of(row: FileRow): CatalogueRow | null {
    const known = this.#byRow.get(row);
    if (known !== undefined) return known;
    const named = this.#items.find((item) => !this.#claimed.has(item) && nameOf(item) === row.name);
    if (named !== undefined) this.#claim(row, named);
    return named ?? null;
  }

  /** True if a row changes an item by its barcode. */
  hasByBarcode(row: FileRow): boolean {
    return this.#byRow.has(row);
  }
}

function plan(
  rows: readonly FileRow[],
  items: readonly CatalogueRow[],
  settings: ShopSettings,
): Planned[] {
  const found = new Items(items, rows);
  const barcodes = new Set<string>();
  /** The names of rows; true if all rows of that name have a barcode. */
  const names = new Map<string, boolean>();
  for (const row of rows) if (found.hasByBarcode(row)) names.set(row.name, true);
  let [count, position] = [items.length, items.at(-1)?.position ?? 0];
  return rows.map((row) => {
    const { read, name } = row;
    if (typeof read === 'string') return { row, result: read };
    const { barcode = null } = read;
    if (barcode !== null && barcodes.has(barcode)) return { row, result: 'barcode_twice' };
    if (barcode !== null) barcodes.add(barcode);
    const before = found.of(row);
    const areNamed = names.get(name);
    const isOther = areNamed === undefined || (areNamed && barcode !== null);
    if (before === null && !isOther) return { row, result: 'name_twice' };
    names.set(name, (areNamed ?? true) && barcode !== null);
    if (before !== null) return { row, result: changed(before, read, settings) };
    [count, position] = [count + 1, position + 1];
    if (count > MAX_ROWS) return { row, result: 'full' };
    return { row, result: { before, after: newItem(read, settings, position) } };
  });
}

function changed(before: CatalogueRow, values: ItemValues, { currency }: ShopSettings) {
  // The file's cells are trimmed.
  const name = values.name === nameOf(before) ? before.name : values.name;
  const after = { ...before, ...values, name, currency };
  const columns = Object.keys(after) as (keyof CatalogueRow)[];
  return columns.every((column) => after[column] === before[column]) ? null : { before, after };
}

function newItem(values: ItemValues, settings: ShopSettings, position: number) {
  const { currency, prices_include_tax: tax_inclusive } = settings;
  const empty = { color: null, category: null, barcode: null, tax_rate: 0, options: [] };
  return { ...empty, ...values, currency, tax_inclusive, position };
}

async function apply(tx: Tx, ref: TenantRef, planned: readonly Planned[]): Promise<void> {
  const { tenant, now } = ref;
  const of = { account_id: tenant.accountId, livemode: tenant.livemode, created: now };
  for (const { result } of planned) {
    if (result === null || typeof result === 'string') continue;
    const { before, after: row } = result;
    const after =
      before === null
        ? await catalogueItems.insert(tx, { ...row, ...of, id: newId('catalogueItem', now) })
        : await updateCatalogueItem(tx, { ...before, ...row });
    await recordChange(tx, ref, { verb: before === null ? 'created' : 'updated', before, after });
  }
}

function importOf(planned: readonly Planned[], applied: boolean): Import {
  const rows = planned.map(({ row: { row, name }, result }) => {
    if (typeof result === 'string') {
      return { row, action: 'none', name, error: CATALOGUE_PROBLEMS[result] } as const;
    }
    const change = result?.before === null ? 'create' : 'update';
    return { row, action: result === null ? 'none' : change, name, error: null } as const;
  });
  return { rows, applied };
}
