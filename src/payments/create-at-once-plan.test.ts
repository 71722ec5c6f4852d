import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAtOnce } from '#payments/create-at-once.ts';
import { CREATE } from '#payments/create-statement.ts';
import { openStore, type TestStore } from '#testing/store.ts';
import { newCreate } from '#testing/store-payments.ts';
import { addEndpoint, endpointsOf } from '#testing/webhook-endpoints.ts';

/**
 * A connection keeps a plan for as long as nothing replaces it. So the plan that is made on the
 * first day, when every way of reading costs the same, has to be one for large tables too.
 */
let store: TestStore;
before(async () => {
  store = await openStore();
});
after(() => store.close());

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Plan[];
}

function nodes(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)];
}

/** How the statement would read the tables: which by which columns of which index. */
async function readings(): Promise<string[]> {
  const found: string[] = [];
  const explain = async (text: string, values: readonly unknown[]) => {
    const rows = await store.db.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `explain (format json) ${text}`,
      values,
    );
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    assert.ok(plan !== undefined);
    for (const node of nodes(plan)) {
      if (!/Scan/.test(node['Node Type']) || node['Relation Name'] === undefined) continue;
      const columns = node['Index Cond']?.match(/(?<=\()\w+(?= [=<>])/g) ?? [];
      const how = node['Index Name'] ?? node['Node Type'];
      found.push(`${node['Relation Name']} by ${how}: ${columns.join(' ')}`.trim());
    }
    return [];
  };
  const pipeline = { ...store.db.openPipeline(), run: explain };
  await createAtOnce({ ...store, pipeline }, [newCreate(store, { orderId: 'A' })]);
  return found.sort();
}

const LOOK_UPS = [
  'account_modes by Tid Scan:',
  'account_modes by account_modes_pkey: account_id',
  'account_modes by account_modes_pkey: account_id',
  'api_keys by api_keys_hash_key: hash',
  'device_keys by device_keys_pkey: hash',
  'idempotency_keys by idempotency_keys_pkey: account_id livemode caller key',
  'payment_intents by payment_intents_account_id_livemode_order_id_key: ' +
    'account_id livemode order_id order_id',
  'settlement_number_blocks by settlement_number_blocks_pkey: livemode',
  'settlement_number_blocks by settlement_number_blocks_pkey: livemode',
  'terminals by terminals_pkey: id',
  'webhook_endpoints by webhook_endpoints_account: account_id livemode',
];

test('each table is looked up by a whole key, whatever the planner knows of it', async () => {
  assert.deepEqual(await readings(), LOOK_UPS, 'nothing is known');
  await store.db.query('analyze');
  assert.deepEqual(await readings(), LOOK_UPS, 'one account, no intent');
  const pipeline = store.db.openPipeline();
  await addEndpoint(endpointsOf(store), 'http://127.0.0.1:2999/');
  await createAtOnce({ ...store, pipeline }, [newCreate(store)]);
  await store.db.query('analyze');
  assert.deepEqual(await readings(), LOOK_UPS, 'one of each');
  const many = Array.from({ length: 500 }, () => newCreate(store));
  await createAtOnce({ ...store, pipeline }, many);
  assert.deepEqual(await readings(), LOOK_UPS, 'many, and not counted yet');
  await store.db.query('analyze');
  assert.deepEqual(await readings(), LOOK_UPS, 'many of one account');
});

/** PostgreSQL plans so many calls for their own values before it compares. */
const PLANNED_CALLS = 5;

test('a plan is kept, however few a batch has', async () => {
  // Its connections have planned nothing yet.
  const fresh = await openStore();
  const pipeline = fresh.db.openPipeline();
  for (let call = 0; call < 2 * PLANNED_CALLS; call++) {
    await createAtOnce({ ...fresh, pipeline }, [newCreate(fresh)]);
  }
  const plans = await pipeline.run<{ custom: number; kept: number }>(
    `select custom_plans::int as custom, generic_plans::int as kept
     from pg_prepared_statements where statement = $1`,
    [CREATE],
  );
  await fresh.close();
  assert.equal(plans.length, 1);
  assert.equal(plans[0]?.custom, PLANNED_CALLS);
  assert.ok(Number(plans[0]?.kept) >= PLANNED_CALLS);
});
