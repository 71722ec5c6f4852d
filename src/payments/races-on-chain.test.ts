import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import { type Loop, startLoop } from '#core/background-loop.ts';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { createAgentToken } from '#payers/create-agent-token.ts';
import { applySettlements } from '#payments/apply-settlements.ts';
import { cancelIntent } from '#payments/cancel-intent.ts';
import { createPreflight } from '#payments/preflight-by-network.ts';
import { type RelayerWorld, startRelayerWorld } from '#testing/relayer-world.ts';
import { addIntent, addPayer, openStore, pay, summaryOf, type TestStore } from '#testing/store.ts';

/** The races of races.test.ts, but with a real contract, node and relayer. */

const AMOUNT = 2_500_000n;
/**
 * The amount that the payer pays: the sale plus the test network's fees of 30 and 20 basis points,
 * less 5 basis points of cashback.
 */
const PULLED = AMOUNT + (AMOUNT * 30n) / 10_000n + (AMOUNT * 20n) / 10_000n - 1250n;

let world: RelayerWorld;
let store: TestStore;
let stopMining: () => Promise<void>;
let applying: Loop;

before(async () => {
  world = await startRelayerWorld();
  stopMining = world.network.mineEvery(100);
  world.startRelayer();
  const { database, wakeups, merchant, network } = world;
  const { merchantNumber } = merchant;
  const preflight = createPreflight([network.chain]);
  store = await openStore({ database, wakeups, merchantNumber, preflight });
  const deps = { ...store, log: silentLog };
  applying = startLoop({
    name: 'settlements',
    pollMs: 50,
    run: () => applySettlements(deps),
    onError: (_name, error) => {
      throw error;
    },
  });
  wakeups.on('chain-outcomes', 'payment', applying.wake);
});

after(async () => {
  await applying.stop();
  await stopMining();
  await world.stop();
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
  const { tenant } = store.merchant;
  const { secret: token } = await store.db.transaction((tx) =>
    createAgentToken(tx, {
      payerId,
      tenant,
      amount: Number(AMOUNT),
      expiresIn: 600,
      now: systemClock.now(),
    }),
  );
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
  const { tenant } = store.merchant;
  const race = async () => {
    const intentId = await addIntent(store);
    const request = { tenant, intentId, idempotency: null, requestId: 'req_test' };
    const tap = pay(store, { intentId, pass });
    await store.db.query('select 1 as head_start');
    const cancel = cancelIntent(store, { ...request, now: systemClock.now() });
    const [paid, canceled] = (await Promise.all([tap, cancel])).map(summaryOf);
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
