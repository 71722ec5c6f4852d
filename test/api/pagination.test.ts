import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectNewest } from '#audit/audit-queries.ts';
import type { Sql } from '#db/database.ts';
import type { Page } from '#db/paging.ts';
import { SESSION_SETTINGS } from '#db/session-settings.ts';
import { selectEvents, selectEventsOfTypes } from '#events/event-queries.ts';
import { type IntentFilters, selectIntentPage } from '#payments/intent-page.ts';
import { selectRequests } from '#request-log/request-log-queries.ts';
import { createTestIntent, readAllPages, startTestApi } from '#testkit/apis/api.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { selectDeliveries } from '#webhooks/delivery-queries.ts';

const PATH = '/v1/payment_intents';
/** Number of rows of one account. behavior.md 4 promises the same cost for every page. */
const MANY = Number(process.env.PAGINATION_ROWS ?? 50_000);

const api = openForTests(startTestApi);

/** Rows per insert, well within the statement time-out. */
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

/**
 * Runs statements on a connection like the service's and records the generic plan of each, which
 * serves all values. (`explain` with values would show a custom plan.)
 */
async function openExplaining() {
  const client = await api.db.connect();
  for (const [name, value] of Object.entries(SESSION_SETTINGS)) {
    await client.query('select set_config($1, $2, false)', [name, value]);
  }
  const plans: Plan[] = [];
  let prepared = 0;
  const literal = (value: unknown): string => {
    if (value === null) return 'null';
    if (value instanceof Date) return client.escapeLiteral(value.toISOString());
    if (Array.isArray(value)) return client.escapeLiteral(`{${value.join()}}`);
    return client.escapeLiteral(String(value));
  };
  const sql: Sql = {
    query: async (text, values = []) => {
      const name = `page_${prepared++}`;
      await client.query(`prepare ${name} as ${text}`);
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `explain (analyze, buffers, format json) execute ${name} (${values.map(literal).join()})`,
      );
      plans.push(...rows.map((row) => row['QUERY PLAN'][0].Plan));
      return [];
    },
  };
  return { sql, plans, close: () => client.end() };
}

const FIRST = { limit: 20, after: null, createdGte: null, createdLt: null };
const placeOf = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 3);
const behind = (n: number) => ({ ...FIRST, after: { created: placeOf(n), position: BigInt(n) } });
/** Far fewer blocks than the table has, but enough for a page of scattered rows. */
const MOST_BLOCKS = 120;

/** The index that a list must read from, and a function that reads one page of the list. */
type PageOf = readonly [index: string, read: (sql: Sql) => Promise<unknown>];

async function checkPages(pages: readonly PageOf[]): Promise<void> {
  const explaining = await openExplaining();
  for (const [index, read] of pages) {
    await read(explaining.sql);
    const plan = explaining.plans.pop();
    assert.ok(plan !== undefined, index);
    const shown = nodes(plan).map((node) => `${node['Node Type']} ${node['Index Name'] ?? ''}`);
    assert.ok(!shown.some((name) => name.includes('Seq Scan')), `${index}: ${shown}`);
    assert.ok(
      shown.some((name) => name.endsWith(index)),
      `${index}: ${shown}`,
    );
    const blocks = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    assert.ok(blocks < MOST_BLOCKS, `${index}: ${blocks} blocks for one page`);
  }
  await explaining.close();
}

test(`reading any page of ${MANY} intents reads one range of an index`, async () => {
  const { tenant, terminal } = (await api.addMerchant()).test;
  await addMany(tenant, terminal);
  const now = new Date();
  const of =
    (filters: IntentFilters, page: Page): PageOf[1] =>
    (sql) =>
      selectIntentPage(sql, { tenant, filters, now }, page);
  const between = { ...FIRST, createdGte: placeOf(1000), createdLt: placeOf(MANY / 2) };
  await checkPages([
    ['payment_intents_list', of({}, FIRST)],
    ['payment_intents_list', of({}, behind(MANY / 2))],
    ['payment_intents_list', of({}, behind(30))],
    ['payment_intents_list', of({}, between)],
    ['payment_intents_source', of({ source: 'api' }, behind(MANY / 2))],
    ['payment_intents_terminal', of({ terminal_id: 'tml_other' }, behind(MANY / 2))],
    ['payment_intents_canceled', of({ status: 'canceled' }, behind(MANY / 2))],
    ['payment_intents_succeeded', of({ status: 'succeeded' }, FIRST)],
  ]);
});

