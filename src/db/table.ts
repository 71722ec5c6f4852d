import { assert, only, present } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import {
  type ColumnSpec,
  type Columns,
  type ColumnTypes,
  columnsFrom,
  type Narrowed,
  type RowOf,
} from '#db/columns.ts';
import type { Sql, Tx } from '#db/database.ts';
import { ofTenant } from '#db/plan-shapes.ts';

/**
 * Declares a table once: its columns and their types. The row type, the column lists, reads of
 * whole rows, and writes derive from this. Queries remain SQL.
 */

/** The types that the driver returns: see `type-parsers.ts`. */
interface Read {
  readonly text: string;
  readonly bytea: Buffer;
  readonly jsonb: object;
  readonly boolean: boolean;
  readonly int: number;
  readonly bigint: bigint;
  readonly timestamptz: Date;
  readonly 'text[]': string[];
  readonly 'timestamptz[]': Date[];
  readonly real: number;
  readonly uuid: string;
}

type TypeName = keyof Read;

/** A PostgreSQL type, followed by `?` if the column may be null. */
type Spec = TypeName | `${TypeName}?`;

declare const ROW: unique symbol;

/**
 * Declares a column whose TypeScript type is narrower. The type must include `null` exactly if the
 * column's type has a `?`.
 */
export function as<T>(
  spec: unknown extends T ? Spec : null extends T ? `${TypeName}?` : TypeName,
): Narrowed<T, Spec> {
  return { spec };
}

type Specs = Readonly<Record<string, Spec | Narrowed<unknown, Spec>>>;

type ValueOf<S> =
  S extends Narrowed<infer T>
    ? T
    : S extends `${infer T extends TypeName}?`
      ? Read[T] | null
      : S extends TypeName
        ? Read[S]
        : never;

/** A bigint may also be written as a number, which must be a safe integer. */
type WrittenValue<T> = T extends bigint
  ? bigint | number
  : T extends readonly (infer E)[]
    ? readonly E[]
    : T;
type Written<S> = { readonly [N in keyof S]?: WrittenValue<ValueOf<S[N]>> };
/** Rejects names that are not columns. Without this, TypeScript would accept them in a spread. */
type Without<R, S> = { readonly [N in Exclude<keyof R, keyof S>]: never };
type Values<S> = { -readonly [N in keyof S]: ValueOf<S[N]> };

/**
 * The methods of a transaction that inserts use. Excludes pools, so that a row commits together
 * with the rows that belong to it.
 */
type Inserting = Pick<Tx, 'query' | 'inTransaction'>;

/** A column list for `select` and `returning` that carries the type of its rows. */
export type Part<R> = string & { readonly [ROW]?: R };

type Names<N> = readonly N[] | { readonly [as: string]: N };

type Picked<V, P> = P extends readonly (infer N extends keyof V)[]
  ? Pick<V, N>
  : { -readonly [N in keyof P]: V[P[N] & keyof V] };

/** A row from the optional side of an outer join. All its columns may be null. */
export type Joined<R> = { [N in keyof R]: R[N] | null };

/** A row whose columns the statement's conditions found to be set. */
export type AllSet<R> = { [N in keyof R]: NonNullable<R[N]> };

export type Row<T> = T extends { readonly [ROW]?: infer R } ? R : never;

type Batch<S, N extends keyof S, O> = { readonly [K in N]: S[K] & ColumnSpec } & O;

/**
 * @param S columns that reads of whole rows return
 * @param U columns that are only written, or that other statements read
 */
export interface Table<S extends Specs, U extends Specs = Specs> {
  readonly [ROW]?: Values<S>;
  readonly name: string;
  readonly types: Readonly<Record<string, Spec>>;
  /** The list of columns that are read, for `select` and `returning`. */
  readonly columns: string;
  /** Returns the list of columns, each qualified with the alias. */
  of(alias: string): string;
  /**
   * Returns a list of some columns, qualified with the alias. An object renames them: new name
   * first.
   */
  pick<const P extends Names<keyof (S & U) & string>>(
    names: P,
    alias?: string,
  ): Part<Picked<Values<S & U>, P>>;
  /** @param rest the statement after the table's name: conditions, order, locks */
  list(sql: Sql, rest: string, values: readonly unknown[]): Promise<Values<S>[]>;
  /** Reads the first row that `list` would return. */
  find(sql: Sql, rest: string, values: readonly unknown[]): Promise<Values<S> | undefined>;
  /** @param rest the statement after the table's name, as for `list` */
  count(sql: Sql, rest: string, values: readonly unknown[]): Promise<number>;
  /**
   * Reads the row with this id and, if requested, locks it.
   * @returns undefined if there is none, or if it belongs to another account or mode
   */
  findOwn(
    sql: Sql,
    tenant: Tenant,
    id: string,
    lock?: 'for update' | 'for no key update',
  ): Promise<Values<S> | undefined>;
  /**
   * Columns that are not given get their defaults.
   * @returns the stored row
   */
  insert<R extends Written<S & U>>(tx: Inserting, row: R & Without<R, S & U>): Promise<Values<S>>;
  /**
   * Inserts a row, with a conflict clause.
   * @returns the stored row; undefined if nothing was inserted or changed
   */
  upsert<R extends Written<S & U>>(
    tx: Inserting,
    row: R & Without<R, S & U>,
    conflict: string,
  ): Promise<Values<S> | undefined>;
  /**
   * Inserts rows that all have the same columns. Other columns get their defaults.
   * @param rest the end of the statement, such as a conflict clause
   */
  insertAll<R extends Written<S & U>>(
    tx: Inserting,
    rows: readonly (R & Without<R, S & U>)[],
    rest?: string,
  ): Promise<void>;
  /**
   * `also` holds further assignments in SQL.
   * @returns the updated rows
   */
  update<R extends Written<S & U>>(
    tx: Inserting,
    set: R & Without<R, S & U>,
    which: { readonly where: string; readonly values: readonly unknown[]; readonly also?: string },
  ): Promise<Values<S>[]>;
  /** Returns these columns of many rows, and `others`, as parameters: see {@link columnsFrom}. */
  batch<
    const N extends keyof (S & U) & string,
    const O extends ColumnTypes = Readonly<Record<never, ColumnSpec>>,
  >(first: number, names: readonly N[], others?: O): Columns<Batch<S & U, N, O>>;
}

