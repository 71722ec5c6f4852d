import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Table } from '#db/table.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';

/**
 * Prepares every statement of the `…-queries.ts` files against the schema, so that a misspelled
 * column cannot hide in a rarely used path. It calls each exported function with placeholder values
 * and a connection that records the statements and sends nothing.
 */

const ROOT = path.join(import.meta.dirname, '..');
/** Lower bound that detects functions that stop before they send their statements. */
const FEWEST_STATEMENTS = 600;
const FEWEST_TABLES = 60;
/** Functions whose statements this test cannot reach. Their own tests run them. */
const NOT_REACHED = [
  // These functions pass their rows to the table unchanged, and a placeholder has no columns.
  'insertIntents',
  'insertMovements',
  'insertPayments',
  // These functions require a valid id or bytes before they send anything.
  'searchPayments',
  'selectDelivery',
  // Inserts or updates the row that its caller passes, and a placeholder has no columns.
  'storeRead',
  // These functions set the columns that their callers pass, and a placeholder has none.
  'updateCollectorKey',
  'updateRecovery',
  'updateUnversioned',
  'updateUser',
  'upsertChainPayments',
  // Passes its rows to the table unchanged, and a placeholder row has no columns.
  'upsertRates',
];
const PREPARABLE = /^\s*(select|insert|update|delete|merge|with|values)\b/i;

type Called = (...args: readonly unknown[]) => unknown;

/** Properties that select or name a part of the statement, or whose format is checked first. */
const FORMED: Readonly<Record<string, string>> = {
  ...{ timeZone: 'UTC', day: '2026-01-01', status: 'pending' },
  ...{ table: 'payments', parent: 'events', column: 'created', name: 'events_default' },
};

/**
 * Lengths of lists and values of properties. Flavors differ, so that each branch of a function
 * runs.
 */
interface Flavor {
  /** Number of items when iterated. */
  readonly items: number;
  /** Value of `length`. */
  readonly length: number;
  readonly property: (whole: unknown, name: string) => unknown;
}

/** Returns a value that has every property, can be called, and converts to 1. */
function anything(flavor: Flavor): unknown {
  const whole: object = new Proxy(() => {}, {
    get(_, name) {
      if (name === Symbol.toPrimitive) return () => '1';
      if (name === Symbol.iterator) return () => Array(flavor.items).fill(whole).values();
      if (typeof name === 'symbol' || name === 'then' || name === 'toJSON') return undefined;
      if (name === 'length') return flavor.length;
      if (name in Array.prototype && name !== 'toString') {
        const list: unknown = Reflect.get(Array(flavor.items).fill(whole), name);
        return typeof list === 'function' ? list.bind(Array(flavor.items).fill(whole)) : list;
      }
      return flavor.property(whole, name);
    },
    apply: () => whole,
  });
  return whole;
}

/**
 * Objects whose missing properties are placeholders, too. A `method` may be an object or a text.
 */
const OBJECTS = /^(tenant|filters|wanted|request|fees|place)$/;
const WITH_METHOD = /^(tenant|filters|wanted|request|fees|place|method)$/;

const FLAVORS: readonly Flavor[] = [
  { items: 1, length: 1, property: (whole, name) => FORMED[name] ?? whole },
  { items: 0, length: 1, property: (whole, name) => FORMED[name] ?? whole },
  ...[
    { missing: null, items: 0, objects: OBJECTS },
    { missing: undefined, items: 0, objects: OBJECTS },
    { missing: null, items: 1, objects: OBJECTS },
    { missing: null, items: 1, objects: WITH_METHOD },
  ].map(({ missing, items, objects }) => ({
    items,
    length: items,
    property: (whole: unknown, name: string) => {
      if (name === 'status') return null;
      return objects.test(name) ? whole : (FORMED[name] ?? missing);
    },
  })),
];

