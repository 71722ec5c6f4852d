import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateKeyAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { startLoop } from '#core/background-loop.ts';
import { base62 } from '#core/base62.ts';
import { systemClock } from '#core/clock.ts';
import { newId } from '#core/ids.ts';
import { createBatcher } from '#db/batching.ts';
import { localWakeups, type Wakeups } from '#db/wakeups.ts';
import { describeError, type Log, silentLog } from '#observability/log.ts';
import { applySettlements } from '#payments/apply-settlements.ts';
import { type Hex, requestPayments } from '#settlement/chain-requests.ts';
import { settleCall } from '#settlement/contract/contract-calls.ts';
import { startRelayer } from '#settlement/relayer/relayer.ts';
import { FULL_BATCH_GAS } from '#settlement/relayer/send/gas-limits.ts';
import { signerOf } from '#settlement/remote-signer.ts';
import { createSettlementNumbers } from '#settlement/settlement-numbers.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';
import { TEST_RECEIPTS } from '#testkit/fixtures/payments/store.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';
import { type BenchLine, percentile, report } from './report.ts';

/**
 * Measures payments per second from the commit of the tap to the succeeded intent with its payment
 * and events, the gas per payment, and the time that the service adds to the wait for a block. For
 * comparison, also settles on the same chain as an x402-style facilitator would: one payment per
 * transaction, each after the previous receipt. The chain (1-second blocks), PostgreSQL, the
 * relayer and the load generator share the machine.
 */
const RATE = Number(process.env.BENCH_RATE ?? 400);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 10);
const BACKLOG = Number(process.env.BENCH_BACKLOG ?? 6_000);
const PAYERS = 200;
const BLOCK_MS = 1_000;
const LONE_SECONDS = 8;
/** Interval at which taps are submitted. */
const TICK_MS = 5;
const TIMEOUT_MS = 120_000;

interface Bench {
  readonly network: TestNetwork;
  readonly database: TestDatabase;
  readonly wakeups: Wakeups;
  readonly payers: readonly PrivateKeyAccount[];
  readonly merchantNumber: bigint;
  /** Time at which each intent succeeded, by id (`performance.now`). */
  readonly succeededAt: Map<string, number>;
  /** Time at which each block arrived (`performance.now`), oldest first. */
  readonly blocks: { readonly number: bigint; readonly at: number }[];
  tap(): { readonly id: string; readonly at: number };
}

const complaints: Log = {
  ...silentLog,
  error: (message, fields) => console.error(message, fields),
};

/**
 * Creates taps as the terminal's route would leave them: intents in `processing`, with their jobs.
 */
function createTaps(bench: Omit<Bench, 'tap'>): Bench['tap'] {
  const { database, wakeups, payers, merchantNumber } = bench;
  let count = 0;
  const numbers = createSettlementNumbers(database.db);
  const batcher = createBatcher<{ id: string; payer: PrivateKeyAccount; orderId: string }, null>({
    maxInFlight: 3,
    maxItems: 32,
    run: async (taps) => {
      const drawn = await numbers.take(taps.map(() => false));
      await database.db.transaction(async (tx) => {
        const rows = taps.map((tap) => ({
          id: tap.id,
          order_id: tap.orderId,
          attempt: {
            payerId: 'pyr_bench',
            payerAddress: tap.payer.address,
            credential: { type: 'nfc_id', passId: 'pass_bench' },
            reasonCode: null,
          },
        }));
        await tx.query(
          `insert into payment_intents (id, account_id, livemode, position, created, amount,
             terminal_id, order_id, metadata, source, expires_at, status, attempt)
           select id, 'acct_bench', false, 0, now(), 2500000, 'tml_bench', order_id, '{}', 'api',
             now() + interval '2 minutes', 'processing', attempt
           from jsonb_to_recordset($1::jsonb) as t (id text, order_id text, attempt jsonb)`,
          [JSON.stringify(rows)],
        );
        const requests = taps.map((tap, index) => ({
          livemode: false,
          number: drawn[index]?.number ?? null,
          // Long enough for the whole backlog to be settled.
          settleWithinS: TIMEOUT_MS / 1_000,
          subjectId: tap.id,
          payload: {
            merchantNumber: merchantNumber.toString(),
            payer: tap.payer.address,
            amount: '2500000',
            orderId: tap.orderId,
          },
        }));
        await requestPayments(tx, requests, new Date());
      });
      wakeups.send('chain-requests', 'testnet');
      return taps.map(() => null);
    },
  });
  return () => {
    const id = newId('paymentIntent', new Date());
    const payer = present(payers[count % payers.length], 'payer');
    const orderId = base62(BigInt(count++), 8);
    batcher.add({ id, payer, orderId }).catch((error) => console.error(describeError(error)));
    return { id, at: performance.now() };
  };
}