function listOf(names: Names<string>, alias?: string): string {
  const before = alias === undefined ? '' : `${alias}.`;
  if (Array.isArray(names)) return names.map((one) => `${before}${one}`).join(', ');
  return Object.entries<string>({ ...names })
    .map(([as, one]) => `${before}${one} as ${as}`)
    .join(', ');
}

/**
 * Caches the result of `make` per list of column names. There are only a few, because our own code
 * contains them.
 */
function byShape<T>(make: (names: readonly string[]) => T): (row: object) => T {
  const made = new Map<string, T>();
  return (row) => {
    const names = Object.keys(row);
    const shape = names.join(' ');
    const known = made.get(shape) ?? make(names);
    made.set(shape, known);
    return known;
  };
}

function reading<R>(name: string, columns: string) {
  const list = (sql: Sql, rest: string, values: readonly unknown[]) => {
    return sql.query<R>(`select ${columns} from ${name} ${rest}`, values);
  };
  const find = async (sql: Sql, rest: string, values: readonly unknown[]) => {
    return (await list(sql, rest, values))[0];
  };
  const count = async (sql: Sql, rest: string, values: readonly unknown[]) => {
    const text = `select count(*)::int as count from ${name} ${rest}`;
    return only(await sql.query<{ count: number }>(text, values), `count of ${name}`).count;
  };
  const findOwn = (sql: Sql, tenant: Tenant, id: string, lock = '') => {
    const rest = `where id = $1 and ${ofTenant('$2', '$3')} ${lock}`;
    return find(sql, rest, [id, tenant.accountId, tenant.livemode]);
  };
  return { list, find, count, findOwn };
}

function writing(name: string, types: Readonly<Record<string, string>>) {
  // Accepts only declared columns. Names become part of the SQL, so they must never come from
  // input.
  const typeOf = (one: string) => present(types[one], `column ${one} of ${name}`).replace('?', '');
  const place = (one: string, at: number) => {
    return `$${at}${typeOf(one) === 'jsonb' ? '::text::jsonb' : ''}`;
  };
  const insertOf = byShape((names) => {
    const places = names.map((one, at) => place(one, at + 1));
    return `insert into ${name} (${listOf(names)}) values (${places.join(', ')})`;
  });
  const typesOf = (names: readonly string[]) => {
    return Object.fromEntries(names.map((one) => [one, typeOf(one)])) as ColumnTypes;
  };
  const insertAllOf = byShape((names) => {
    const batch = columnsFrom(1, typesOf(names));
    const list = listOf(names);
    return { batch, text: `insert into ${name} (${list}) select ${list} from ${batch.table('t')}` };
  });
  const valuesOf = (row: object) => {
    return Object.entries<unknown>({ ...row }).map(([one, value]) => {
      return typeOf(one) === 'jsonb' && value !== null ? JSON.stringify(value) : value;
    });
  };
  return { place, insertOf, typesOf, insertAllOf, valuesOf };
}

export function table<const S extends Specs, const U extends Specs = Record<never, Spec>>(
  name: string,
  read: S,
  unread?: U,
): Table<S, U> {
  const specs: Specs = { ...read, ...unread };
  const types = Object.fromEntries(
    Object.entries(specs).map(([one, spec]) => [one, typeof spec === 'string' ? spec : spec.spec]),
  );
  const whole = Object.keys(read);
  const columns = listOf(whole);
  const { place, insertOf, typesOf, insertAllOf, valuesOf } = writing(name, types);
  return {
    name,
    types,
    columns,
    of: (alias) => listOf(whole, alias),
    pick: listOf,
    ...reading<Values<S>>(name, columns),
    insert: async (tx, row) => {
      const text = `${insertOf(row)} returning ${columns}`;
      return only(await tx.query<Values<S>>(text, valuesOf(row)), `new row of ${name}`);
    },
    upsert: async (tx, row, conflict) => {
      const text = `${insertOf(row)} ${conflict} returning ${columns}`;
      return (await tx.query<Values<S>>(text, valuesOf(row)))[0];
    },
    insertAll: async (tx, rows, rest = '') => {
      if (rows[0] === undefined) return;
      const { batch, text } = insertAllOf(rows[0]);
      await batch.run(tx, `${text} ${rest}`, { rows: rows as readonly RowOf<ColumnTypes>[] });
    },
    update: (tx, set, { where, values, also }) => {
      const places = Object.keys(set).map((one, at) => {
        return `${one} = ${place(one, values.length + at + 1)}`;
      });
      const all = also === undefined ? places : [...places, also];
      assert(all.length > 0, `an update of ${name} sets a column`);
      const text = `update ${name} set ${all.join(', ')} where ${where} returning ${columns}`;
      return tx.query(text, [...values, ...valuesOf(set)]);
    },
    batch: (first, names, others) => {
      const all = { ...typesOf(names), ...others };
      return columnsFrom(
        first,
        all as Batch<S & U, (typeof names)[number], NonNullable<typeof others>>,
      );
    },
  };
}
