import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { FAILPOINTS } from '#core/failpoints.ts';
import { silentLog } from '#core/log.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { waitUntil } from '#sandbox/processes.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { openChain } from '#settlement/chain.ts';
import { readEvents } from '#settlement/contract-events.ts';
import { type Caller, caller } from '#testing/api-client.ts';
import { type ChaosGround, openChaosGround } from '#testing/chaos-ground.ts';
import { type ChaosProcess, makeDemo, startChaosProcess } from '#testing/chaos-process.ts';
import { checkInvariants } from '#testing/invariants.ts';
import { checkAgainstChain } from '#testing/invariants-chain.ts';

/** A database that is put back or taken over while the chain goes on. */

const NIGHTLY = process.env.FAULTS === 'nightly';
/** Of the places where recovery may die, the one with most behind it: the others are nightly. */
const SHORT = 'recovery.payments_booked';
const REST_MS = 45_000;
const AMOUNT = 2_500_000;

let ground: ChaosGround;
let db: Database;
let sandbox: SandboxFile;
let nodes: ChaosProcess[] = [];

before(async () => {
  ground = await openChaosGround();
  const first = await makeDemo(ground);
  sandbox = first.sandbox;
  await first.stop();
  db = openDatabase({ url: ground.database.url, maxConnections: 4 });
  nodes = await Promise.all([
    startChaosProcess(ground, { name: 'api', role: 'api' }),
    startChaosProcess(ground, { name: 'other', role: 'api' }),
    startChaosProcess(ground, { name: 'worker', role: 'worker' }),
  ]);
});

after(async () => {
  await Promise.all(nodes.map((node) => node.close()));
  await db?.close();
  await ground?.close();
});

function node(place: number): { readonly merchant: Caller; readonly terminal: Caller } {
  const url = nodes[place]?.url;
  return {
    merchant: caller(`${url}/v1`, sandbox.test.secret_key),
    terminal: caller(`${url}/device/v1`, sandbox.test.device_key),
  };
}

type Answer = Awaited<ReturnType<Caller['post']>>;

/** Sends the same request until it is answered for good: nobody is there, or not yet, or 503. */
async function persist(ask: () => Promise<Answer>): Promise<Answer> {
  let answer: Answer | undefined;
  await waitUntil(async () => {
    answer = await ask().catch(() => undefined);
    return answer !== undefined && answer.status < 500;
  }, REST_MS);
  assert.ok(answer !== undefined, 'no answer came');
  return answer;
}

const create = (place: number, order: string, key = `create ${order}`) =>
  persist(() =>
    node(place).merchant.post(
      '/payment_intents',
      { amount: AMOUNT, terminal: sandbox.test.terminal, order_id: order },
      key,
    ),
  );

const tapOnce = (place: number, intent: unknown, key: string) =>
  node(place).terminal.post(
    `/payment_intents/${intent}/tap`,
    { credential: { type: 'nfc_id', value: sandbox.test.passes.ok } },
    key,
  );

const tap = (place: number, intent: unknown, key: string) =>
  persist(() => tapOnce(place, intent, key));

async function pay(order: string): Promise<{ intent: string; payment: string }> {
  const created = await create(0, order);
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const tapped = await tap(0, created.body.id, `tap ${order}`);
  assert.equal(tapped.body.status, 'succeeded', JSON.stringify(tapped.body));
  return { intent: String(created.body.id), payment: String(tapped.body.payment) };
}

/** Settlements that the contract has made for this order. */
async function settledOnChain(order: string): Promise<number> {
  const chain = await openChain(ground.testnet.config, silentLog);
  try {
    const head = await chain.block('latest');
    const logs = await chain.logs({ fromBlock: 0n, toBlock: head?.number ?? 0n });
    const events = readEvents(chain.config.settlement, logs);
    return events.filter((one) => one.event === 'PaymentSettled' && one.orderId === order).length;
  } finally {
    await chain.close();
  }
}

interface RecoveryRow {
  readonly status: string;
  readonly loss_shown: boolean;
  readonly payments: number;
  readonly refunds: number;
  readonly canceled: number;
  readonly asked: bigint;
}

async function recovery(): Promise<RecoveryRow> {
  const rows = await db.query<RecoveryRow>(
    'select * from network_recoveries where livemode = false',
  );
  assert.ok(rows[0] !== undefined);
  return rows[0];
}

/** Waits until a recovery that was asked for after `asked` is done. */
async function recovered(asked: bigint): Promise<RecoveryRow> {
  let row: RecoveryRow | undefined;
  await waitUntil(async () => {
    row = await recovery().catch(() => undefined);
    return row !== undefined && row.status === 'done' && row.asked > asked;
  }, REST_MS);
  assert.ok(row !== undefined && row.asked > asked, 'no recovery was done');
  return row;
}

/** What a payer paid is what the ledger says, per intent. */
async function comeToRest(): Promise<void> {
  let broken: string[] = ['nothing was checked'];
  await waitUntil(async () => {
    broken = await checkInvariants(db, { atRest: true }).catch((error) => [String(error)]);
    return broken.length === 0;
  }, REST_MS);
  assert.deepEqual(broken, []);
  const chain = await openChain(ground.testnet.config, silentLog);
  assert.deepEqual(await checkAgainstChain(db, chain), []);
  await chain.close();
}

