import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { only } from '#core/assert.ts';
import { hashSecret } from '#core/bearer-secrets.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { openServedStore, type StoreServer } from '#testkit/apis/store-server.ts';
import type { TestStore } from '#testkit/fixtures/payments/store.ts';

const ROWS = 250;
/**
 * Indexes of the rows that are not revoked: the oldest, one in the middle, and two with the same
 * creation time.
 */
const ACTIVE = [0, 100, 200, 201];

let store: TestStore;
let server: StoreServer;

before(async () => {
  ({ store, server } = await openServedStore());
});
after(() => server.close());

async function newPayer(): Promise<{ readonly me: Caller; readonly payerId: string }> {
  const { me, account } = await server.signIn();
  const rows = await store.db.query<{ id: string }>('select id from payers where address = $1', [
    account.address,
  ]);
  return { me, payerId: only(rows, 'payer').id };
}

/** Returns rows in pairs with the same creation time. All rows but the active ones are revoked. */
function rowsOf(payerId: string, prefix: string) {
  return Array.from({ length: ROWS }, (_, n) => ({
    // After their prefix, IDs contain only letters and digits.
    id: `${prefix}${payerId.replace('_', '')}${String(n).padStart(4, '0')}`,
    hash: hashSecret(`${prefix}${payerId}${n}`).toString('hex'),
    created: new Date(Date.UTC(2026, 0, 1) + Math.floor(n / 2) * 1_000),
    revoked_at: ACTIVE.includes(n) ? null : new Date(Date.UTC(2026, 1, 1)),
  }));
}

type Row = ReturnType<typeof rowsOf>[number];

const LISTS = [
  {
    path: '/passes',
    insert: async (payerId: string): Promise<readonly Row[]> => {
      const rows = rowsOf(payerId, 'pass_');
      await store.db.query(
        `insert into passes (id, payer_id, hash, created, revoked_at)
         select id, $2, decode(hash, 'hex'), created, revoked_at
         from jsonb_to_recordset($1::jsonb) as t
           (id text, hash text, created timestamptz, revoked_at timestamptz)`,
        [JSON.stringify(rows), payerId],
      );
      return rows;
    },
  },
  {
    path: '/agent_tokens',
    insert: async (payerId: string): Promise<readonly Row[]> => {
      const rows = rowsOf(payerId, 'agtok_');
      await store.db.query(
        `insert into agent_tokens
           (id, payer_id, hash, created, revoked_at, account_id, livemode, amount, expires_at)
         select id, $2, decode(hash, 'hex'), created, revoked_at, $3, false, 1, '2100-01-01'
         from jsonb_to_recordset($1::jsonb) as t
           (id text, hash text, created timestamptz, revoked_at timestamptz)`,
        [JSON.stringify(rows), payerId, store.merchant.tenant.accountId],
      );
      return rows;
    },
  },
];

async function readAll(me: Caller, path: string, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body } = await me.get(`${path}?limit=${limit}${cursor && `&cursor=${cursor}`}`);
    assert.equal(status, 200);
    const data = body.data as { id: string }[];
    ids.push(...data.map(({ id }) => id));
    cursor = body.next_cursor as string | null;
    assert.equal(body.has_more, cursor !== null);
    assert.ok(data.length === limit || cursor === null);
  }
  return ids;
}

function expected(rows: readonly Row[]): string[] {
  const newestFirst = [...rows].reverse();
  const active = newestFirst.filter((row) => row.revoked_at === null);
  return [...active, ...newestFirst.filter((row) => row.revoked_at !== null)].map(({ id }) => id);
}

for (const { path, insert } of LISTS) {
  describe(`GET ${path}`, () => {
    test('shows active ones before 246 revoked ones, and all of them page by page', async () => {
      const { me, payerId } = await newPayer();
      const target = expected(await insert(payerId));
      for (const limit of [1, 7, 100]) assert.deepEqual(await readAll(me, path, limit), target);
    });

    test('continues at its place when one is revoked between two pages', async () => {
      const { me, payerId } = await newPayer();
      const target = expected(await insert(payerId));
      const first = (await me.get(`${path}?limit=4`)).body;
      await me.send('DELETE', `${path}/${target[1]}`);
      const next = (await me.get(`${path}?limit=100&cursor=${first.next_cursor}`)).body;
      const ids = (next.data as { id: string }[]).map(({ id }) => id);
      assert.deepEqual(ids.filter((id) => id !== target[1]).slice(0, 90), target.slice(4, 94));
    });

    test('refuses cursors of another payer or another list, and altered ones', async () => {
      const [one, two] = [await newPayer(), await newPayer()];
      for (const list of LISTS) await list.insert(one.payerId);
      const cursor = String((await one.me.get(`${path}?limit=1`)).body.next_cursor);
      const other = LISTS.find((list) => list.path !== path)?.path;
      const history = String((await one.me.get(`${other}?limit=1`)).body.next_cursor);
      const changed = `${cursor[0] === 'A' ? 'B' : 'A'}${cursor.slice(1)}`;
      const wrong = [two.me.get(`${path}?cursor=${cursor}`)];
      for (const text of [history, changed, 'AAAA']) {
        wrong.push(one.me.get(`${path}?cursor=${text}`));
      }
      for (const { status, body } of await Promise.all(wrong)) {
        assert.equal(status, 400);
        assert.equal(errorCodeOf(body), 'cursor_invalid');
      }
    });

    test('reads a page from an index, for any number of rows', async () => {
      const table = path.slice(1);
      const plan = await store.db.transaction(async (tx) => {
        await tx.query('set local enable_seqscan = off');
        await tx.query('set local enable_sort = off');
        return tx.query<{ 'QUERY PLAN': string }>(
          `explain select id from ${table} where payer_id = 'p'
             and ((revoked_at is null), created, id) < (true, now(), 'x')
           order by (revoked_at is null) desc, created desc, id desc limit 21`,
        );
      });
      const text = plan.map((row) => row['QUERY PLAN']).join('\n');
      assert.match(text, new RegExp(`Index (Only )?Scan using ${table}_payer_listed`));
      assert.match(text, /Index Cond:.*ROW/);
      assert.doesNotMatch(text, /Sort/);
    });
  });
}