/** Fills an account with equal numbers of events, deliveries, requests and audit log entries. */
const FILL = [
  `insert into events (id, account_id, livemode, position, created, type, object_id, body)
   select 'evt_' || n, $1, false, n, timestamptz '2026-01-01' + n * interval '3 ms',
     case when n % 5 = 0 then 'payment.created' else 'payment_intent.created' end, 'pi_' || n, '{}'
   from generate_series(1, $2::int) n`,
  `insert into webhook_deliveries (endpoint_id, status, event_created, event_position, id,
     account_id, livemode, event_id, event_type, created, updated, attempt)
   select 'we_1', case when n % 500 = 0 then 'failed' else 'succeeded' end,
     timestamptz '2026-01-01' + n * interval '3 ms', n, 'whd_' || n, $1, false, 'evt_' || n,
     'payment_intent.created', now(), now(), 1
   from generate_series(1, $2::int) n`,
  `insert into request_log (id, created, account_id, livemode, method, path, status, api_version,
     duration_ms, address)
   select 'req_' || n, timestamptz '2026-01-01' + n * interval '3 ms', $1, false, 'GET', '/',
     case when n % 500 = 0 then 404 else 200 end, '', 1, ''
   from generate_series(1, $2::int) n`,
  `insert into audit_log (chain, sequence, created, actor, action, object_id, previous_hash, hash)
   select $1 || ' busy', n, now(), '{}', 'x', 'object_' || n % 1000, '', ''
   from generate_series(1, $2::int) n`,
];
const MANY_OTHERS = 100_000;

test(`so does any page of ${MANY_OTHERS} events, deliveries, requests or changes`, async () => {
  const { tenant } = (await api.addMerchant()).test;
  for (const text of FILL) await api.db.query(text, [tenant.accountId, MANY_OTHERS]);
  await api.db.query('analyze events, webhook_deliveries, request_log, audit_log');
  const types = ['payment.created'];
  const auditLog = { auditLog: `${tenant.accountId} busy`, limit: 20 };
  const half = MANY_OTHERS / 2;
  const requests = {
    ...{ status: null, failed: false, byServers: false, operation: null, callerId: null },
    ...{ objectId: null, createdGte: null, createdLt: null },
  };
  await checkPages([
    ['_account_id_livemode_created_position_idx', (sql) => selectEvents(sql, tenant, FIRST)],
    ['_account_id_livemode_created_position_idx', (sql) => selectEvents(sql, tenant, behind(half))],
    ['_events_type', (sql) => selectEventsOfTypes(sql, { tenant, types }, behind(half))],
    [
      'webhook_deliveries_default_pkey',
      (sql) => selectDeliveries(sql, { endpointId: 'we_1', status: null }, behind(half)),
    ],
    [
      'webhook_deliveries_default_pkey',
      (sql) => selectDeliveries(sql, { endpointId: 'we_1', status: 'failed' }, FIRST),
    ],
    [
      '_account_id_livemode_status_created_idx',
      (sql) => {
        const filters = { ...requests, status: 404 };
        return selectRequests(sql, { tenant, filters }, { limit: 20, after: null });
      },
    ],
    [
      'audit_log_pkey',
      (sql) => selectNewest(sql, { ...auditLog, before: 50_000n, objectId: null }),
    ],
    [
      'audit_log_object',
      (sql) => selectNewest(sql, { ...auditLog, before: null, objectId: 'object_7' }),
    ],
  ]);
});

async function readAll(query: string, between?: () => Promise<unknown>): Promise<string[]> {
  const rows = await readAllPages(api, `${PATH}?${query}`, between);
  return rows.map(({ id }) => id);
}

test('pagination under concurrent creates has no duplicates and no gaps', async () => {
  const before: string[] = [];
  for (let i = 0; i < 60; i++) before.unshift((await createTestIntent(api)).id);
  const creates = () => Promise.all(Array.from({ length: 8 }, () => createTestIntent(api)));
  const ids = await readAll('limit=7', creates);
  assert.equal(new Set(ids).size, ids.length, 'no duplicates');
  assert.deepEqual(
    ids.filter((id) => before.includes(id)),
    before,
    'no gaps',
  );
});

test('a client that polls for rows after its newest one misses nothing', async () => {
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
      // Reads to the end of the new entries, newest first, then resumes from the newest.
      const ids = await readAll(`limit=100&created_gte=${since}`);
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
