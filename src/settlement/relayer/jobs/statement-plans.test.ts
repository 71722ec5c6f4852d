import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import type { Tx } from '#db/database.ts';
import { SESSION_SETTINGS } from '#db/session-settings.ts';
import { selectPayerActivities } from '#risk/risk-queries.ts';
import {
  lockQueued,
  requeue,
  selectPerhapsDead,
  writeOutcomes,
} from '#settlement/relayer/jobs/job-queries.ts';
import {
  insertTransactions,
  markMined,
  type NewTransaction,
} from '#settlement/relayer/jobs/transaction-queries.ts';
import type { OpenRequest } from '#settlement/relayer/state-machine/transaction.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';

/**
 * A connection keeps a plan until the tables are analyzed again. A plan made while there are few
 * payments must therefore not read all payments when there are many.
 */
let database: TestDatabase;
/**
 * A client that sends statements without values, so that `explain` shows the plan for all values.
 */
let client: pg.Client;
before(async () => {
  database = await testDatabase();
  client = await database.db.connect();
  for (const [name, value] of Object.entries(SESSION_SETTINGS)) {
    await client.query('select set_config($1, $2, false)', [name, value]);
  }
});
after(async () => {
  await client.end();
  await database.close();
});

interface Plan {
  readonly 'Index Name'?: string;
  readonly Plans?: readonly Plan[];
}

function indexesOf(plan: Plan): string[] {
  return [plan['Index Name'] ?? [], (plan.Plans ?? []).flatMap(indexesOf)].flat();
}

type Work = (tx: Tx) => Promise<unknown>;

/** Tables that grow with every payment. */
const GROWING = /^(chain_requests|chain_transactions|payments|payment_intents)_/;

/** Returns the indexes that a statement's current plan uses to read growing tables. */
async function indexes(work: Work): Promise<string[]> {
  const results = new Set<string>();
  await database.db.transaction((tx) =>
    work({
      ...tx,
      query: async (text) => {
        const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
          `explain (generic_plan, format json) ${text}`,
        );
        for (const row of rows) {
          for (const index of indexesOf(row['QUERY PLAN'][0].Plan)) results.add(index);
        }
        return [];
      },
    }),
  );
  return [...results].filter((index) => GROWING.test(index)).sort();
}

const NOW = new Date('2026-11-22T12:00:00Z');
const REQUEST = { requestId: 1n, transactionId: 1n };
const MINED = {
  id: 1n,
  tx_hash: '0x1',
  block_number: 1n,
  block_hash: '0x1',
  gas_used: 1n,
} as const;
const FEES = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n };
const JOB: OpenRequest = {
  ...{ id: 1n, kind: 'payment', subjectId: 'pi_1', number: 1n, payload: {}, tries: 0 },
  ...{ created: NOW, owed: false, deadline: null, settleWithinS: null },
};
const SIGNED: NewTransaction = {
  ...{ nonce: 1n, kind: 'payment', target: '0x1', input: '0x00', gasLimit: 1n },
  attempts: [{ hash: '0x1', raw: '0x00', cancels: false, fees: FEES }],
  ...{ wanted: null, requests: [JOB], validUntil: NOW, signedAtMs: null },
};
const PAYER = {
  ...{ payerId: 'pyr_1', address: '0x1', tenant: { accountId: 'acct_1', livemode: false } },
  ...{ exceptIntentId: 'pi_1', day: NOW, hour: NOW },
};

/**
 * The indexes that each statement may use: a whole key, an index of open rows, or an index of one
 * payer's rows.
 */
const STATEMENTS: readonly (readonly [name: string, work: Work, by: readonly string[]])[] = [
  [
    'the outcomes of requests',
    (tx) => writeOutcomes(tx, [{ ...REQUEST, result: { succeeded: true } }]),
    ['chain_requests_pkey'],
  ],
  ['a mined transaction', (tx) => markMined(tx, [MINED]), ['chain_transactions_pkey']],
  [
    'requests that go back to the queue',
    (tx) => requeue(tx, [REQUEST]),
    ['chain_requests_pkey', 'chain_requests_transaction', 'chain_transactions_pkey'],
  ],
  ['requests that are sent alone', (tx) => lockQueued(tx, [1n]), ['chain_requests_pkey']],
  [
    'signed transactions',
    (tx) => insertTransactions(tx, { livemode: false, sender: 0, nextNonce: 2n }, [SIGNED], NOW),
    ['chain_requests_pkey'],
  ],
  [
    'payments that can settle no more',
    (tx) => selectPerhapsDead(tx, { livemode: false, time: NOW, limit: 9 }),
    ['chain_requests_single', 'chain_requests_transaction', 'chain_transactions_under_way'],
  ],
  [
    'what a payer has paid',
    (tx) => selectPayerActivities(tx, [PAYER]),
    ['payment_intents_under_way', 'payments_payer', 'payments_payer_here'],
  ],
];

async function checkAll(known: string): Promise<void> {
  for (const [name, work, allowed] of STATEMENTS) {
    const others = (await indexes(work)).filter((index) => !allowed.includes(index));
    assert.deepEqual(others, [], `${name}: ${known}`);
  }
}

const ids = (prefix: string, n = 'n') => `'${prefix}_' || lpad((${n})::text, 22, '0')`;
const HASH = `'0x' || lpad(to_hex(n / 100), 64, '0')`;

/** Fills the tables for one account, with a hundred payments per transaction. */
const FILL = [
  `insert into payment_intents (id, account_id, livemode, position, created, amount, terminal_id,
     order_id, metadata, source, expires_at, status, attempt, payment_id, tx_hash)
   select ${ids('pi')}, ${ids('acct', '1')}, false, n, now(), 1, ${ids('term', '1')}, n, '{}',
     'api', now(), 'succeeded', '{"payerId": "pyr_2"}', ${ids('pay')}, ${HASH}
   from generate_series($1::int, $2::int) n`,
  `insert into payments (id, account_id, livemode, position, created, payment_intent_id,
     terminal_id, payer_id, payer_address, order_id, method_type, credential_type, amount,
     fee_acquirer, fee_protocol, fee_cashback, chain_id, settlement_number, batch_number,
     tx_hash, block_number, log_index, settled_at, refundable_until)
   select ${ids('pay')}, ${ids('acct', '1')}, false, n, now(), ${ids('pi')}, ${ids('term', '1')},
     ${ids('pyr', 'n % 300')}, '0x', n, 'wallet_pass', 'nfc_id', 1, 0, 0, 0, 1, n, n / 100,
     ${HASH}, n / 100, 0, now(), now()
   from generate_series($1::int, $2::int) n`,
  `insert into chain_requests
     (livemode, kind, subject_id, number, payload, status, outcome, created, applied_at)
   select false, 'payment', ${ids('pi')}, n, '{}', 'succeeded', '{}', now(), now()
   from generate_series($1::int, $2::int) n`,
];

async function addPayments(from: number, to: number): Promise<void> {
  for (const statement of FILL) await database.db.query(statement, [from, to]);
}

test('no statement of a payment reads all past payments, whatever the planner knows', async () => {
  await checkAll('nothing');
  for (let count = 0; count < 600; count += 40) {
    await addPayments(count + 1, count + 40);
    await checkAll(`nothing, and there are ${count + 40}`);
  }
  await database.db.query('analyze');
  await checkAll('all');
  await addPayments(601, 2_000);
  await checkAll('a part');
  await database.db.query('analyze');
  await checkAll('all again');
});