describe('the database is put back to an earlier copy while the chain goes on', () => {
  it('the same tap charges once, a lost intent comes back under its id', async () => {
    const open = await create(0, 'OPEN-1');
    const expired = await create(0, 'GONE-1');
    const unpaid = await create(0, 'WAIT-1');
    const { asked } = await recovery();
    await ground.database.copy('early');
    const paid = await tap(0, open.body.id, 'tap OPEN-1');
    assert.equal(paid.body.status, 'succeeded');
    const gone = await tap(0, expired.body.id, 'tap GONE-1');
    assert.equal(gone.body.status, 'succeeded');
    const lost = await pay('LOST-1');
    const body = { payment: lost.payment, amount: 500_000 };
    const refund = await persist(() => node(0).merchant.post('/refunds', body, 'refund LOST-1'));
    assert.equal(refund.body.status, 'succeeded', JSON.stringify(refund.body));
    await ground.database.putBack('early');

    const again = await tap(1, open.body.id, 'tap OPEN-1');
    assert.equal(again.status, 200, JSON.stringify(again.body));
    assert.equal(again.body.status, 'succeeded');
    assert.equal(again.body.payment, paid.body.payment);
    const row = await recovered(asked);
    assert.ok(row.loss_shown);
    assert.deepEqual([row.payments, row.refunds], [3, 1]);

    const created = await create(1, 'LOST-1');
    assert.equal(created.status, 201, JSON.stringify(created.body));
    assert.equal(created.body.id, lost.intent);
    assert.equal(created.body.recovered, true);
    const { body: payment } = await node(0).merchant.get(`/payments/${lost.payment}`);
    assert.deepEqual(payment.payment_method, { type: 'unknown', credential: 'unknown' });
    assert.equal(payment.amount_refunded, 500_000);
    const refunded = await persist(() => node(1).merchant.post('/refunds', body, 'refund LOST-1'));
    assert.equal(refunded.body.id, refund.body.id, JSON.stringify(refunded.body));
    const { body: waiting } = await node(0).merchant.get(`/payment_intents/${unpaid.body.id}`);
    assert.equal(waiting.cancellation_reason, 'recovered');
    for (const order of ['OPEN-1', 'GONE-1', 'LOST-1']) {
      assert.equal(await settledOnChain(order), 1, order);
    }
    await comeToRest();
  });
});

describe('a replica takes over', () => {
  it('without a lost tail: everything is as it was, and payments go on', async () => {
    const open = await create(0, 'KEEP-1');
    const paid = await pay('KEEP-2');
    const { asked } = await recovery();
    await ground.database.failOver();
    const row = await recovered(asked);
    assert.deepEqual([row.loss_shown, row.payments, row.canceled], [false, 0, 0]);
    const tapped = await tap(1, open.body.id, 'tap KEEP-1');
    assert.equal(tapped.body.status, 'succeeded', JSON.stringify(tapped.body));
    const { body } = await node(0).merchant.get(`/payment_intents/${paid.intent}`);
    assert.equal(body.payment, paid.payment);
    await comeToRest();
  });

  it('with a lost tail: a tap at another node in the first 100 ms charges nothing', async () => {
    const open = await create(0, 'TAIL-1');
    const { asked } = await recovery();
    await ground.database.copy('replica');
    const paid = await tap(0, open.body.id, 'tap TAIL-1');
    assert.equal(paid.body.status, 'succeeded');
    const lost = await pay('TAIL-2');
    const over = ground.database.putBack('replica', { promote: true });
    const hurried: number[] = [];
    let done = false;
    const hurry = (async () => {
      while (!done) {
        const answer = await tapOnce(1, open.body.id, 'tap TAIL-1').catch(() => null);
        if (answer !== null) hurried.push(answer.status);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    await over;
    const row = await recovered(asked);
    done = true;
    await hurry;
    assert.ok(row.loss_shown);
    assert.ok(hurried.includes(503), `the other node answered ${[...new Set(hurried)].join()}`);
    const again = await tap(1, open.body.id, 'tap TAIL-1');
    assert.equal(again.body.payment, paid.body.payment);
    const { body } = await node(1).merchant.get(`/payments/${lost.payment}`);
    assert.equal(body.recovered, true);
    for (const order of ['TAIL-1', 'TAIL-2']) assert.equal(await settledOnChain(order), 1, order);
    await comeToRest();
  });
});

describe('a worker that dies at a step of the recovery', () => {
  for (const point of FAILPOINTS.filter((name) => name.startsWith('recovery.'))) {
    const skip = point === SHORT || NIGHTLY ? false : 'in the nightly run';
    it(`books once when it died at ${point}`, { skip }, async () => {
      const order = `DIE-${FAILPOINTS.indexOf(point)}`;
      const { asked } = await recovery();
      await ground.database.copy(point);
      await pay(order);
      await nodes.pop()?.close();
      await ground.database.putBack(point);
      const firstEnv = { TAPLINE_FAILPOINT: point };
      const worker = await startChaosProcess(ground, { name: 'worker', role: 'worker', firstEnv });
      nodes.push(worker);
      assert.ok(await waitUntil(() => worker.starts() > 1, REST_MS), 'nothing died');
      const row = await recovered(asked);
      assert.equal(row.payments, 1);
      const booked = await db.query('select recovered from payments where order_id = $1', [order]);
      assert.deepEqual(booked, [{ recovered: true }]);
      assert.equal(await settledOnChain(order), 1);
      await comeToRest();
    });
  }
});
