import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { PaymentCall } from '#settlement/contract/contract-calls.ts';
import {
  AMOUNT,
  DRAWN_BY_NOBODY,
  openRestoreGround,
  REST_MS,
} from '#testkit/simulation/restore-ground.ts';

/**
 * Simulates an attacker who has an operator key and settles outside the service. The service itself
 * has lost no data.
 */

const REFUNDED = 500_000n;
const WITHDRAWN = 300_000n;
/**
 * Reconciliation runs once a minute on blocks at least 15 seconds old, so its second run finds a
 * foreign settlement.
 */
const FOUND_MS = 150_000;

const world = await openRestoreGround();
after(() => world.close());

const ADMIN = path.join(import.meta.dirname, '../../src/ops/admin-command.ts');
const PASSWORD = 'a long staff passphrase';

/** Runs the admin command. @returns its output. @throws if it refuses. */
function admin(...args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, DATABASE_URL: world.ground.database.url };
    const child = execFile(process.execPath, [ADMIN, ...args], { env }, (error, out, complaint) =>
      error === null ? resolve(out) : reject(new Error(complaint)),
    );
    child.stdin?.end(`${PASSWORD}\n`);
  });
}

const { count, outside } = world;

/** A sale by a demo pass, which the thief settles. */
async function sale(pass: 'ok' | 'ok_2', orderId: string, number: bigint): Promise<PaymentCall> {
  const { address: payer } = await world.payerOf(pass);
  const merchantNumber = await world.merchantNumber();
  const amount = BigInt(AMOUNT);
  return { merchantNumber, amount, payer, orderId, number: DRAWN_BY_NOBODY + number };
}

/**
 * Settles a sale while no process runs, and starts these.
 * @returns how many recoveries were requested before
 */
async function restartAfter(settled: PaymentCall, processes: Parameters<typeof world.start>[0]) {
  await world.stop();
  const { request_count: requestCount } = await world.recovery();
  await outside.settle([settled]);
  await world.db.query('update relayer_senders set stopped_at = null where not livemode');
  await world.start(processes);
  return requestCount;
}

describe("an operator's key settles, refunds and withdraws without the service", () => {
  let waits: unknown;
  let requestCount: bigint;

  before(async () => {
    await world.pay('HONEST');
    waits = (await world.create(0, 'WAITS')).body.id;
    const token = await world.node(0).merchant.post('/test_helpers/agent_tokens', { amount: 1 });
    assert.equal(token.status, 201, JSON.stringify(token.body));
    requestCount = (await world.recovery()).request_count;
    const stolen = await Promise.all([
      sale('ok', 'STOLEN-1', 1n),
      sale('ok', 'STOLEN-2', 2n),
      sale('ok_2', 'STOLEN-3', 3n),
    ]);
    const [first] = stolen;
    await outside.settle(stolen);
    await outside.refund(first, REFUNDED);
    await outside.withdraw({ ...first, amount: WITHDRAWN, number: DRAWN_BY_NOBODY });
    await waitUntil(async () => {
      const result = await count('select count(*) from foreign_settlements');
      return result === 5 || (await world.recovery()).request_count > requestCount;
    }, FOUND_MS);
  });

  it('raises the alarm foreign_key_used', async () => {
    const rows = await world.db.query<{ subject: string }>(
      `select subject from chain_alarms where kind = 'foreign_key_used' order by subject`,
    );
    const merchant = `merchant ${await world.merchantNumber()}`;
    assert.ok(
      rows.some(({ subject }) => subject === merchant),
      JSON.stringify(rows),
    );
  });

  it('books nothing, closes no network, ends no session', async () => {
    const row = await world.recovery();
    assert.deepEqual([row.request_count, row.status], [requestCount, 'done']);
    for (const table of ['payments', 'refunds', 'withdrawals']) {
      assert.equal(await count(`select count(*) from ${table} where recovered`), 0, table);
    }
    assert.notEqual((await world.readIntent(waits)).cancellation_reason, 'recovered');
    assert.equal(await count('select count(*) from agent_tokens where revoked_at is not null'), 0);
  });

  it('withholds exactly the foreign sum from withdrawals', async () => {
    // The payout has reduced the balance. The same amount is also held until an operator decides.
    const left = BigInt(AMOUNT) - 2n * REFUNDED - 2n * WITHDRAWN;
    const held = await world.withdraw('an atom too much', left + 1n);
    assert.equal(held.status, 409, JSON.stringify(held.body));
    assert.equal(Object(held.body.error).code, 'payouts_held');
    const own = await world.withdraw('own', left);
    assert.equal(own.status, 201, JSON.stringify(own.body));
  });

  it('continues to sell and refund', async () => {
    const { payment } = await world.pay('AFTER');
    const refund = await world.node(1).merchant.post('/refunds', { payment, amount: 500_000 });
    assert.equal(refund.status, 201, JSON.stringify(refund.body));
    const paid = `select count(*) from refunds where status = 'succeeded'`;
    assert.ok(await waitUntil(async () => (await count(paid)) === 1, REST_MS));
  });

  it('is booked when two operators accept it, and nothing else changes', async () => {
    const account = world.sandbox.account;
    for (const name of ['anna', 'ben']) await admin('create-operator', `${name}@demo.test`, name);
    const listed = await admin('foreign-settlements');
    const kinds = [...listed.matchAll(/ undecided (\w+) /g)].map(([, kind]) => kind);
    const all = ['payment', 'payment', 'payment', 'refund', 'withdrawal'];
    assert.deepEqual(kinds.toSorted(), all, listed);
    const accept = (person: string) =>
      admin('foreign-settlements', 'accept', 'testnet', account, `${person}@demo.test`);
    await accept('anna');
    await assert.rejects(accept('anna'), /a colleague must approve it/);
    assert.equal((await world.recovery()).request_count, requestCount);
    await accept('ben');
    const row = await world.recovered(requestCount);
    assert.deepEqual([row.loss_shown, row.payments, row.canceled], [false, 3, 0]);
    assert.deepEqual([row.refunds, row.withdrawals], [1, 1]);
    const created = await world.create(0, 'STOLEN-3');
    assert.deepEqual([created.body.status, created.body.recovered], ['succeeded', true]);
    assert.notEqual((await world.readIntent(waits)).cancellation_reason, 'recovered');
    await world.comeToRest();
  });
});

