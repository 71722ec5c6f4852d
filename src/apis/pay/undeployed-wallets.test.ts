import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeFunctionData, parseAbi, zeroAddress } from 'viem';
import { present } from '#core/assert.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { isKnownDeployment } from '#settlement/chain/read/known-deployments.ts';
import { profileFor, WALLET_FACTORIES } from '#settlement/chain-profiles.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { Readiness } from '#settlement/network-readiness.ts';
import { upsertReport } from '#settlement/readiness-queries.ts';
import { type PayGround, startPayGround, summary } from '#testkit/apis/pay-ground.ts';
import { keyWalletCode, type LinkBody, readLink, sign } from '#testkit/apis/pay-links.ts';
import { serveStore } from '#testkit/apis/store-server.ts';
import {
  addFactories,
  deploymentsIn,
  FACTORIES,
  type FactoryWallet,
  factoryWallet,
  listing,
  wrapping,
} from '#testkit/apis/undeployed-wallets.ts';
import { newWallet } from '#testkit/apis/wallet-sign-in.ts';
import { AMOUNT, PULLED } from '#testkit/fixtures/payments/sale-amounts.ts';
import { TEST_GAS } from '#testkit/fixtures/payments/store.ts';
import { settling } from '#testkit/fixtures/settlement/settling.ts';

/** Time-out for a deployment, whose job needs a block or two. */
const DEPLOYED_MS = 15_000;
/**
 * Within this time (usually 200 ms), a request that waits for a wallet must notice that its caller
 * has disconnected.
 */
const NOTICED_MS = 1_000;

let ground: PayGround;
let settles = true;

/** Starts a network on which the listed wallet factories are deployed. */
async function startGround(
  options: Omit<Parameters<typeof startPayGround>[0] & object, 'overrides'> = {},
): Promise<PayGround> {
  const started = await startPayGround({ ...options, overrides: listing });
  await addFactories(started.world.network);
  return started;
}

before(async () => {
  // Compiles the wallet contract before the relayer starts: the compiler blocks this process for
  // seconds.
  keyWalletCode(zeroAddress);
  const readiness: Readiness = {
    ...settling,
    of: () => ({ settles, reasons: settles ? [] : ['paused'] }),
  };
  ground = await startGround({ readiness });
});

after(() => ground.close());

interface Made extends NonNullable<Parameters<typeof factoryWallet>[0]> {
  readonly usdc?: bigint;
  readonly on?: PayGround;
}

/** Returns a wallet that is not deployed yet, but has USDC. */
async function newUndeployed(made: Made = {}): Promise<FactoryWallet> {
  const { usdc = PULLED, on = ground } = made;
  const wallet = factoryWallet(made);
  if (usdc > 0n) await on.mint(wallet.from, usdc);
  return wallet;
}

async function pay({ from, account }: FactoryWallet, on = ground) {
  const { intentId, token } = await on.newLink();
  const wrapped = await sign(account, await readLink(on.server.pay, token, from));
  const send = async () => {
    const answer = await on.authorize(token, from, wrapped);
    return { answer: summary(answer), message: answer.body.error?.message ?? '' };
  };
  return { intentId, token, wrapped, send };
}

const deployments = (on: PayGround = ground) => deploymentsIn(on.store.db);

async function codeOf(address: Hex, on: PayGround = ground): Promise<Hex> {
  return (await on.world.network.rpc.call('eth_getCode', [address, 'latest'])) as Hex;
}

test('a wallet whose factory is not listed gets the remedy, and costs nothing', async () => {
  const { answer, message } = await (
    await pay(await newUndeployed({ factory: FACTORIES.unlisted }))
  ).send();
  assert.equal(answer, '400 wallet_not_deployed');
  assert.match(
    message,
    /does not deploy wallets from its factory, .* Send any transaction from it/,
  );
  assert.deepEqual(await deployments(), []);
});

test('a wallet that could not pay, or did not sign, is not deployed', async () => {
  const poor = await (await pay(await newUndeployed({ usdc: 0n }))).send();
  assert.equal(poor.answer, '200 insufficient_funds');
  const forged = await (await pay(await stolen())).send();
  assert.equal(forged.answer, '400 signature_invalid');
  assert.deepEqual(await deployments(), []);
});

