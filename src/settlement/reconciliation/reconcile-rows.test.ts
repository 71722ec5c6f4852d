import assert from 'node:assert/strict';
import { test } from 'node:test';
import { only } from '#core/assert.ts';
import type { Sql } from '#db/database.ts';
import {
  type ComparedSince,
  replaceTransfers,
  selectRefundDifferences,
  selectWithdrawalDifferences,
} from '#settlement/reconciliation/reconcile-queries.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';

/** The number of refunds and the number of withdrawals; one per block, all compared long ago. */
const OLD = 3_000;
/** The newest blocks, which are compared again. */
const NEW_BLOCKS = 5;
/** The most rows that a run may read: a few per new row and per open difference. */
const MOST_READ = 300;

const EVER: ComparedSince = {
  livemode: false,
  fromBlock: 0n,
  toBlock: BigInt(OLD),
  since: new Date(0),
};
const NOW = new Date('2026-11-22T12:00:00Z');
const LATELY: ComparedSince = {
  ...EVER,
  fromBlock: BigInt(OLD - NEW_BLOCKS + 1),
  since: new Date('2026-11-22T11:00:00Z'),
};

const hash = (mark: string) => `'0x${mark}' || lpad(n::text, 60, '0')`;
const FILL = [
  `insert into payment_intents (id, account_id, livemode, position, created, amount, terminal_id,
     order_id, metadata, source, expires_at, status, attempt, payment_id, tx_hash)
   select 'pi_' || n, 'acct_1', false, n, $1, 9, 'tml_1', n, '{}', 'api', $1, 'succeeded', '{}',
     'pay_' || n, '0x'
   from generate_series(1, $2::int) n`,
  `insert into payments (id, account_id, livemode, position, created, payment_intent_id,
     terminal_id, payer_id, payer_address, order_id, method_type, credential_type, amount,
     fee_acquirer, fee_protocol, fee_cashback, chain_id, settlement_number, batch_number,
     tx_hash, block_number, log_index, settled_at, refundable_until)
   select 'pay_' || n, 'acct_1', false, n, $1, 'pi_' || n, 'tml_1', 'pyr_1', '0x', n,
     'wallet_pass', 'nfc_id', 9, 0, 0, 0, 1, n, n, '0x', n, 0, $1, $1
   from generate_series(1, $2::int) n`,
  `insert into refunds (id, account_id, livemode, position, created, updated, payment_id, amount,
     status, tx_hash, source, metadata)
   select 're_' || n, 'acct_1', false, n, $1, $1, 'pay_' || n, 5, 'succeeded', ${hash('re')},
     'api', '{}'
   from generate_series(1, $2::int) n`,
  `insert into withdrawals (id, account_id, livemode, position, created, updated, amount, wallet,
     status, tx_hash, requested_by)
   select 'wdr_' || n, 'acct_1', false, n, $1, $1, 7, '0xA', 'succeeded', ${hash('wd')}, 'owner'
   from generate_series(1, $2::int) n`,
  `insert into chain_requests
     (livemode, kind, subject_id, number, payload, status, outcome, created, applied_at)
   select false, 'withdrawal', 'wdr_' || n, n, '{}', 'succeeded', '{}', $1, $1
   from generate_series(1, $2::int) n`,
  `insert into chain_transfers (livemode, tx_hash, log_index, kind, number, merchant_number,
     recipient, amount, block_number, block_time)
   select false, ${hash('re')}, 0, 'refund', n, 1, '0xa', 5, n, $1
   from generate_series(1, $2::int) n`,
  `insert into chain_transfers (livemode, tx_hash, log_index, kind, number, merchant_number,
     recipient, amount, block_number, block_time)
   select false, ${hash('wd')}, 0, 'withdrawal', n, 1, '0xa', 7, n, $1
   from generate_series(1, $2::int) n`,
];

const database = databaseForTests(undefined, async () => {
  const longAgo = new Date('2026-01-01T00:00:00Z');
  for (const statement of FILL) await database.db.query(statement, [longAgo, OLD]);
  await database.db.query('analyze');
});

