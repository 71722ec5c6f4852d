import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';

/** The place of a row in its list. */
export interface Place {
  readonly created: Date;
  readonly position: bigint;
}

export interface Page {
  readonly limit: number;
  /** The last row of the page before. */
  readonly after: Place | null;
  readonly createdGte: Date | null;
  readonly createdLt: Date | null;
}

/**
 * The bounds of a page as values that a statement compares with, in this order: the last row's
 * `created` and `position`, the first `created` that counts and the first that does not. What is
 * not asked for lies at infinity. (`$1 is null or …` would be one plan for both: that reads all.)
 */
export function boundsOf(page: Omit<Page, 'limit'>): unknown[] {
  const { created = 'infinity', position = 0n } = page.after ?? {};
  return [created, position, page.createdGte ?? '-infinity', page.createdLt ?? 'infinity'];
}

/** Sorts behind every id: the bound of a first page that begins with the newest id. */
export const BEHIND_ALL_IDS = '~';
/** The same for numbers that the database counts. */
export const BEHIND_ALL_NUMBERS = 2n ** 63n - 1n;

export interface ListOf {
  /** Table and columns: names written in our code, never a client's. */
  readonly table: string;
  readonly columns: string;
  /** Further equalities, column to value; null values are left out. */
  readonly filters: Readonly<Record<string, unknown>>;
  /** Further conditions. */
  readonly conditions?: readonly Condition[];
  /**
   * Rows that one of these sets of conditions holds for, and no row two of them. Each is a range of
   * an index of its own, all are read in one statement: a row that moves is never seen twice.
   */
  readonly anyOf?: readonly (readonly Condition[])[];
}

/** Alone, or with one parameter that stands as `?`. `$1` is the account, `$2` the mode. */
export type Condition = string | { readonly sql: string; readonly value: unknown };

/**
 * One page, newest first, of an account and mode's rows. A range scan of the index over
 * (account_id, livemode, [filter,] created, position): 0.1 ms at any depth of 5,000,000 rows,
 * where OFFSET took a second. One row more than `limit` is read, to know whether there are more.
 */
export async function selectPage<Row extends Place>(
  sql: Sql,
  list: ListOf,
  tenant: Tenant,
  page: Page,
): Promise<Row[]> {
  const values: unknown[] = [tenant.accountId, tenant.livemode];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const written = (condition: Condition) => {
    if (typeof condition === 'string') return condition;
    const bound = parameter(condition.value);
    return condition.sql.replaceAll('?', () => bound);
  };
  const conditions = ['account_id = $1', 'livemode = $2', ...(list.conditions ?? []).map(written)];
  for (const [column, value] of Object.entries(list.filters)) {
    if (value !== null && value !== undefined) {
      conditions.push(`${column} = ${parameter(value)}`);
    }
  }
  if (page.after !== null) {
    const { created, position } = page.after;
    conditions.push(`(created, position) < (${parameter(created)}, ${parameter(position)})`);
  }
  if (page.createdGte !== null) conditions.push(`created >= ${parameter(page.createdGte)}`);
  if (page.createdLt !== null) conditions.push(`created < ${parameter(page.createdLt)}`);
  const order = `order by created desc, position desc limit ${parameter(page.limit + 1)}`;
  const branches = (list.anyOf ?? [[]]).map(
    (further) =>
      `select ${list.columns} from ${list.table}
     where ${[...conditions, ...further.map(written)].join(' and ')}
     ${order}`,
  );
  const [only] = branches;
  if (only !== undefined && branches.length === 1) return sql.query<Row>(only, values);
  const union = branches.map((branch) => `(${branch})`).join(' union all ');
  return sql.query<Row>(`select * from (${union}) as rows ${order}`, values);
}
