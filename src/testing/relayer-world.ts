import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateKeyAccount } from 'viem/accounts';
import { type Clock, systemClock } from '#core/clock.ts';
import type { Failpoint } from '#core/failpoints.ts';
import { newId } from '#core/ids.ts';
import type { Database } from '#db/database.ts';
import { connectWakeups, type Wakeups } from '#db/wakeups.ts';
import { type Log, silentLog } from '#observability/log.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import {
  type NewRequest,
  type OtherKind,
  requestOnChain,
  requestPayments,
} from '#settlement/chain-requests.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import { type Relayer, startRelayer } from '#settlement/relayer/relayer.ts';
import { createSettlementNumbers } from '#settlement/settlement-numbers.ts';
import { type TestDatabase, testDatabase } from '#testing/database.ts';
import {
  type ContractTerms,
  type Overrides,
  type StartNode,
  startTestNetwork,
  type TestMerchant,
  type TestNetwork,
} from '#testing/test-network.ts';

type Keys = Pick<NetworkConfig, 'relayerKeys' | 'registrarKey' | 'sponsorKey'>;

/** A database, a chain and a merchant. Tests start the relayers. */
export interface RelayerWorld {
  readonly network: TestNetwork;
  readonly database: TestDatabase;
  readonly merchant: TestMerchant;
  readonly wakeups: Wakeups;
  /** What reconciliation and the other use cases of settlement need. */
  readonly deps: {
    readonly chain: Chain;
    readonly db: Database;
    readonly clock: Clock;
    readonly log: Log;
  };
  /** Error lines that relayers in this process logged. */
  readonly complaints: string[];
  /** Starts a relayer with the network's keys, or with only these. */
  startRelayer(keys?: Partial<Keys>): Relayer;
  /**
   * Starts a relayer in a process of its own, which the test can kill. Given a failpoint, the
   * process kills itself there.
   */
  spawnRelayer(failpoint?: Failpoint, keys?: Partial<Keys>): RelayerProcess;
  pay(payment: TestPayment): Promise<string>;
  payMany(payments: readonly TestPayment[]): Promise<string[]>;
  ask<K extends OtherKind>(request: AskedFor<K>): Promise<string>;
  outcome(subjectId: string): Promise<TestOutcome | null>;
  /**
   * Waits until each job has a result.
   * @throws after `timeoutMs`
   */
  outcomes(subjectIds: readonly string[], timeoutMs?: number): Promise<TestOutcome[]>;
  /**
   * Mines blocks one by one, with pauses before and after each, until `done` returns true.
   * @throws after {@link MINING_MS}
   */
  mineUntil(done: () => Promise<boolean>): Promise<void>;
  /** Mines blocks until {@link countRows} returns this number. */
  mineUntilRows(count: number, from: string): Promise<void>;
  /** Mines blocks until each job has a result. */
  mineOutcomes(subjectIds: readonly string[]): Promise<TestOutcome[]>;
  /**
   * Inserts the row of a settled payment, as the payments domain does.
   * @returns the payment's id
   */
  recordPayment(subjectId: string): Promise<string>;
  count(sql: string): Promise<number>;
  /** Returns the number of rows of a table, or of those that a `where` after its name selects. */
  countRows(from: string): Promise<number>;
  /** Returns the merchant's balance on the contract. */
  balance(): Promise<bigint>;
  stop(): Promise<void>;
}

type AskedFor<K extends OtherKind> = Pick<NewRequest<K>, 'kind' | 'payload'> & {
  readonly subjectId?: string;
};

interface TestPayment {
  readonly payer: PrivateKeyAccount;
  readonly amount?: bigint;
  readonly orderId?: string;
  /** The intent's id; default: the id of a new intent. */
  readonly subjectId?: string;
  readonly settleWithinS?: number;
}

interface TestOutcome {
  readonly succeeded: boolean;
  readonly reason?: string;
  readonly facts?: { readonly txHash: string; readonly [name: string]: unknown };
}

/** Asserts that all jobs succeeded. A failure shows the results of the others. */
export function assertSucceeded(outcomes: readonly TestOutcome[]): void {
  assert.deepEqual(
    outcomes.filter(({ succeeded }) => !succeeded),
    [],
  );
}

interface RelayerProcess {
  readonly pid: number;
  kill(): void;
  /** Resolves when the process has ended. */
  readonly ended: Promise<unknown>;
}

/**
 * Duration of a lease. It is short, so that another worker soon takes over from one that was
 * killed.
 */
export const TEST_LEASE_MS = 600;
const WAIT_MS = 15_000;
const LOOK_MS = 10;
/** Long, because a busy machine may mine faster than its relayer can follow. */
const MINING_MS = 60_000;
/** The pause before and after each mined block. */
const MINING_PAUSE_MS = 30;
/** Tables to empty, ordered so that foreign keys allow it. */
const CHAIN_TABLES = [
  'chain_alarms',
  'chain_payments',
  'chain_batches',
  'chain_requests',
  'chain_attempts',
  'chain_unsigned',
  'chain_transactions',
  'relayer_workers',
  'relayer_senders',
  'settlement_numbers',
  'payments',
  'payment_intents',
];
const PROGRAM = path.join(import.meta.dirname, 'relayer-process.ts');