/** Returns a wallet whose signatures come from someone else's key. */
async function stolen(): Promise<FactoryWallet> {
  const wallet = await newUndeployed();
  return { ...wallet, account: wrapping(newWallet(), wallet) };
}

test('no wallet is deployed while nothing is settled', async () => {
  const { send } = await pay(await newUndeployed());
  settles = false;
  const { answer, message } = await send();
  settles = true;
  assert.equal(answer, '503 service_unavailable');
  assert.match(message, /is not settling payments right now \(paused\)/);
  assert.deepEqual(await deployments(), []);
});

test('a chip whose address is such a wallet gets the remedy at the till', async () => {
  // At a till, wallets are not simulated, so the answer is the same for listed and unlisted
  // factories.
  for (const factory of [FACTORIES.honest, FACTORIES.unlisted]) await tapUndeployed(factory);
  assert.deepEqual(await deployments(), []);
});

async function tapUndeployed(factory: Hex): Promise<void> {
  const { from, account } = await newUndeployed({ factory });
  const { intentId } = await ground.newLink();
  const path = `/payment_intents/${intentId}/authorization`;
  const till = ground.server.device();
  const reply = await till.get(`${path}?from=${from}`);
  const signature = await sign(account, reply.body as unknown as LinkBody);
  const answer = await till.post(path, { from, signature });
  assert.equal(summary(answer), '400 wallet_not_deployed');
  assert.match(answer.body.error?.message ?? '', /Scan the code on the till with the wallet/);
}

test('a wallet is deployed once, before its first payment', async () => {
  const wallet = await newUndeployed({ usdc: 2n * PULLED });
  const first = await pay(wallet);
  const both = await Promise.all([first.send(), first.send()]);
  assert.deepEqual(
    both.map(({ answer }) => answer),
    ['200 succeeded', '200 succeeded'],
  );
  assert.notEqual(await codeOf(wallet.from), '0x');
  assert.deepEqual(await deployments(), ['succeeded']);
  assert.equal((await (await pay(wallet)).send()).answer, '200 succeeded');
  assert.equal(await ground.world.network.usdcOf(wallet.from), 0n);
  assert.deepEqual(await deployments(), ['succeeded']);
});

test('a wallet that confirms its signature only at first is declined, unpaid', async () => {
  const wallet = await newUndeployed({ manner: 'two_faced' });
  assert.equal((await (await pay(wallet)).send()).answer, '200 authorization_refused');
  assert.equal(await ground.world.network.usdcOf(wallet.from), PULLED);
});

test('a hostile factory costs one transaction, and a caller has three an hour', async () => {
  const { answer, message } = await (
    await pay(await newUndeployed({ factory: FACTORIES.hostile }))
  ).send();
  assert.equal(answer, '400 wallet_not_deployed');
  assert.match(message, /could not be deployed/);
  assert.deepEqual(await deployments(), ['succeeded', 'succeeded', 'failed']);
  const next = await pay(await newUndeployed());
  assert.equal((await next.send()).answer, '429 rate_limit_exceeded');
  const buckets = await ground.store.db.query<{ bucket: string }>(
    `select bucket from sign_in_attempts where bucket like '%link ' || $1`,
    [next.intentId],
  );
  assert.deepEqual(buckets, [], 'a caller over the limit does not use up the link of others');
  assert.equal((await deployments()).length, 3);
});

