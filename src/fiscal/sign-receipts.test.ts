import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Loop } from '#core/background-loop.ts';
import { rescheduleUnsigned, selectFiscal } from '#fiscal/fiscal-queries.ts';
import { startSigning } from '#fiscal/sign-receipts.ts';
import { type Payment, paymentStatus } from '#payments/payment.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { openStore, type TestStore } from '#testkit/fixtures/payments/store.ts';
import { addPayment, addStore } from '#testkit/fixtures/payments/store-payments.ts';
import { startReceiver, type TestReceiver } from '#testkit/network/webhook-receiver.ts';
import { systemResolver } from '#webhooks/dns-resolver.ts';
import { addressPolicy } from '#webhooks/refuse-private-addresses.ts';

const LINE = {
  name: 'Flat white',
  quantity: 1,
  unit_amount: 2_500_000,
  tax_rate: 1300,
  tax_inclusive: true,
  discount: 0,
};
const NETWORK = { policy: addressPolicy([], { ownMachine: true }), resolver: systemResolver() };
const SIGNED = JSON.stringify({ signature: 'SIG-1', text: 'TSE 4711\nchain 12' });

let clock: FakeClock;
let store: TestStore;
let signer: TestReceiver;
let loops: Loop[] = [];

const shared = openForTests(openStore);
beforeEach(async () => {
  clock = new FakeClock();
  store = await addStore(shared, clock);
  signer = await startReceiver();
  signer.answer((_request, response) => void response.end(SIGNED));
  await setSigner(`${signer.url}/receipts`);
});
afterEach(async () => {
  await signer.close();
  await Promise.all(loops.map((loop) => loop.stop()));
  loops = [];
  await shared.db.query('delete from fiscal_receipts');
});

const accountId = () => store.merchant.tenant.accountId;
const setSigner = (url: string | null) =>
  store.db.query('update accounts set fiscal_signer = $2 where id = $1', [accountId(), url]);

function sign(): Loop {
  const loop = startSigning(store, NETWORK);
  loops.push(loop);
  return loop;
}

const sell = () => addPayment(store, LINE.unit_amount, { lineItems: [LINE], discount: 0 });

const fiscalOf = async ({ id }: Payment) => (await selectFiscal(store.db, [id])).get(id);

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    assert.ok(tries < 400, 'it does not become true');
    await sleep(20);
  }
}

const isSigned = async (payment: Payment) => (await fiscalOf(payment))?.signature != null;
const rowOf = async ({ id }: Payment) => {
  const [row] = await store.db.query<{ last_error: string | null; due_at: Date; attempts: number }>(
    'select last_error, due_at, attempts from fiscal_receipts where subject_id = $1',
    [id],
  );
  assert.ok(row !== undefined);
  return row;
};
const hasFailed = async (payment: Payment) => (await rowOf(payment)).last_error !== null;

test('a sale is signed after it is paid: the signer gets its number, lines and taxes', async () => {
  const payment = await sell();
  assert.deepEqual(await fiscalOf(payment), { signature: null, text: null });
  sign();
  await until(() => isSigned(payment));
  assert.deepEqual(await fiscalOf(payment), { signature: 'SIG-1', text: 'TSE 4711\nchain 12' });
  const { id, ...body } = JSON.parse(signer.received[0]?.body.toString() ?? '');
  assert.match(id, /^fis_[0-9a-f]{32}$/);
  assert.deepEqual(body, {
    payment: payment.id,
    receipt_number: payment.receipt_number,
    amount: 2_500_000,
    presentment: null,
    line_items: [{ ...LINE, discount_rate: null, discount_name: null, item: null, category: null }],
    discount: 0,
    taxes: [{ rate: 1300, net: 2_212_389, tax: 287_611, gross: 2_500_000 }],
  });
});

test('without a signer, nothing is requested, and no receipt waits for one', async () => {
  await setSigner(null);
  assert.equal(await fiscalOf(await sell()), undefined);
});

test('a request that fails is repeated with the same id after about 5 s', async () => {
  signer.answer((_request, response) => void response.writeHead(500).end());
  const payment = await sell();
  const loop = sign();
  await until(() => hasFailed(payment));
  const waitMs = (await rowOf(payment)).due_at.getTime() - clock.now().getTime();
  assert.ok(waitMs >= 4_000 && waitMs <= 6_000, `${waitMs} ms`);
  signer.answer((_request, response) => void response.end(SIGNED));
  clock.advance(3_000);
  loop.wake();
  await sleep(100);
  assert.equal(signer.received.length, 1);
  clock.advance(3_000);
  loop.wake();
  await until(() => isSigned(payment));
  const [first, second] = signer.received.map(({ body }) => body.toString());
  assert.equal(first, second);
});

