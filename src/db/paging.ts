import { present } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import { checked, wholeKey } from '#db/plan-shapes.ts';

/** The position of a row in its list. */
export interface Place {
  readonly created: Date;
  readonly position: bigint;
}

export interface Page {
  readonly limit: number;
  /** The last row of the previous page. */
  readonly after: Place | null;
  readonly createdGte: Date | null;
  readonly createdLt: Date | null;
}

/** A page of a table with `location_id`. */
export interface LocatedPage extends Page {
  /** Only rows of this location, or with `null` those without one. */
  readonly location?: string | null;
}

/** Sorts before every position; written as SQL. */
export const LEAST_POSITION = `'${-(2n ** 63n)}'::bigint`;
/** The same as a value. */
const LEAST_POSITION_VALUE = String(-(2n ** 63n));

type Bound = readonly [created: unknown, position: unknown];

function upperBound({ after, createdLt }: Omit<Page, 'limit'>): Bound {
  if (createdLt !== null && (after === null || createdLt <= after.created)) {
    return [createdLt, LEAST_POSITION_VALUE];
  }
  return after === null ? ['infinity', LEAST_POSITION_VALUE] : [after.created, after.position];
}

function lowerBound({ createdGte }: Page, since: Date | undefined): Bound {
  const from = since !== undefined && (createdGte === null || since > createdGte);
  return [(from ? since : createdGte) ?? '-infinity', LEAST_POSITION_VALUE];
}

/**
 * Returns the bounds of a page as values that a statement compares with, in this order: `created`
 * and `position` that all rows precede, the first `created` that counts and the first that does
 * not. An omitted bound is infinite. (`$1 is null or …` would share one plan, which reads all
 * rows.)
 */
export function boundsOf(page: Omit<Page, 'limit'>): unknown[] {
  return [...upperBound(page), page.createdGte ?? '-infinity', page.createdLt ?? 'infinity'];
}

/** Sorts after every id: the bound of a first page that begins with the newest id. */
export const BEHIND_ALL_IDS = '~';
/** The same bound for numbers that the database assigns. */
export const BEHIND_ALL_NUMBERS = 2n ** 63n - 1n;

/** The leading columns of the index over all rows of an account and mode. */
export const TENANT_KEY = ['account_id', 'livemode'] as const;
/**
 * The account's column in partial indexes: an expression, so that no index over all rows can serve
 * it.
 */
export const HIDDEN_TENANT_KEY = ["(account_id || '')", 'livemode'] as const;

/**
 * The leading columns of an index; no other index of the table begins with the first of them.
 * `ordered`: `created` and `position` follow, and a page is a range. Otherwise the key finds few
 * rows, which are sorted.
 */
export interface IndexKey {
  readonly columns: readonly string[];
  readonly ordered: boolean;
}

export interface ListOf {
  /** Table and columns: names from our own code, never a client's. */
  readonly table: string;
  readonly columns: string;
  /** Further equalities, column to value; null values are omitted. */
  readonly filters: Readonly<Record<string, unknown>>;
  /** The index of a filter; with several filters, the one listed first is used. */
  readonly indexes?: Readonly<Record<string, IndexKey>>;
  /** Further conditions. */
  readonly conditions?: readonly Condition[];
  /** A condition that finds few rows by an index; the other conditions only filter these. */
  readonly found?: Condition;
  /**
   * Disjoint branches whose rows are listed together. Each is read by its own index, and all in one
   * statement, so that a row that moves between them is never seen twice.
   */
  readonly anyOf?: readonly Branch[];
}

export interface Branch {
  readonly conditions: readonly Condition[];
  /**
   * The leading columns of the index that returns the branch's rows in order; `'few'` if the
   * conditions select so few rows that they are sorted instead. Default: {@link TENANT_KEY}.
   */
  readonly key?: readonly string[] | 'few';
  /** Values of key columns that have no filter. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** The branch has no rows older than this. */
  readonly since?: Date;
}

/** SQL without a parameter, or with one, written as `?`. `$1` is the account, `$2` the mode. */
export type Condition = string | { readonly sql: string; readonly value: unknown };

/** The parameters of a page's statement. */
class Parameters {
  readonly values: unknown[];
  readonly #ofColumns: Map<string, string>;

  constructor(tenant: Tenant) {
    this.values = [tenant.accountId, tenant.livemode];
    const [account, mode] = ['$1', '$2'];
    const [hidden] = HIDDEN_TENANT_KEY;
    this.#ofColumns = new Map([
      ['account_id', account],
      [hidden, account],
      ['livemode', mode],
    ]);
  }

  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  addFilter(column: string, value: unknown): void {
    this.#ofColumns.set(column, this.add(value));
  }

  of(column: string): string {
    return present(this.#ofColumns.get(column), column);
  }

  write(condition: Condition): string {
    if (typeof condition === 'string') return condition;
    const bound = this.add(condition.value);
    return condition.sql.replaceAll('?', () => bound);
  }

  bound([created, position]: Bound): string[] {
    return [this.add(created), this.add(position)];
  }
}

/**
 * Returns one page, newest first, of an account and mode's rows: a range scan of the index over
 * (account_id, livemode, created, position), or of a filter's index: 0.1 ms at any depth of
 * 5,000,000 rows, where OFFSET took a second. Reads one row more than `limit`, to know if there are
 * more. A row comparison leaves the planner only that index, see `plan-shapes.ts`.
 */