test('a factory call that would run unknown code is refused before it costs gas', async () => {
  const before = await deployments();
  const factoryAbi = parseAbi([
    'function createProxyWithNonce(address, bytes, uint256)',
    'function createProxyWithCallback(address, bytes, uint256, address)',
    'function createAccount(bytes[], uint256)',
  ]);
  const setup = (to: Hex, data: Hex) =>
    encodeFunctionData({
      abi: parseAbi([
        'function setup(address[], uint256, address, bytes, address, address, uint256, address)',
      ]),
      args: [[zeroAddress], 1n, to, data, zeroAddress, zeroAddress, 0n, zeroAddress],
    });
  const foreign = ground.world.network.config.usdc;
  const calls = [
    ['createProxyWithNonce', [foreign, setup(zeroAddress, '0x'), 1n]],
    ['createProxyWithNonce', [foreign, setup(foreign, '0x12345678'), 1n]],
    ['createProxyWithNonce', [foreign, '0x12345678', 1n]],
    ['createProxyWithCallback', [foreign, setup(zeroAddress, '0x'), 1n, foreign]],
    ['createAccount', [['0x1234'], 1n]],
  ] as const;
  const { rpc } = ground.world.network;
  for (const [functionName, args] of calls) {
    const data = encodeFunctionData({ abi: factoryAbi, functionName, args } as never);
    for (const factory of [FACTORIES.honest, WALLET_FACTORIES[2] ?? zeroAddress]) {
      await rpc.call('anvil_setCode', [factory, await codeOf(FACTORIES.honest)]);
      const wallet = await newUndeployed();
      const account = wrapping(newWallet(), { from: wallet.from, factory, data });
      const { answer, message } = await (await pay({ ...wallet, account })).send();
      assert.equal(answer, '400 wallet_not_deployed', functionName);
      assert.match(message, /only wallets whose code and initializer it knows/);
    }
  }
  const known = encodeFunctionData({
    ...{ abi: factoryAbi, functionName: 'createAccount' },
    args: [[`0x${'11'.repeat(32)}`, `0x${'22'.repeat(64)}`], 1n],
  });
  const { chain } = ground.world.network;
  assert.ok(await isKnownDeployment(chain, { factory: FACTORIES.honest, data: known }));
  assert.deepEqual(await deployments(), before);
});

test('no wallet is deployed for a sale below the least, nor where others have failed', async () => {
  const least = await startGround({ gas: { deployFrom: AMOUNT + 1 } });
  try {
    const small = await (await pay(await newUndeployed({ on: least }), least)).send();
    assert.equal(small.answer, '400 wallet_not_deployed');
    assert.match(small.message, /only for sales of at least 2500001 atoms/);
    assert.deepEqual(await deployments(least), []);
    const wallet = await newUndeployed({ on: least, usdc: 2n * PULLED });
    const { token } = await least.newLink(AMOUNT + 1);
    const wrapped = await sign(
      wallet.account,
      await readLink(least.server.pay, token, wallet.from),
    );
    await least.store.db.query(
      `insert into gas_spending
         (livemode, kind, subject_id, wallet, trusted, door, gas, failed, created)
       select false, 'payment', 'other', '0x1', false, 'link ' || id, 1, true, now()
       from payment_intents, generate_series(1, 2)`,
    );
    const answer = await least.authorize(token, wallet.from, wrapped);
    assert.equal(summary(answer), '429 rate_limit_exceeded');
    assert.deepEqual(await deployments(least), []);
    await least.store.db.query('delete from gas_spending');
    assert.equal(summary(await least.authorize(token, wallet.from, wrapped)), '200 succeeded');
  } finally {
    await least.close();
  }
});

test('rates that changed after the wallet signed are found before it is deployed', async () => {
  await ground.store.db.query('delete from sign_in_attempts');
  const { send } = await pay(await newUndeployed());
  await ground.changeRates({ acquirer: 31, protocol: 20, cashback: 5 });
  const before = await deployments();
  assert.equal((await send()).answer, '200 authorization_refused');
  assert.deepEqual(await deployments(), before);
});

test('the gas of a day is a limit, with an alarm for the operator', async () => {
  const perDay = { ...TEST_GAS.perDay, wallet_deployment: 1_000_000 };
  const small = await startGround({ gas: { perDay } });
  try {
    const first = await pay(await newUndeployed({ on: small }), small);
    assert.equal((await first.send()).answer, '200 succeeded');
    const next = await (await pay(await newUndeployed({ on: small }), small)).send();
    assert.equal(next.answer, '429 rate_limit_exceeded');
    assert.match(next.message, /deploys no more wallets for now/);
    const alarms = await small.store.db.query(
      'select kind, subject, details from chain_alarms order by id',
    );
    const details = { gas_per_day: 1_000_000 };
    const counted = await small.store.db.query<{ attempts: number }>(
      `select attempts from sign_in_attempts
       where bucket like 'wallet deployments%' and attempts > 0`,
    );
    const counts = counted.map(({ attempts }) => attempts);
    assert.deepEqual(counts, [1, 1], 'the refused deployment counts toward no limit');
    assert.deepEqual(alarms, [
      { kind: 'gas_budget_half', subject: 'testnet wallet_deployment', details },
      { kind: 'wallet_deployment_limit', subject: 'testnet', details },
    ]);
    assert.deepEqual(await deployments(small), ['succeeded']);
  } finally {
    await small.close();
  }
});