export async function startRelayerWorld(
  overrides?: Overrides,
  shared?: TestDatabase,
  startNode?: StartNode,
  terms?: ContractTerms,
): Promise<RelayerWorld> {
  const emptied = shared === undefined ? testDatabase(12) : emptyChainTables(shared);
  const starting = startTestNetwork(overrides, startNode, terms);
  const [network, database] = await Promise.all([starting, emptied]);
  const { livemode } = network.config;
  const merchant = await network.addMerchant();
  const wakeups = await connectWakeups(database.db);
  const complaints: string[] = [];
  const log: Log = { ...silentLog, error: (message) => complaints.push(message) };
  const relayers: Relayer[] = [];
  const children: RelayerProcess[] = [];
  const payMany = createPayer({ database, network, merchant, wakeups });
  return {
    network,
    database,
    merchant,
    wakeups,
    deps: { chain: network.chain, db: database.db, clock: systemClock, log: silentLog },
    complaints,
    startRelayer: (keys = {}) => {
      const chain = { ...network.chain, config: { ...network.config, ...keys } };
      const deps = { chain, db: database.db, wakeups, clock: systemClock, log };
      const relayer = startRelayer({ ...deps, leaseMs: TEST_LEASE_MS });
      relayers.push(relayer);
      return relayer;
    },
    spawnRelayer: (failpoint, keys = {}) => {
      const child = spawnRelayer({ ...network.config, ...keys }, database.url, failpoint);
      children.push(child);
      return child;
    },
    payMany,
    pay: async (payment) => (await payMany([payment]))[0] ?? '',
    ask: async ({ subjectId = `subject_${randomBytes(6).toString('hex')}`, ...request }) => {
      const own = ownNumber(request.kind);
      const asked = { ...request, ...own, subjectId, livemode, now: new Date() };
      await database.db.transaction((tx) => requestOnChain(tx, asked));
      wakeups.send('chain-requests', network.config.network);
      return subjectId;
    },
    ...readings(network, database),
    recordPayment: (subjectId) => recordPayment(database, subjectId),
    balance: () => network.merchantBalance(merchant.merchantNumber),
    stop: async () => {
      for (const child of children) child.kill();
      await Promise.all([...relayers.map((one) => one.stop()), ...children.map((c) => c.ended)]);
      await wakeups.close();
      await network.stop();
      if (shared === undefined) await database.close();
    },
  };
}

type Readings =
  | 'outcome'
  | 'outcomes'
  | 'mineUntil'
  | 'mineUntilRows'
  | 'mineOutcomes'
  | 'count'
  | 'countRows';

function readings(network: TestNetwork, database: TestDatabase): Pick<RelayerWorld, Readings> {
  const outcomesOf = (ids: readonly string[]) => readOutcomes(database, ids);
  const count = async (sql: string) =>
    Number((await database.db.query<{ count: bigint }>(sql))[0]?.count ?? 0n);
  const countRows = (from: string) => count(`select count(*) from ${from}`);
  return {
    outcome: async (id) => (await outcomesOf([id])).get(id) ?? null,
    outcomes: (ids, timeoutMs = WAIT_MS) => waitForOutcomes(outcomesOf, ids, timeoutMs),
    mineUntil: (done) => mineUntil(network, done),
    mineUntilRows: (expected, from) =>
      mineUntil(network, async () => (await countRows(from)) === expected),
    mineOutcomes: async (ids) => {
      let found: TestOutcome[] = [];
      await mineUntil(network, async () => {
        found = await foundOutcomes(outcomesOf, ids);
        return found.length === ids.length;
      });
      return found;
    },
    count,
    countRows,
  };
}

function toRequest(
  wanted: { readonly merchant: TestMerchant; readonly livemode: boolean },
  payment: TestPayment,
) {
  const { merchant, livemode } = wanted;
  const { payer, amount = 1_000_000n, orderId, subjectId } = payment;
  return {
    livemode,
    settleWithinS: payment.settleWithinS ?? 60,
    subjectId: subjectId ?? newId('paymentIntent', new Date()),
    payload: {
      merchantNumber: merchant.merchantNumber.toString(),
      payer: payer.address,
      amount: amount.toString(),
      orderId: orderId ?? randomBytes(4).toString('hex'),
    },
  };
}

/** Returns a function that creates payment jobs for the relayer. */
function createPayer(world: Pick<RelayerWorld, 'database' | 'network' | 'merchant' | 'wakeups'>) {
  const { database, network, merchant, wakeups } = world;
  const { livemode } = network.config;
  const number = numberer(database, livemode);
  return async (payments: readonly TestPayment[]) => {
    const asked = payments.map((payment) => toRequest({ merchant, livemode }, payment));
    const requests = await number(asked);
    await database.db.transaction((tx) => requestPayments(tx, requests, new Date()));
    wakeups.send('chain-requests', network.config.network);
    return requests.map((request) => request.subjectId);
  };
}

