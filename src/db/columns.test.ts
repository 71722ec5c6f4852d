import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { columnsFrom, type RowOf } from '#db/columns.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';

const TYPES = {
  name: 'text?',
  hash: 'bytea?',
  notes: 'jsonb?',
  open: 'boolean?',
  count: 'int?',
  atoms: 'bigint?',
  created: 'timestamptz?',
} as const;
type Row = RowOf<typeof TYPES>;

const columns = columnsFrom(1, TYPES);
const NAMES = Object.keys(TYPES) as (keyof typeof TYPES)[];

const NOTHING: Row = {
  ...{ name: null, hash: null, notes: null, open: null, count: null },
  ...{ atoms: null, created: null },
};
const ROWS: readonly Row[] = [
  {
    name: 'Zoë pays € 5 ☕ 𝄞',
    hash: Buffer.from([0, 1, 254, 255]),
    notes: '{"table": "7 ☕"}',
    open: true,
    count: 2 ** 31 - 1,
    atoms: 2n ** 63n - 1n,
    created: new Date('2026-11-21T12:34:56.789Z'),
  },
  NOTHING,
  {
    name: '',
    hash: Buffer.alloc(0),
    notes: [{ table: 7 }],
    open: false,
    count: -(2 ** 31),
    atoms: -(2n ** 63n),
    created: new Date('1969-12-31T23:59:59.999Z'),
  },
  { ...NOTHING, atoms: Number.MAX_SAFE_INTEGER, created: new Date('2000-01-01T00:00:00Z') },
  { ...NOTHING, atoms: Number.MIN_SAFE_INTEGER, created: new Date('9999-12-31T23:59:59.999Z') },
  { ...NOTHING, atoms: 2 ** 32 },
  { ...NOTHING, atoms: -1 },
];

const database = databaseForTests();

/** Sends rows to PostgreSQL and returns them as PostgreSQL understood them. */
async function readBack(rows: readonly Row[]): Promise<unknown[]> {
  return columns.run(
    database.db,
    `select ${columns.select(NAMES, 'n')}
     from generate_series(1, cardinality(${columns.all('name')})) n`,
    { rows },
  );
}

/** Returns the row as a query returns it: JSON is parsed, and every integer is a bigint. */
function asRead({ notes, atoms, ...rest }: Row): unknown {
  return {
    ...rest,
    notes: typeof notes === 'string' ? JSON.parse(notes) : notes,
    atoms: atoms === null ? null : BigInt(atoms),
  };
}

describe('columns of a statement', () => {
  test('arrive in PostgreSQL unchanged, whatever their content', async () => {
    assert.deepEqual(await readBack(ROWS), ROWS.map(asRead));
  });

  test('of no rows are empty arrays', async () => {
    assert.deepEqual(await readBack([]), []);
  });

  test('have room for unusually large values', async () => {
    const large = { ...NOTHING, name: '€'.repeat(200_000), hash: Buffer.alloc(300_000, 7) };
    const rows = [large, { ...NOTHING, name: 'small' }, large];
    assert.deepEqual(await readBack(rows), rows);
  });

  test('are a table after other parameters, for any number of rows', async () => {
    const second = columnsFrom(2, TYPES);
    const text = `select $1::text as given, t.* from ${second.table('t')}`;
    for (const rows of [ROWS, [NOTHING], []]) {
      const result = await second.run(database.db, text, { before: ['a'], rows });
      assert.deepEqual(
        result,
        rows.map((row) => ({ given: 'a', ...(asRead(row) as object) })),
      );
    }
  });

  test('are parameters from the first number on', () => {
    const two = columnsFrom(3, { name: 'text', count: 'int' });
    assert.equal(two.at('name', 'n'), '($3::text[])[n]');
    assert.equal(
      two.select(['count', 'name'], 'n'),
      '($4::int[])[n] as count, ($3::text[])[n] as name',
    );
    assert.equal(two.all('count'), '$4::int[]');
  });
});