export async function selectPage<Row extends Place>(
  sql: Sql,
  list: ListOf,
  tenant: Tenant,
  page: Page,
): Promise<Row[]> {
  return readList<Row>(sql, list, { tenant, page });
}

/** Returns one page of a table that has `location_id`, limited to the page's location if set. */
export async function selectLocatedPage<Row extends Place>(
  sql: Sql,
  list: ListOf,
  tenant: Tenant,
  page: LocatedPage,
): Promise<Row[]> {
  const { location } = page;
  const located = location === undefined ? list : ofLocation(list, location);
  return readList<Row>(sql, located, { tenant, page });
}

/** Limits a list to one location; `null` selects the rows without a location. */
function ofLocation(list: ListOf, location: string | null): ListOf {
  const here = location === null ? checked('location_id is null') : 'location_id is not null';
  return {
    ...list,
    filters: { ...list.filters, location_id: location },
    indexes: {
      ...list.indexes,
      location_id: { columns: ['location_id', 'livemode'], ordered: true },
    },
    conditions: [...(list.conditions ?? []), here],
  };
}

async function readList<Row extends Place>(
  sql: Sql,
  list: ListOf,
  { tenant, page }: { readonly tenant: Tenant; readonly page: Page },
): Promise<Row[]> {
  const parameters = new Parameters(tenant);
  const filters = Object.entries(list.filters).filter(([, value]) => value != null);
  for (const [column, value] of filters) parameters.addFilter(column, value);
  const filtered = filters.map(([column]) => column);
  const upper = parameters.bound(upperBound(page));
  const limit = `limit ${parameters.add(page.limit + 1)}`;
  const conditions = (list.conditions ?? []).map((one) => parameters.write(one));
  const found = list.found === undefined ? null : parameters.write(list.found);
  const branches = (list.anyOf ?? [{ conditions: [] }]).map((branch) => {
    const lower = parameters.bound(lowerBound(page, branch.since));
    const key = found === null ? keyOf(list, branch, filtered) : null;
    const values = Object.entries(branch.values ?? {});
    const needed = values.filter(([column]) => key?.columns.includes(column));
    for (const [column, value] of needed) parameters.addFilter(column, value);
    // A condition that another index would serve is only checked on the rows that this index finds.
    const isOwn = branch.key !== undefined && (key === null || key.columns === branch.key);
    const own = branch.conditions
      .map((one) => parameters.write(one))
      .map((one) => (isOwn ? one : checked(one)));
    const read = readBy(key, { parameters, upper, lower });
    const used = new Set(key?.columns);
    const rest = [...TENANT_KEY, ...filtered]
      .filter((column) => !used.has(column) && !used.has(hiddenOf(column)))
      .map((column) => `${column} = ${parameters.of(column)}`);
    const where = [
      ...(found === null ? [] : [found]),
      ...read.where,
      ...(rest.length === 0 ? [] : [checked(rest.join(' and '))]),
      ...conditions,
      ...own,
    ];
    return `select ${list.columns} from ${list.table}
     where ${where.join(' and ')}
     ${read.order} ${limit}`;
  });
  const [only] = branches;
  if (only !== undefined && branches.length === 1) return sql.query<Row>(only, parameters.values);
  const union = branches.map((branch) => `(${branch})`).join(' union all ');
  const text = `select * from (${union}) as rows ${NEWEST_FIRST} ${limit}`;
  return sql.query<Row>(text, parameters.values);
}

const NEWEST_FIRST = 'order by created desc, position desc';

function hiddenOf(column: string): string {
  return column === 'account_id' ? HIDDEN_TENANT_KEY[0] : column;
}

/** Returns the index that finds the rows of a branch; null if its own conditions find them. */
function keyOf(list: ListOf, branch: Branch, filtered: readonly string[]): IndexKey | null {
  const { key = TENANT_KEY } = branch;
  if (key === 'few') return null;
  const indexes = Object.entries(list.indexes ?? {});
  const [, index] = indexes.find(([column]) => filtered.includes(column)) ?? [];
  return index ?? { columns: key, ordered: true };
}

/** Returns the conditions and the order for reading an index. */
function readBy(
  key: IndexKey | null,
  page: {
    readonly parameters: Parameters;
    readonly upper: readonly string[];
    readonly lower: readonly string[];
  },
): { readonly where: readonly string[]; readonly order: string } {
  const { parameters, upper, lower } = page;
  const range = (columns: readonly string[], values: readonly string[]) => {
    const row = [...columns, 'created', 'position'].join(', ');
    return (
      `(${row}) < (${[...values, ...upper].join(', ')})` +
      ` and (${row}) >= (${[...values, ...lower].join(', ')})`
    );
  };
  if (key === null) return { where: [checked(range([], []))], order: NEWEST_FIRST };
  const values = key.columns.map((column) => parameters.of(column));
  if (!key.ordered) {
    const where = [wholeKey(key.columns, values), checked(range([], []))];
    return { where, order: NEWEST_FIRST };
  }
  const order = [...key.columns, 'created', 'position'].map((column) => `${column} desc`);
  return { where: [range(key.columns, values)], order: `order by ${order.join(', ')}` };
}
