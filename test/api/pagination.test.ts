import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestIntent, startTestApi, type TestApi } from '#testing/api.ts';

const PATH = '/v1/payment_intents';
/** Rows of one account: behavior.md 4 promises the same cost on every page of them. */
const MANY = Number(process.env.PAGINATION_ROWS ?? 1_000_000);

let api: TestApi;

before(async () => {
  api = await startTestApi();
});

after(() => api.close());

/** Rows of one statement: well within the time that a statement may take. */
const PORTION = 100_000;

async function addMany(key: { accountId: string; livemode: boolean }, terminal: string) {
  for (let from = 1; from <= MANY; from += PORTION) {
    await api.db.query(
      `insert into payment_intents (id, account_id, livemode, position, created, amount,
         terminal_id, order_id, metadata, source, expires_at, status, cancellation_reason,
         canceled_at)
       select 'pi_' || lpad(n::text, 22, '0'), $1, $2, n,
         timestamptz '2026-01-01' + n * interval '3 ms', 1, $3, lpad(to_hex(n), 8, '0'), '{}',
         case when n % 2 = 0 then 'api' else 'terminal' end, timestamptz '2026-02-01', 'canceled',
         'expired', timestamptz '2026-02-01'
       from generate_series($4::int, $5::int) as n`,
      [key.accountId, key.livemode, terminal, from, Math.min(from + PORTION - 1, MANY)],
    );
  }
  await api.db.query('analyze payment_intents');
}

interface Plan {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly Plan[];
}

function nodes(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)];
}

/** The statement of a page as the service runs it, with its plan. */
async function explain(where: string, values: readonly unknown[]): Promise<Plan> {
  const rows = await api.db.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (analyze, buffers, format json)
     select id from payment_intents where account_id = $1 and livemode = $2 ${where}
     order by created desc, position desc limit 21`,
    values,
  );
  const plan = rows[0]?.['QUERY PLAN'][0].Plan;
  assert.ok(plan !== undefined);
  return plan;
}

test(`any page of ${MANY} rows is a range of an index`, async () => {
  const { tenant, terminal } = (await api.addMerchant()).test;
  await addMany(tenant, terminal);
  const owner = [tenant.accountId, tenant.livemode];
  const placeOf = (n: number) => [new Date(Date.UTC(2026, 0, 1) + n * 3), BigInt(n)];
  const after = 'and (created, position) < ($3, $4)';
  const pages = [
    { where: '', values: owner, index: 'payment_intents_list' },
    { where: after, values: [...owner, ...placeOf(MANY / 2)], index: 'payment_intents_list' },
    { where: after, values: [...owner, ...placeOf(30)], index: 'payment_intents_list' },
    {
      where: `${after} and source = $5`,
      values: [...owner, ...placeOf(MANY / 2), 'api'],
      index: 'payment_intents_list_source',
    },
    {
      where: `${after} and terminal_id = $5`,
      values: [...owner, ...placeOf(MANY / 2), 'tml_of_somebody_else'],
      index: 'payment_intents_list_terminal',
    },
    {
      where: 'and created >= $3 and created < $4',
      values: [...owner, placeOf(1000)[0], placeOf(MANY / 2)[0]],
      index: 'payment_intents_list',
    },
  ];
  for (const { where, values, index } of pages) {
    const plan = await explain(where, values);
    const shown = nodes(plan).map((node) => `${node['Node Type']} ${node['Index Name'] ?? ''}`);
    assert.ok(!shown.some((name) => /Seq Scan|Sort/.test(name)), `${where}: ${shown}`);
    assert.ok(
      shown.some((name) => name.endsWith(index)),
      `${where}: ${shown}`,
    );
    const blocks = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    assert.ok(blocks < 80, `${where}: ${blocks} blocks for one page`);
  }
});

/** Every id of a list, page by page, with what `between` does after each page. */
async function walk(query: string, between: () => Promise<unknown>): Promise<string[]> {
  const ids: string[] = [];
  let cursor = '';
  for (;;) {
    const { body } = await api.call({ path: `${PATH}?${query}${cursor}` });
    ids.push(...body.data.map(({ id }) => id));
    if (!body.has_more) return ids;
    cursor = `&cursor=${body.next_cursor}`;
    await between();
  }
}

test('a walk under concurrent creates has no duplicates and no gaps', async () => {
  const before: string[] = [];
  for (let i = 0; i < 60; i++) before.unshift((await createTestIntent(api)).id);
  const creates = () => Promise.all(Array.from({ length: 8 }, () => createTestIntent(api)));
  const walked = await walk('limit=7', creates);
  assert.equal(new Set(walked).size, walked.length, 'no duplicates');
  assert.deepEqual(
    walked.filter((id) => before.includes(id)),
    before,
    'no gaps',
  );
});

test('a poller that asks for what came since its newest row misses nothing', async () => {
  const made = new Set<string>();
  const seen = new Set<string>();
  let working = true;
  const create = async () => {
    for (let i = 0; i < 40; i++) made.add((await createTestIntent(api)).id);
  };
  let since = '2026-01-01T00:00:00.000Z';
  const poll = async () => {
    while (true) {
      const isLast = !working;
      // Newest first: walk to the end of what came since, then go on from the newest.
      const ids = await walk(`limit=100&created_gte=${since}`, async () => {});
      for (const id of ids) seen.add(id);
      const newest = ids[0];
      if (newest !== undefined) {
        since = (await api.call({ path: `${PATH}/${newest}` })).body.created;
      }
      if (isLast) return;
    }
  };
  const polling = poll();
  await Promise.all(Array.from({ length: 8 }, create));
  working = false;
  await polling;
  assert.deepEqual(
    [...made].filter((id) => !seen.has(id)),
    [],
  );
});