function ownNumber(kind: string) {
  return kind === 'withdrawal' ? { number: BigInt(randomInt(1, 2 ** 40)) } : {};
}

/**
 * Returns a function that assigns settlement numbers. All jobs for one payment get the same number,
 * as all jobs of an intent do.
 */
function numberer(database: TestDatabase, livemode: boolean) {
  const numbers = createSettlementNumbers(database.db);
  const known = new Map<string, bigint | null>();
  return async <R extends { readonly subjectId: string }>(requests: readonly R[]) => {
    const drawn = await numbers.take(requests.map(() => livemode));
    return requests.map((request, index) => {
      const number = known.get(request.subjectId) ?? drawn[index]?.number ?? null;
      known.set(request.subjectId, number);
      return { ...request, number };
    });
  };
}

/**
 * Empties the tables of a database that was used with another chain. This is faster than creating a
 * database.
 */
async function emptyChainTables(database: TestDatabase): Promise<TestDatabase> {
  for (const table of CHAIN_TABLES) await database.db.query(`delete from ${table}`);
  return database;
}

function spawnRelayer(
  config: NetworkConfig,
  databaseUrl: string,
  failpoint: Failpoint | undefined,
): RelayerProcess {
  const plain = (_key: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value);
  const child = spawn(process.execPath, [PROGRAM], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      TAPLINE_FAILPOINT: failpoint ?? '',
      RELAYER_CONFIG: JSON.stringify(config, plain),
      RELAYER_DATABASE: databaseUrl,
    },
  });
  const ended = once(child, 'exit');
  return { pid: child.pid ?? 0, kill: () => child.kill('SIGKILL'), ended };
}

async function recordPayment(database: TestDatabase, subjectId: string): Promise<string> {
  const paymentId = newId('payment', new Date());
  await database.db.query(
    `with settled as (
       select p.*, r.subject_id from chain_payments p
       join chain_requests r on r.kind = 'payment' and r.number = p.number
       where r.subject_id = $1 and r.status = 'succeeded'
     ), intent as (
       insert into payment_intents (id, account_id, livemode, position, created, amount,
         terminal_id, order_id, metadata, source, expires_at, status, attempt, payment_id, tx_hash,
         settlement_number)
       select subject_id, 'acct_test', livemode, number, now(), amount, 'tml_test', order_id, '{}',
         'api', now(), 'succeeded', '{}', $2, tx_hash, number
       from settled
     )
     insert into payments (id, account_id, livemode, position, created, payment_intent_id,
       terminal_id, payer_id, payer_address, order_id, method_type, credential_type, amount,
       fee_acquirer, fee_protocol, fee_cashback, chain_id, settlement_number, batch_number,
       tx_hash, block_number, log_index, settled_at, refundable_until)
     select $2, 'acct_test', livemode, number, now(), subject_id, 'tml_test', 'pyr_test', payer,
       order_id, 'wallet_pass', 'nfc_id', amount, fee_acquirer, fee_protocol, cashback, 31400,
       number, batch_number, tx_hash, block_number, log_index, block_time, now()
     from settled`,
    [subjectId, paymentId],
  );
  return paymentId;
}

async function readOutcomes(
  database: TestDatabase,
  ids: readonly string[],
): Promise<Map<string, TestOutcome>> {
  const rows = await database.db.query<{ subject_id: string; outcome: TestOutcome }>(
    `select subject_id, outcome from chain_requests
     where subject_id = any($1) and outcome is not null order by id`,
    [ids],
  );
  return new Map(rows.map((row) => [row.subject_id, row.outcome]));
}

type ReadOutcomes = (ids: readonly string[]) => Promise<Map<string, TestOutcome>>;

/** Returns the results that exist already, in the order of the jobs. */
async function foundOutcomes(read: ReadOutcomes, ids: readonly string[]): Promise<TestOutcome[]> {
  const found = await read(ids);
  return ids.flatMap((id) => found.get(id) ?? []);
}

async function waitForOutcomes(
  read: ReadOutcomes,
  ids: readonly string[],
  timeoutMs: number,
): Promise<TestOutcome[]> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const all = await foundOutcomes(read, ids);
    if (all.length === ids.length) return all;
    if (performance.now() > deadline) {
      throw new Error(`only ${all.length} of ${ids.length} results arrived in ${timeoutMs} ms`);
    }
    await sleep(LOOK_MS);
  }
}

async function mineUntil(network: TestNetwork, done: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + MINING_MS; performance.now() < end; ) {
    if (await done()) return;
    await sleep(MINING_PAUSE_MS);
    await network.mine();
    await sleep(MINING_PAUSE_MS);
  }
  throw new Error('never came true');
}