async function openBench(): Promise<{ bench: Bench; close(): Promise<void> }> {
  const [network, database] = await Promise.all([startTestNetwork(), testDatabase(12)]);
  const { merchantNumber, wallet } = await network.addMerchant();
  const payers = await network.addPayers(PAYERS);
  await database.db.query(
    `insert into accounts (id, name, created) values ('acct_bench', 'Bench', now())`,
  );
  await database.db.query(
    `insert into account_modes (account_id, livemode, merchant_number, settlement_wallet, live_at)
     values ('acct_bench', false, $1, $2, now())`,
    [merchantNumber, wallet.address],
  );
  const succeededAt = new Map<string, number>();
  const local = localWakeups();
  const wakeups: Wakeups = {
    ...local,
    send: (topic, key) => {
      if (topic === 'intent' && key !== undefined) succeededAt.set(key, performance.now());
      local.send(topic, key);
    },
  };
  const blocks: Bench['blocks'] = [];
  const mining = setInterval(() => {
    const mined = network.mine().then(async () => {
      const at = performance.now();
      blocks.push({ number: BigInt((await network.rpc.call('eth_blockNumber', [])) as Hex), at });
    });
    mined.catch((error) => console.error(describeError(error)));
  }, BLOCK_MS);
  const { chain } = network;
  const deps = { db: database.db, wakeups, clock: systemClock, log: complaints };
  const relayer = startRelayer({ ...deps, chain });
  const onError = (name: string, error: unknown) => console.error(name, describeError(error));
  const run = () => applySettlements({ ...deps, pages: TEST_RECEIPTS });
  const applying = startLoop({ name: 'outcomes', pollMs: 500, run, onError });
  wakeups.on('chain-outcomes', 'payment', applying.wake);
  const rest = { network, database, wakeups, payers, merchantNumber, succeededAt, blocks };
  return {
    bench: { ...rest, tap: createTaps(rest) },
    close: async () => {
      clearInterval(mining);
      await relayer.stop();
      await applying.stop();
      await network.stop();
      await database.close();
    },
  };
}

type Tap = ReturnType<Bench['tap']>;

async function settled(bench: Bench, taps: readonly Tap[]): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  while (!taps.every((tap) => bench.succeededAt.has(tap.id))) {
    if (performance.now() > deadline) throw new Error('payments did not settle');
    await sleep(20);
  }
}

/** Submits taps at a steady rate, whether or not the service keeps up. */
async function steady(bench: Bench, rate: number, seconds: number): Promise<Tap[]> {
  const taps: Tap[] = [];
  const started = performance.now();
  for (;;) {
    const elapsed = performance.now() - started;
    const due = Math.min(rate * seconds, Math.floor((elapsed / 1000) * rate));
    while (taps.length < due) taps.push(bench.tap());
    if (taps.length >= rate * seconds) break;
    await sleep(TICK_MS);
  }
  await settled(bench, taps);
  return taps;
}

/**
 * Measures how long taps wait. The chain causes the time until the next block, the service the
 * rest.
 */
async function latencies(bench: Bench, taps: readonly Tap[]) {
  const rows = await bench.database.db.query<{ subject_id: string; block: bigint }>(
    `select subject_id, (outcome -> 'facts' ->> 'blockNumber')::bigint as block
     from chain_requests where subject_id = any($1)`,
    [taps.map((tap) => tap.id)],
  );
  const blockOf = new Map(rows.map((row) => [row.subject_id, row.block]));
  const total: number[] = [];
  const added: number[] = [];
  let inFirst = 0;
  for (const tap of taps) {
    const done = present(bench.succeededAt.get(tap.id), 'succeeded intent');
    const first = bench.blocks.find((block) => block.at > tap.at);
    total.push(done - tap.at);
    added.push(done - Math.min(first?.at ?? done, done));
    if (first !== undefined && (blockOf.get(tap.id) ?? 0n) <= first.number) inFirst++;
  }
  return { total, added, inFirst: inFirst / taps.length };
}