const BAD: readonly (readonly [because: string, status: number, body: string])[] = [
  ['a redirect', 302, SIGNED],
  ['1 MB', 200, JSON.stringify({ signature: 'x'.repeat(1_000_000) })],
  ['17 KiB of valid JSON', 200, `${SIGNED}${' '.repeat(17 * 1024)}`],
  ['no JSON', 200, 'ok'],
  ['null', 200, 'null'],
  ['no signature', 200, '{"text":"thanks"}'],
  ['an empty signature', 200, '{"signature":""}'],
  ['a signature that is no text', 200, '{"signature":7}'],
  ['a signature with NUL, which PostgreSQL cannot store', 200, '{"signature":"x\\u0000"}'],
  ['a text with half a character', 200, '{"signature":"x","text":"\\ud83d"}'],
  ['a text that is no text', 200, '{"signature":"x","text":7}'],
];

for (const [because, status, body] of BAD) {
  test(`${because} is no signature`, async () => {
    signer.answer((_request, response) => {
      response.writeHead(status, { location: `${signer.url}/elsewhere` }).end(body);
    });
    const payment = await sell();
    sign();
    await until(() => hasFailed(payment));
    assert.equal(await isSigned(payment), false);
    assert.equal(signer.received.length, 1);
  });
}

test('a response of exactly 16 KiB is accepted', async () => {
  const body = SIGNED.padEnd(16 * 1024);
  signer.answer((_request, response) => void response.end(body));
  const payment = await sell();
  sign();
  await until(() => isSigned(payment));
});

test('a signer that hangs delays no payment, and no other account', async () => {
  signer.answer(() => {});
  const slow = await sell();
  sign();
  await signer.waitFor(1);
  const hanging = store;
  const quick = await startReceiver();
  quick.answer((_request, response) => void response.end(SIGNED));
  store = await addStore(shared, clock);
  await setSigner(quick.url);
  const payment = await sell();
  await until(() => isSigned(payment));
  store = hanging;
  assert.equal(paymentStatus(await sell()), 'succeeded');
  assert.equal(await isSigned(slow), false);
  await quick.close();
});

test('a signer never has more than four requests at once', async () => {
  const waiting: (() => void)[] = [];
  let most = 0;
  signer.answer((_request, response) => {
    most = Math.max(
      most,
      waiting.push(() => response.end(SIGNED)),
    );
  });
  const loop = sign();
  const payments: Payment[] = [];
  const sold = async (count: number) => {
    for (let n = 0; n < count; n++) payments.push(await sell());
    loop.wake();
  };
  await sold(3);
  await signer.waitFor(3);
  await sold(6);
  await signer.waitFor(4);
  for (const payment of payments) {
    while (!(await isSigned(payment))) {
      waiting.shift()?.();
      await sleep(20);
    }
  }
  assert.deepEqual([most, signer.received.length], [4, 9]);
});

test('a request to an unreachable signer or a refused address is retried later', async () => {
  await setSigner('http://127.0.0.1:1025');
  const payment = await sell();
  sign();
  await until(() => hasFailed(payment));
  assert.equal((await rowOf(payment)).last_error, 'connection_refused');
  await setSigner('http://169.254.169.254/receipts');
  await store.db.transaction((tx) => rescheduleUnsigned(tx, accountId(), clock.now()));
  await until(async () => (await rowOf(payment)).last_error === 'address_refused');
});

test('two workers never send the same request', async () => {
  let answers = 0;
  signer.answer((_request, response) => {
    answers++;
    setTimeout(() => response.end(JSON.stringify({ signature: `SIG-${answers}` })), 50);
  });
  const payments = [await sell(), await sell(), await sell()];
  sign();
  sign();
  for (const payment of payments) await until(() => isSigned(payment));
  const ids = signer.received.map(({ body }) => JSON.parse(body.toString()).id);
  assert.deepEqual([ids.length, new Set(ids).size], [3, 3]);
});

test('after a restore, the database sends the same number and id again', async () => {
  const payment = await sell();
  const loop = sign();
  await until(() => isSigned(payment));
  // Restore the row as it was before the response, as restoring a backup would.
  await store.db.query(
    `update fiscal_receipts set signature = null, text = null, signed_at = null, attempts = 0,
       due_at = $2 where subject_id = $1`,
    [payment.id, clock.now()],
  );
  loop.wake();
  await until(() => isSigned(payment));
  const [first, second] = signer.received.map(({ body }) => body.toString());
  assert.deepEqual([signer.received.length, first], [2, second]);
});
