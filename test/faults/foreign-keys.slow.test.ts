import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { present } from '#core/assert.ts';
import { openIdKey } from '#db/id-key.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { idSealingKey } from '#settings/config.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { askToWithdraw } from '#testkit/fixtures/payments/ask-to-withdraw.ts';
import { outsideService } from '#testkit/fixtures/settlement/outside-service.ts';
import { startChaosProcess } from '#testkit/simulation/chaos/chaos-process.ts';
import { openRestoreGround, REST_MS } from '#testkit/simulation/restore-ground.ts';

/**
 * Simulates an attacker who has an operator key and settles outside the service. The service itself
 * has lost no data.
 */

const AMOUNT = 2_500_000n;
const REFUNDED = 500_000n;
const WITHDRAWN = 300_000n;
/** First of the settlement numbers that the service has not drawn. */
const DRAWN_BY_NOBODY = 900_000_000n;
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

const count = async (sql: string, values: readonly unknown[] = []): Promise<number> => {
  const rows = await world.db.query<{ count: bigint }>(sql, values);
  return Number(rows[0]?.count ?? 0n);
};

async function merchantNumber(): Promise<bigint> {
  const [row] = await world.db.query<{ number: bigint }>(
    'select merchant_number as number from account_modes where account_id = $1 and not livemode',
    [world.sandbox.account],
  );
  return present(row, 'mode of the demo account').number;
}

async function addressOf(label: string): Promise<Hex> {
  const [row] = await world.db.query<{ address: Hex }>(
    `select y.address from passes s join payers y on y.id = s.payer_id
     where s.label = $1 and not y.livemode`,
    [label],
  );
  return present(row, 'payer').address;
}

describe("an operator's key settles, refunds and withdraws without the service", () => {
  let waits: unknown;
  let requestCount: bigint;
  const numbers = [1n, 2n, 3n].map((place) => DRAWN_BY_NOBODY + place);

  before(async () => {
    const outside = outsideService(world.ground.testnet.config);
    await world.pay('HONEST');
    waits = (await world.create(0, 'WAITS')).body.id;
    const token = await world.node(0).merchant.post('/test_helpers/agent_tokens', { amount: 1 });
    assert.equal(token.status, 201, JSON.stringify(token.body));
    requestCount = (await world.recovery()).request_count;
    const merchant = { merchantNumber: await merchantNumber(), amount: AMOUNT };
    const [ok, other] = [await addressOf('Demo: ok'), await addressOf('Demo: ok_2')];
    const stolen = { ...merchant, payer: ok, orderId: 'STOLEN-1', number: numbers[0] ?? 0n };
    await outside.settle([
      stolen,
      { ...merchant, payer: ok, orderId: 'STOLEN-2', number: numbers[1] ?? 0n },
      { ...merchant, payer: other, orderId: 'STOLEN-3', number: numbers[2] ?? 0n },
    ]);
    await outside.refund(stolen, REFUNDED);
    await outside.withdraw({ ...merchant, amount: WITHDRAWN, number: DRAWN_BY_NOBODY });
    await waitUntil(async () => {
      const found = await count('select count(*) from foreign_settlements');
      return found === 5 || (await world.recovery()).request_count > requestCount;
    }, FOUND_MS);
  });

  it('raises the alarm foreign_key_used', async () => {
    const rows = await world.db.query<{ subject: string }>(
      `select subject from chain_alarms where kind = 'foreign_key_used' order by subject`,
    );
    const merchant = `merchant ${await merchantNumber()}`;
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
    const { body } = await world.node(0).merchant.get(`/payment_intents/${waits}`);
    assert.notEqual(body.cancellation_reason, 'recovered', JSON.stringify(body));
    assert.equal(await count('select count(*) from agent_tokens where revoked_at is not null'), 0);
  });

  it('withholds exactly the foreign sum from withdrawals', async () => {
    const { ground, db } = world;
    const idKey = await openIdKey(db, idSealingKey(ground.secret));
    const accountId = world.sandbox.account;
    const ask = (key: string, amount: bigint) =>
      world.onChain((chain) => askToWithdraw({ db, chain, idKey }, { accountId, key, amount }));
    // The payout has reduced the balance. The same amount is also held until an operator decides.
    const left = AMOUNT - 2n * REFUNDED - 2n * WITHDRAWN;
    const held = await ask('an atom too much', left + 1n);
    assert.equal(held.status, 409, JSON.stringify(held.body));
    assert.equal(Object(held.body.error).code, 'payouts_held');
    const own = await ask('own', left);
    assert.equal(own.status, 201, JSON.stringify(own.body));
  });

  it('continues to sell and refund', async () => {
    const { payment } = await world.pay('AFTER');
    const refund = await world.node(1).merchant.post('/refunds', { payment, amount: 500_000 });
    assert.equal(refund.status, 201, JSON.stringify(refund.body));
    const paid = `select count(*) from refunds where status = 'succeeded'`;
    await waitUntil(async () => (await count(paid)) === 1, REST_MS);
    assert.equal(await count(paid), 1);
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
    const { body } = await world.node(0).merchant.get(`/payment_intents/${waits}`);
    assert.notEqual(body.cancellation_reason, 'recovered');
    await world.comeToRest();
  });
});

