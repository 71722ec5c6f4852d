import { only, present } from '#core/assert.ts';
import { type Columns, type ColumnType, columnsFrom } from '#db/columns.ts';
import type { Tx } from '#db/database.ts';

/**
 * A table, declared once: its columns with their types, from which the row type, the column lists
 * and the inserts follow. Queries stay SQL.
 */

/** The types of read values: see `type-parsers.ts`. */
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
  readonly uuid: string;
}

type TypeName = keyof Read;

/** A PostgreSQL type, with `?` if the column may be null. */
type Spec = TypeName | `${TypeName}?`;

declare const AS: unique symbol;

/** A column with fewer values than its type allows. */
export interface Narrowed<T, S extends Spec = Spec> {
  readonly spec: S;
  readonly [AS]?: T;
}

export function as<T>(spec: Spec): Narrowed<T> {
  return { spec };
}

type Specs = Readonly<Record<string, Spec | Narrowed<unknown>>>;

type ValueOf<S> =
  S extends Narrowed<infer T>
    ? T
    : S extends `${infer T extends TypeName}?`
      ? Read[T] | null
      : S extends TypeName
        ? Read[S]
        : never;

type Written<S> = {
  readonly [N in keyof S]?: ValueOf<S[N]> extends readonly (infer E)[]
    ? readonly E[]
    : ValueOf<S[N]>;
};
/** Rejects names that are not columns, which a spread would otherwise let through. */
type Without<R, S> = { readonly [N in Exclude<keyof R, keyof S>]: never };
type Values<S> = { -readonly [N in keyof S]: ValueOf<S[N]> };

/** Never a separate connection, so that a row commits with the rows it belongs to. */
type Inserting = Pick<Tx, 'query' | 'inTransaction'>;

/** A row of the table as it is read. */
export type Row<T> = T extends Table<infer S, infer _> ? Values<S> : never;

type TypeOf<S> = S extends { readonly spec: infer T }
  ? TypeOf<T>
  : S extends `${infer T extends ColumnType}?`
    ? T
    : S;
type Types<S, N extends keyof S> = { readonly [K in N]: TypeOf<S[K]> & ColumnType };

/**
 * @param S the columns that are read. @param U those that are only written, or read by other
 * statements.
 */
export interface Table<S extends Specs, U extends Specs = Specs> {
  readonly name: string;
  /** All columns, by name. */
  readonly types: Readonly<Record<string, Spec>>;
  /** The columns that are read, for `select` and `returning`. */
  readonly columns: string;
  /** The same, for the table under that alias. */
  of(alias: string): string;
  /** Inserts a row with these columns; the others get their defaults. @returns the stored row. */
  insert<R extends Written<S & U>>(tx: Inserting, row: R & Without<R, S & U>): Promise<Values<S>>;
  /** These columns of many rows, as parameters of a statement from its first one on. */
  batch<const N extends keyof (S & U) & string>(...names: readonly N[]): Columns<Types<S & U, N>>;
}

export function table<const S extends Specs, const U extends Specs = Record<never, Spec>>(
  name: string,
  read: S,
  unread?: U,
): Table<S, U> {
  const specs = Object.entries<Spec | Narrowed<unknown>>({ ...read, ...unread });
  const types = Object.fromEntries(
    specs.map(([one, spec]) => [one, typeof spec === 'string' ? spec : spec.spec]),
  );
  const columns = Object.keys(read);
  const isJson = (one: string) => types[one]?.startsWith('jsonb') === true;
  /** By the columns that they write. */
  const inserts = new Map<string, string>();
  const insertOf = (shape: string, names: readonly string[]) => {
    // Names become text of the statement, so they must never come from a value.
    for (const one of names) present(types[one], `column ${one} of ${name}`);
    const places = names.map((one, at) => `$${at + 1}${isJson(one) ? '::text::jsonb' : ''}`);
    return `insert into ${name} (${shape}) values (${places.join(', ')})
     returning ${columns.join(', ')}`;
  };
  return {
    name,
    types,
    columns: columns.join(', '),
    of: (alias) => columns.map((one) => `${alias}.${one}`).join(', '),
    insert: async (tx, row) => {
      const names = Object.keys(row);
      const shape = names.join(', ');
      const text = inserts.get(shape) ?? insertOf(shape, names);
      inserts.set(shape, text);
      const values = names.map((one) => {
        const value: unknown = row[one as keyof typeof row];
        return isJson(one) && value !== null ? JSON.stringify(value) : value;
      });
      return only(await tx.query<Values<S>>(text, values), `new row of ${name}`);
    },
    batch: (...names) =>
      columnsFrom(
        1,
        Object.fromEntries(names.map((one) => [one, types[one]?.replace('?', '')])) as Types<
          S & U,
          (typeof names)[number]
        >,
      ),
  };
}