function perSecond(bench: Bench, taps: readonly Tap[]): number {
  const first = Math.min(...taps.map((tap) => tap.at));
  const last = Math.max(...taps.map((tap) => bench.succeededAt.get(tap.id) ?? 0));
  return (taps.length / (last - first)) * 1000;
}

/** Returns the gas per payment of these intents, by batch size. */
async function gasOf(bench: Bench, taps: readonly Tap[]) {
  const rows = await bench.database.db.query<{ tx_hash: Hex; count: number }>(
    `select t.tx_hash, count(*)::int as count from chain_requests r
     join chain_transactions t on t.id = r.transaction_id
     where r.subject_id = any($1) group by t.tx_hash`,
    [taps.map((tap) => tap.id)],
  );
  const receipts = await bench.network.chain.receipts(rows.map((row) => row.tx_hash));
  const gas = receipts.reduce((sum, receipt) => sum + Number(receipt?.gasUsed ?? 0n), 0);
  const largest = Math.max(...rows.map((row) => row.count));
  const mean = taps.length / rows.length;
  const each = Math.round(gas / taps.length);
  return `${each} gas per payment in batches of ${mean.toFixed(0)} (up to ${largest})`;
}

/** Sends one payment per transaction, each after the receipt of the previous one. */
async function oneByOne(bench: Bench): Promise<{ perSecond: number; gas: number }> {
  const { network, payers, merchantNumber } = bench;
  const { config, chain, rpc } = network;
  const account = signerOf(present(config.relayerKeys[0], 'relayer key'));
  const started = performance.now();
  let count = 0;
  let gas = 0n;
  let nonce = Number((await chain.nonces([account.address]))[0] ?? 0n);
  while (performance.now() - started < LONE_SECONDS * 1000) {
    const payment = {
      number: 10_000_000n + BigInt(count),
      payer: present(payers[count % payers.length], 'payer').address,
      merchantNumber,
      amount: 2_500_000n,
      orderId: `X${count}`,
    };
    const raw = await account.signTransaction({
      type: 'eip1559',
      chainId: config.chainId,
      nonce: nonce++,
      to: config.settlement,
      data: settleCall([payment], Math.floor(Date.now() / 1000) + 600),
      gas: FULL_BATCH_GAS,
      maxFeePerGas: 20_000_000_000n,
      maxPriorityFeePerGas: 1_000_000n,
    });
    const hash = (await rpc.call('eth_sendRawTransaction', [raw])) as Hex;
    for (;;) {
      const [receipt] = await chain.receipts([hash]);
      if (receipt !== null && receipt !== undefined) {
        gas += receipt.gasUsed;
        break;
      }
      await sleep(20);
    }
    count++;
  }
  return {
    perSecond: count / ((performance.now() - started) / 1000),
    gas: Number(gas) / count,
  };
}

async function added(work: string, bench: Bench, taps: readonly Tap[]): Promise<BenchLine> {
  const measured = await latencies(bench, taps);
  return {
    work,
    perSecond: perSecond(bench, taps),
    p50Ms: percentile(measured.added, 0.5),
    p99Ms: percentile(measured.added, 0.99),
    value: `${(measured.inFirst * 100).toFixed(1)} % in the first block`,
  };
}

async function loneFloor(): Promise<BenchLine> {
  const lone = await openBench();
  const single = await oneByOne(lone.bench);
  await lone.close();
  return {
    work: 'one payment per transaction, its receipt, the next (one sender)',
    perSecond: single.perSecond,
    value: `${Math.round(single.gas)} gas per payment`,
  };
}

async function main(): Promise<void> {
  const { bench, close } = await openBench();
  await steady(bench, 20, 2);
  const calm = await steady(bench, 20, 6);
  const busy = await steady(bench, RATE, SECONDS);
  const backlog = Array.from({ length: BACKLOG }, () => bench.tap());
  await settled(bench, backlog);
  const lines: BenchLine[] = [
    await added('settling beside the wait for the block, 20 taps/s', bench, calm),
    await added(`settling beside the wait for the block, ${RATE} taps/s`, bench, busy),
    { work: 'gas, 20 taps/s', value: await gasOf(bench, calm) },
    { work: `gas, ${RATE} taps/s`, value: await gasOf(bench, busy) },
    { work: `settling ${BACKLOG} taps at once`, perSecond: perSecond(bench, backlog) },
    { work: `gas, ${BACKLOG} at once`, value: await gasOf(bench, backlog) },
  ];
  await sleep(BLOCK_MS);
  await close();
  lines.push(await loneFloor());
  await report('settlement', lines);
}

await main();