describe('a start finds a nonce that the database lacks, and cannot know why', () => {
  let requestCount: bigint;

  before(async () => {
    await Promise.all(world.nodes.map((node) => node.close()));
    requestCount = (await world.recovery()).request_count;
    const outside = outsideService(world.ground.testnet.config);
    const payer = await addressOf('Demo: ok_2');
    const sale = { merchantNumber: await merchantNumber(), amount: AMOUNT, payer };
    await outside.settle([{ ...sale, orderId: 'NIGHT', number: DRAWN_BY_NOBODY + 9n }]);
    await world.db.query('update relayer_senders set stopped_at = null where not livemode');
    const { ground } = world;
    world.nodes.splice(
      0,
      world.nodes.length,
      ...(await Promise.all([
        // New names have new data folders, without earlier state.
        startChaosProcess(ground, { name: 'fresh api', role: 'api' }),
        startChaosProcess(ground, { name: 'fresh other', role: 'api' }),
        startChaosProcess(ground, { name: 'fresh worker', role: 'worker' }),
      ])),
    );
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
    await Promise.all(world.nodes.map((node) => node.close()));
    requestCount = (await world.recovery()).request_count;
    questions = await count(QUESTIONS);
    const outside = outsideService(world.ground.testnet.config);
    const payer = await addressOf('Demo: ok_2');
    const sale = { merchantNumber: await merchantNumber(), amount: AMOUNT, payer };
    await outside.settle([{ ...sale, orderId: 'DAWN', number: DRAWN_BY_NOBODY + 10n }]);
    await world.db.query('update relayer_senders set stopped_at = null where not livemode');
    const again = world.nodes.map(({ name }) => {
      const role = name.includes('worker') ? ('worker' as const) : ('api' as const);
      return startChaosProcess(world.ground, { name, role });
    });
    world.nodes.splice(0, world.nodes.length, ...(await Promise.all(again)));
  });

  it('sells at once, and asks no operator', async () => {
    await world.pay('MORNING');
    assert.equal(await count(QUESTIONS), questions);
    const row = await world.recovery();
    assert.deepEqual([row.request_count, row.status], [requestCount, 'done']);
  });

  it('stops the sender when the node has shown the transaction twice', async () => {
    await waitUntil(async () => (await count(STOPPED)) === 1, FOUND_MS);
    assert.equal(await count(STOPPED), 1);
    const booked = `select count(*) from payments where order_id = 'DAWN'`;
    assert.equal(await count(booked), 0);
    assert.equal(await count(QUESTIONS), questions);
  });
});