/** Returns the statements that a function sends, over all flavors of placeholder arguments. */
async function textsOf(run: Called): Promise<Set<string>> {
  const texts = new Set<string>();
  for (const flavor of FLAVORS) {
    const value = anything(flavor);
    const query = async (text: string) => {
      texts.add(text);
      return [value];
    };
    const work = async (inside: (tx: unknown) => unknown) => inside(connection);
    const connection: object = new Proxy(
      { query, transaction: work },
      { get: (known, name) => Reflect.get(known, name) ?? (name === 'then' ? undefined : value) },
    );
    const rest = Array(Math.max(run.length, 4)).fill(value);
    try {
      await run(connection, ...rest);
    } catch {
      // Ignores the error, because the function's handling of the response does not matter.
    }
  }
  return texts;
}

const database = databaseForTests();

test('every statement can be prepared against the schema', async () => {
  const client = await database.db.connect();
  const [silent, wrong]: [string[], string[]] = [[], []];
  const seen = new Set<string>();
  for await (const file of glob('src/**/*-queries.ts', { cwd: ROOT })) {
    const module = await import(pathToFileURL(path.join(ROOT, file)).href);
    for (const [name, run] of Object.entries(module)) {
      const isStatement = typeof run === 'function' && /^[^(]*\(\s*(sql|tx|db)\b/.test(String(run));
      if (!isStatement) continue;
      const texts = await textsOf(run as Called);
      if (texts.size === 0) silent.push(name);
      for (const text of texts) {
        if (seen.has(text) || !PREPARABLE.test(text)) continue;
        seen.add(text);
        const problem = await client.query(`prepare s${seen.size} as ${text}`).then(
          () => null,
          (error: Error) => `${file} ${name}: ${error.message}\n${text}`,
        );
        if (problem !== null) wrong.push(problem);
      }
    }
  }
  await client.end();
  assert.deepEqual(wrong, []);
  assert.deepEqual(silent.toSorted(), NOT_REACHED);
  assert.ok(seen.size >= FEWEST_STATEMENTS, `only ${seen.size} statements were seen`);
});

/** PostgreSQL does not say which columns of a view are never null. */
const DECLARED_TYPES = `
  select a.attname || case when a.attnotnull or c.relkind = 'v' then '' else '?' end as name,
    format_type(a.atttypid, null) as type, c.relkind = 'v' as of_view
  from pg_attribute a join pg_class c on c.oid = a.attrelid
  where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped`;
const SHORT: Readonly<Record<string, string>> = {
  integer: 'int',
  smallint: 'int',
  'timestamp with time zone': 'timestamptz',
  'timestamp with time zone[]': 'timestamptz[]',
};

test('a table is declared as it is in the schema', async () => {
  const wrong: string[] = [];
  const seen = new Set<string>();
  for await (const file of glob('src/**/*.ts', { cwd: ROOT })) {
    const text = await readFile(path.join(ROOT, file), 'utf8');
    if (file.endsWith('.test.ts') || !/ = table\(/.test(text)) continue;
    const module = await import(pathToFileURL(path.join(ROOT, file)).href);
    for (const one of Object.values<Table<Record<string, 'text'>>>(module)) {
      if (typeof one !== 'object' || one === null || !('types' in one)) continue;
      assert.ok(!seen.has(one.name), `${one.name} is declared twice`);
      seen.add(one.name);
      const rows = await database.db.query<{ name: string; type: string; of_view: boolean }>(
        DECLARED_TYPES,
        [one.name],
      );
      const isView = rows.some(({ of_view: ofView }) => ofView);
      const known = new Set(rows.map(({ name, type }) => `${name} ${SHORT[type] ?? type}`));
      for (const [name, type] of Object.entries<string>(one.types)) {
        const isNullable = type.endsWith('?');
        const declared = `${name}${isNullable && !isView ? '?' : ''} ${type.replace('?', '')}`;
        if (!known.has(declared)) wrong.push(`${one.name}: ${declared}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(seen.size >= FEWEST_TABLES, `only ${seen.size} tables were seen`);
});
