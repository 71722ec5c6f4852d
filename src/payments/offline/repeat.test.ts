import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateKeyAccount } from 'viem/accounts';
import { declineOverdue } from '#payments/apply-settlements.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import {
  forwardedIn,
  forwardSales,
  type KeptSale,
  setLimits,
  settleForwarded,
  signOffline,
} from '#testkit/apis/offline-sales.ts';
import { startPayGround } from '#testkit/apis/pay-ground.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { PULLED } from '#testkit/fixtures/payments/sale-amounts.ts';
import { addTerminal } from '#testkit/fixtures/payments/store.ts';

let till: Caller;
let other: Caller;

const ground = openForTests(
  () => startPayGround({ isIdle: true }),
  async () => {
    const { db, clock, merchant } = ground.store;
    const second = await addTerminal(db, merchant, clock.now());
    till = ground.server.device();
    other = ground.server.device(second.deviceKey);
    await setLimits(ground);
    await setLimits(ground, undefined, second.terminalId);
  },
);

const forward = async (sales: readonly object[], by = till) =>
  forwardedIn(await forwardSales(by, sales));
const settled = (sales: readonly object[]) => settleForwarded(till, sales);

test('a sale whose job missed its deadline gets another one, and settles once', async () => {
  const { db } = ground.store;
  const wallet = await ground.bare(PULLED * 2n);
  const sale = await signOffline(ground, wallet);
  const [first] = await forward([sale]);
  const intent = String(first?.payment_intent);
  assert.equal(await ground.requestsOf(intent), 1);
  await db.query(`update chain_requests set deadline = now() - interval '1 s'`);
  await declineOverdue(ground.store);
  await waitUntil(async () => (await ground.requestsOf(intent)) === 2, 10_000);
  assert.deepEqual(await forward([sale]), [first], 'it is on its way all the time');
  ground.world.startRelayer();
  const [item] = await settled([sale]);
  assert.equal(item?.status, 'succeeded');
  assert.equal(await ground.world.network.usdcOf(wallet.address), PULLED);
});

test('a sale that the database lost is forwarded again and returns the rebuilt sale', async () => {
  const { db } = ground.store;
  const wallet = await ground.bare(PULLED * 2n);
  const sale = await signOffline(ground, wallet);
  const [item] = await settled([sale]);
  // Deletes what a restore would lose. Recovery has already booked the payment from the chain.
  await db.query('delete from offline_payments where id = $1', [item?.id]);
  await db.query('update payments set recovered = true where id = $1', [item?.payment]);
  await db.query('update payment_intents set recovered = true, offline = null where id = $1', [
    item?.payment_intent,
  ]);
  const [again] = await forward([sale], other);
  assert.deepEqual(
    [again?.status, again?.payment, again?.payment_intent],
    ['succeeded', item?.payment, item?.payment_intent],
  );
  const merchant = await ground.server.merchant();
  const { body } = await merchant.get(`/payment_intents/${item?.payment_intent}`);
  assert.deepEqual(body.offline, { id: again?.id, accepted_at: sale.accepted_at });
  assert.deepEqual(await forward([sale]), [again]);
  assert.equal(await ground.world.network.usdcOf(wallet.address), PULLED);
});

const CUT_EVERY_MS = 100;

/**
 * Forwards the queue in portions until all sales are decided. Drops the connection of each request
 * before its response.
 */
async function forwardCut(queue: readonly KeptSale[], key: string, done: () => boolean) {
  while (!done()) {
    const from = randomInt(queue.length);
    await fetch(`${ground.server.url}/api/device/v1/offline_payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ payments: queue.slice(from, from + 10) }),
      signal: AbortSignal.timeout(CUT_EVERY_MS),
    }).catch(() => null);
    await sleep(CUT_EVERY_MS);
  }
}

test('50 sales in two tabs, cut every 100 ms, and 10 more meanwhile, are 60 payments', async () => {
  const { db, deviceKey } = ground.store;
  const wallets: PrivateKeyAccount[] = [];
  for (let n = 0; n < 6; n++) wallets.push(await ground.bare(PULLED * 10n));
  const sign = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        signOffline(ground, wallets[n % wallets.length] as PrivateKeyAccount),
      ),
    );
  const sold = await sign(60);
  const queue = sold.slice(0, 50);
  const nonces = sold.map(({ authorization }) => authorization.nonce);
  let isDone = false;
  const tabs = [1, 2].map(() => forwardCut(queue, deviceKey, () => isDone));
  await sleep(300);
  queue.push(...sold.slice(50));
  try {
    await waitUntil(async () => {
      const rows = await db.query(
        `select id from offline_payments where nonce = any($1) and status <> 'processing'`,
        [nonces],
      );
      return rows.length === sold.length;
    }, 60_000);
  } finally {
    isDone = true;
  }
  await Promise.all(tabs);
  const items = await settled(queue);
  assert.equal(new Set(items.map(({ id }) => id)).size, 60);
  assert.equal(new Set(items.map(({ payment }) => payment)).size, 60);
  assert.ok(items.every(({ status }) => status === 'succeeded'));
  for (const { address } of wallets) {
    assert.equal(await ground.world.network.usdcOf(address), 0n);
  }
});

/** Replaces one random hex digit after the 0x. */
function altered(hex: string): string {
  const at = 2 + randomInt(hex.length - 2);
  const digit = (Number.parseInt(hex.charAt(at), 16) + 1 + randomInt(15)) % 16;
  return `${hex.slice(0, at)}${digit.toString(16)}${hex.slice(at + 1)}`;
}

const FIELDS = ['amount', 'salt', 'nonce', 'signature', 'from', 'value', 'valid_before'] as const;

function mutated(sale: KeptSale): KeptSale {
  const { authorization } = sale;
  const field = FIELDS[randomInt(FIELDS.length)] ?? 'amount';
  switch (field) {
    case 'amount':
      return { ...sale, amount: sale.amount + 1 + randomInt(1_000) };
    case 'salt':
      return { ...sale, salt: altered(sale.salt) };
    case 'value':
    case 'valid_before':
      return { ...sale, authorization: { ...authorization, [field]: authorization[field] + 1 } };
    default:
      return {
        ...sale,
        authorization: { ...authorization, [field]: altered(authorization[field]) },
      };
  }
}

/**
 * Number of altered records, in requests of 99. The long run sends more
 * (test/long/budgets.test.ts).
 */
const MUTATED = Number(process.env.MUTATED_RECORDS ?? 990);

test(`${MUTATED} mutated records are refused, each in its place, and nothing is lost`, async () => {
  const { db } = ground.store;
  const sale = await signOffline(ground, await ground.bare(PULLED));
  const count = async () => (await db.query('select id from offline_payments')).length;
  const [before] = await settled([sale]);
  const known = await count();
  for (let sent = 0; sent < MUTATED; sent += 99) {
    const records = Array.from({ length: 99 }, () => mutated(sale));
    const position = randomInt(records.length);
    const items = await forward(records.toSpliced(position, 0, sale));
    assert.equal(items.length, 100);
    assert.deepEqual(items[position], before);
    const wrong = items.toSpliced(position, 1).filter(({ object }) => object !== 'error');
    assert.deepEqual(wrong, []);
  }
  assert.equal(await count(), known);
});