interface Plan {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

function rowsRead(plan: Plan): number {
  const here =
    plan['Relation Name'] === undefined
      ? 0
      : (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'];
  return (plan.Plans ?? []).reduce((sum, one) => sum + rowsRead(one), here);
}

type Select = typeof selectRefundDifferences;

async function countRead(select: Select, compared: ComparedSince): Promise<number> {
  let read = 0;
  const sql: Sql = {
    ...database.db,
    query: async (text, values) => {
      const explain = `explain (analyze, format json) ${text}`;
      const rows = await database.db.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(explain, values);
      read += rowsRead(only(rows, 'plan')['QUERY PLAN'][0].Plan);
      return [];
    },
  };
  await select(sql, compared, NOW);
  return read;
}

async function find(select: Select, compared: ComparedSince): Promise<string[]> {
  const rows = await select(database.db, compared, NOW);
  return rows.map(({ kind, subject }) => `${kind} ${subject}`);
}

for (const [name, select] of [
  ['refund', selectRefundDifferences],
  ['withdrawal', selectWithdrawalDifferences],
] as const) {
  test(`a ${name} that was compared long ago is not read again`, async () => {
    const read = await countRead(select, LATELY);
    assert(read >= NEW_BLOCKS && read <= MOST_READ, `${read} rows read`);
    assert((await countRead(select, EVER)) >= OLD, 'unless everything is compared');
  });
}

const LATE = `updated = '2026-11-22T11:30:00Z'`;
const OPEN = 'insert into reconciliation_differences (livemode, kind, subject, details, first_seen';

test('a change of old refunds is found', async () => {
  const { db } = database;
  await db.query(`update refunds set amount = 6, ${LATE} where id = 're_40'`);
  await db.query(`update refunds set tx_hash = '0xother', ${LATE} where id = 're_50'`);
  await db.query(
    `insert into chain_transfers (livemode, tx_hash, log_index, kind, number, merchant_number,
       recipient, amount, block_number, block_time)
     values (false, '0xsecond', 0, 'refund', 60, 1, '0xa', 1, $1, $2)`,
    [OLD, LATELY.since],
  );
  await db.query(
    `${OPEN}, last_seen) values
       (false, 'refund_differs', 're_70', '{}', now(), now()),
       (false, 'refund_unknown_here', '80/0x', '{"chain": {"number": 80}}', now(), now())`,
  );
  await db.query(`update refunds set amount = 6 where id = 're_70'`);
  await db.query(`update refunds set status = 'pending' where id = 're_80'`);
  const expected = [
    `refund_unknown_here 50/0xre${'50'.padStart(60, '0')}`,
    'refund_unknown_here 60/0xsecond',
    `refund_unknown_here 80/0xre${'80'.padStart(60, '0')}`,
    'refund_differs re_40',
    'refund_missing_on_chain re_50',
    'refund_differs re_70',
  ];
  assert.deepEqual(await find(selectRefundDifferences, LATELY), expected);
  assert.deepEqual(await find(selectRefundDifferences, EVER), expected);
});

test('a change of old withdrawals is found', async () => {
  const { db } = database;
  await db.query(`update withdrawals set wallet = '0xB', ${LATE} where id = 'wdr_40'`);
  await db.query(`update withdrawals set ${LATE} where id = 'wdr_50'`);
  await db.query(`update chain_requests set number = 9050 where subject_id = 'wdr_50'`);
  await db.query(
    `insert into chain_transfers (livemode, tx_hash, log_index, kind, number, merchant_number,
       recipient, amount, block_number, block_time)
     values (false, '0xnew', 0, 'withdrawal', 9060, 1, '0xa', 1, $1, $2),
       (false, '0xown', 0, 'withdrawal', 0, 1, '0xa', 1, $1, $2)`,
    [OLD, LATELY.since],
  );
  await db.query(
    `${OPEN}, last_seen) values
       (false, 'withdrawal_unknown_here', '50', '{"chain": {"number": 50}}', now(), now()),
       (false, 'withdrawal_differs', 'wdr_70', '{}', now(), now())`,
  );
  await db.query(`update withdrawals set amount = 8 where id = 'wdr_70'`);
  const expected = [
    'withdrawal_unknown_here 50',
    'withdrawal_unknown_here 9060',
    'withdrawal_differs wdr_40',
    'withdrawal_missing_on_chain wdr_50',
    'withdrawal_differs wdr_70',
  ];
  assert.deepEqual(await find(selectWithdrawalDifferences, LATELY), expected);
  assert.deepEqual(await find(selectWithdrawalDifferences, EVER), expected);
});

test('a refund that a reorganization moved to an earlier block is stored only once', async () => {
  const { db } = database;
  const tx_hash = `0xmoved${'0'.repeat(57)}`;
  const told = {
    tx_hash,
    log_index: 0,
    kind: 'refund',
    number: '1',
    merchant_number: '1',
  } as const;
  const rest = { recipient: '0xa', amount: '5', block_time: NOW.toISOString(), reference: null };
  const read = (fromBlock: bigint, toBlock: bigint, blocks: readonly bigint[]) => {
    const rows = blocks.map((block) => ({ ...told, ...rest, block_number: `${block}` }));
    const range = { livemode: false, fromBlock, toBlock };
    return db.transaction((tx) => replaceTransfers(tx, range, rows));
  };
  await read(9_001n, 9_010n, [9_001n]);
  // The node returns logs of at most ten blocks, so the logs of earlier blocks are read in earlier
  // requests.
  await read(8_991n, 9_000n, [9_000n]);
  await read(9_001n, 9_010n, []);
  const kept = await db.query('select block_number from chain_transfers where tx_hash = $1', [
    tx_hash,
  ]);
  assert.deepEqual(kept, [{ block_number: 9_000n }]);
});
