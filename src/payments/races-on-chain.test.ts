import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import { startPayGround } from '#testkit/apis/pay-ground.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { PULLED } from '#testkit/fixtures/payments/sale-amounts.ts';
import {
  addIntent,
  addPayer,
  pay,
  summaryOf,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';
import { cancel, mintToken } from '#testkit/fixtures/payments/store-requests.ts';
import type { RelayerWorld } from '#testkit/fixtures/settlement/relayer-world.ts';

/** The races of races.test.ts, but with a real contract, node and relayer. */

const AMOUNT = 2_500_000n;

let world: RelayerWorld;
let store: TestStore;

const ground = openForTests(startPayGround, async () => {
  ({ world, store } = ground);
});

interface Wallet {
  readonly account: PrivateKeyAccount;
  readonly pass: string;
  readonly payerId: string;
}

/** Adds a payer whose wallet has this balance (in atoms) on the chain. */
async function addWallet(usdc: bigint): Promise<Wallet> {
  const [account] = await world.network.addPayers(1, { usdc });
  assert(account !== undefined);
  const { pass, payer } = await addPayer(store, { address: account.address });
  return { account, pass, payerId: payer.id };
}

function merchantBalance(): Promise<bigint> {
  return world.network.merchantBalance(world.merchant.merchantNumber);
}

test('fifty simultaneous taps move the money once', async () => {
  const { account, pass } = await addWallet(PULLED * 50n);
  const before = await merchantBalance();
  const intentId = await addIntent(store);
  const taps = Array.from({ length: 50 }, () => pay(store, { intentId, pass }));
  const outcomes = (await Promise.all(taps)).map(summaryOf);
  assert.equal(outcomes.filter((one) => one === 'succeeded').length, 1);
  assert.equal(await merchantBalance(), before + AMOUNT);
  assert.equal(await world.network.usdcOf(account.address), PULLED * 49n);
});

test('a wallet with money for one payment pays one of ten simultaneous taps', async () => {
  const { account, pass } = await addWallet(PULLED);
  const before = await merchantBalance();
  const ids = await Promise.all(Array.from({ length: 10 }, () => addIntent(store)));
  const taps = await Promise.all(ids.map((intentId) => pay(store, { intentId, pass })));
  const outcomes = taps.map(summaryOf);
  assert.equal(outcomes.filter((one) => one === 'succeeded').length, 1, String(outcomes));
  assert.equal(outcomes.filter((one) => one === 'insufficient_funds').length, 9);
  assert.equal(await merchantBalance(), before + AMOUNT);
  assert.equal(await world.network.usdcOf(account.address), 0n);
});

test('an intent that one payer could not pay is settled for the next one', async () => {
  const poor = await addWallet(PULLED);
  const rich = await addWallet(PULLED);
  const [first, second] = [await addIntent(store), await addIntent(store)];
  const race = [first, second].map((intentId) => pay(store, { intentId, pass: poor.pass }));
  const outcomes = (await Promise.all(race)).map(summaryOf);
  const left = outcomes[0] === 'succeeded' ? second : first;
  assert.equal(summaryOf(await pay(store, { intentId: left, pass: rich.pass })), 'succeeded');
  assert.equal(await world.network.usdcOf(rich.account.address), 0n);
});

test('twenty confirms with one agent token over five intents move the money once', async () => {
  const { account, payerId } = await addWallet(PULLED * 20n);
  const { token } = await mintToken(store, payerId);
  const ids = await Promise.all(Array.from({ length: 5 }, () => addIntent(store)));
  const confirms = Array.from({ length: 20 }, (_, index) =>
    pay(store, { intentId: ids[index % ids.length] ?? '', token }),
  );
  const outcomes = (await Promise.all(confirms)).map(summaryOf);
  assert.equal(outcomes.filter((one) => one === 'succeeded').length, 1, String(outcomes));
  assert.equal(await world.network.usdcOf(account.address), PULLED * 19n);
});

test('a canceled intent is never charged, and a charged one is never canceled', async () => {
  const races = 60;
  const { account, pass } = await addWallet(PULLED * BigInt(races));
  const before = await merchantBalance();
  const race = async () => {
    const intentId = await addIntent(store);
    const tap = pay(store, { intentId, pass });
    await store.db.query('select 1 as head_start');
    const [paid, canceled] = (await Promise.all([tap, cancel(store, intentId)])).map(summaryOf);
    const isPaid = paid === 'succeeded';
    assert.equal(canceled, isPaid ? 'payment_intent_unexpected_state' : 'canceled');
    return isPaid;
  };
  const won = await Promise.all(Array.from({ length: races }, race));
  const paid = BigInt(won.filter((one) => one).length);
  assert.equal(await merchantBalance(), before + AMOUNT * paid);
  const left = await world.network.usdcOf(account.address);
  assert.equal(left, PULLED * (BigInt(races) - paid));
});