test('a deployment whose cost the fees of its sale cover does not count', async () => {
  const counted = async (priceUnit: 'USD' | 'coin') => {
    const profile = present(profileFor(null, 31_337), 'profile');
    const priced = { ...profile, coin: { ...profile.coin, priceUnit } };
    const on = await startPayGround({ overrides: () => ({ ...listing(), profile: priced }) });
    try {
      await addFactories(on.world.network);
      const paid = await (await pay(await newUndeployed({ on }), on)).send();
      assert.equal(paid.answer, '200 succeeded');
      const rows = await on.store.db.query(
        `select from gas_spending where kind = 'wallet_deployment'`,
      );
      return rows.length;
    } finally {
      await on.close();
    }
  };
  assert.deepEqual([await counted('USD'), await counted('coin')], [0, 1]);
});

test('if remote signers hold all keys, a wallet is refused and nothing is counted', async () => {
  const idle = await startGround({ isIdle: true });
  try {
    const report = { reasons: [], senders: 1, fundedSenders: 1, paymentsLeft: null, contracts: 1 };
    const worker = { livemode: false, owner: 'behind a signer' };
    await upsertReport(idle.store.db, worker, { ...report, deploysWallets: false });
    const paying = await pay(await newUndeployed({ on: idle }), idle);
    const { answer, message } = await paying.send();
    assert.equal(answer, '400 wallet_not_deployed');
    assert.match(message, /this network does not deploy wallets\. Send any transaction from it/);
    const counted = `select from sign_in_attempts where bucket like 'wallet deployments%'`;
    assert.deepEqual([await idle.store.db.query(counted), await deployments(idle)], [[], []]);
    const other = { ...worker, owner: 'with a key' };
    await upsertReport(idle.store.db, other, { ...report, deploysWallets: true });
    idle.world.startRelayer();
    assert.equal((await paying.send()).answer, '200 succeeded');
  } finally {
    await idle.close();
  }
});

test('a payment that was cut off while its wallet was deployed continues as signed', async () => {
  const idle = await startGround({ isIdle: true });
  try {
    const wallet = await newUndeployed({ on: idle });
    const { intentId, token, wrapped } = await pay(wallet, idle);
    const cut = new AbortController();
    const body = JSON.stringify({ from: wallet.from, signature: wrapped });
    const url = `${idle.server.url}/api/pay/v1/${token}/authorization`;
    const headers = { 'content-type': 'application/json' };
    const first = fetch(url, { method: 'POST', headers, body, signal: cut.signal });
    assert.ok(await waitUntil(async () => (await deployments(idle)).length === 1, DEPLOYED_MS));
    cut.abort();
    await assert.rejects(first);
    await sleep(NOTICED_MS);
    idle.world.startRelayer();
    const isDeployed = async () => (await codeOf(wallet.from, idle)) !== '0x';
    assert.ok(await waitUntil(isDeployed, DEPLOYED_MS));
    assert.equal(await idle.requestsOf(intentId), 0, 'nothing is charged without the payer');
    const another = await serveStore(idle.store, { chains: [idle.world.network.chain] });
    const path = `/${token}/authorization`;
    const again = await another.pay.post(path, { from: wallet.from, signature: wrapped });
    await another.close();
    assert.equal(summary(again), '200 succeeded');
    assert.deepEqual(await deployments(idle), ['succeeded']);
    assert.equal(await idle.requestsOf(intentId), 1);
  } finally {
    await idle.close();
  }
});