describe('a start finds a nonce that the database lacks, and cannot know why', () => {
  let requestCount: bigint;

  before(async () => {
    // New names have new data folders, without earlier state.
    requestCount = await restartAfter(await sale('ok_2', 'NIGHT', 9n), [
      { name: 'fresh api', role: 'api' },
      { name: 'fresh other', role: 'api' },
      { name: 'fresh worker', role: 'worker' },
    ]);
  });

  it('keeps the network closed and asks the operators', async () => {
    const isAsked = `select count(*) from chain_alarms where kind = 'restored_or_not'
      and resolved_at is null`;
    await waitUntil(async () => (await count(isAsked)) === 1, REST_MS);
    const body = { amount: 100, terminal: world.sandbox.test.terminal };
    const ask = (key: string) => world.node(0).merchant.post('/payment_intents', body, key);
    // A process without keys learns about the proposal within one or two seconds.
    await waitUntil(async () => (await ask(`closed? ${Date.now()}`)).status === 503, REST_MS);
    assert.equal((await ask('while closed')).status, 503);
    assert.equal((await world.recovery()).request_count, requestCount);
  });

  it('stops the sender and continues if they say that nothing was restored', async () => {
    assert.match(await admin('restored', 'no'), /testnet: stopped the senders of 0x/);
    await world.pay('AGAIN');
    const row = await world.recovery();
    assert.deepEqual([row.request_count, row.loss_shown], [requestCount, false]);
    assert.equal(
      await count('select count(*) from relayer_senders where stopped_at is not null'),
      1,
    );
    assert.equal(await count(`select count(*) from payments where order_id = 'NIGHT'`), 0);
  });

  it('books what was lost if they say that it was restored', async () => {
    assert.match(await admin('restored', 'yes'), /testnet: a worker books/);
    const row = await world.recovered(requestCount);
    assert.deepEqual([row.loss_shown, row.payments], [true, 1]);
    await world.comeToRest();
  });
});

describe('a start finds such a nonce, and its watermark shows that nothing was lost', () => {
  let requestCount: bigint;
  let questions: number;
  const QUESTIONS = `select count(*) from chain_alarms where kind = 'restored_or_not'`;
  const STOPPED = 'select count(*) from relayer_senders where stopped_at is not null';

  before(async () => {
    questions = await count(QUESTIONS);
    requestCount = await restartAfter(await sale('ok_2', 'DAWN', 10n), [...world.nodes]);
  });

  it('sells at once, and asks no operator', async () => {
    await world.pay('MORNING');
    assert.equal(await count(QUESTIONS), questions);
    const row = await world.recovery();
    assert.deepEqual([row.request_count, row.status], [requestCount, 'done']);
  });

  it('stops the sender when the node has shown the transaction twice', async () => {
    assert.ok(await waitUntil(async () => (await count(STOPPED)) === 1, FOUND_MS));
    const booked = `select count(*) from payments where order_id = 'DAWN'`;
    assert.equal(await count(booked), 0);
    assert.equal(await count(QUESTIONS), questions);
  });
});
