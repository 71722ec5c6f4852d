import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { generatePrivateKey, type PrivateKeyAccount } from 'viem/accounts';
import { type Loop, startLoop } from '#core/background-loop.ts';
import { silentLog } from '#observability/log.ts';
import { applyPayerRequests } from '#payers/apply-payer-results.ts';
import { applySettlements } from '#payments/apply-settlements.ts';
import { createPreflight } from '#payments/preflight-by-network.ts';
import { readFeeRates } from '#settlement/chain/fees/fee-rates.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import { policyCall, transferCall } from '#settlement/contract/contract-calls.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import { type Caller, caller } from '#testkit/apis/api-client.ts';
import { declineCodeOf, errorCodeOf } from '#testkit/apis/error-code.ts';
import { type SignedIn, type StoreServer, serveStore } from '#testkit/apis/store-server.ts';
import { tap } from '#testkit/apis/tap.ts';
import { newWallet } from '#testkit/apis/wallet-sign-in.ts';
import { signPermitOn, signPolicyOn, TERMS } from '#testkit/fixtures/payers/sign-approval.ts';
import { signTransfer as signTransferOn } from '#testkit/fixtures/payers/sign-transfer.ts';
import { addIntent, openStore, type TestStore } from '#testkit/fixtures/payments/store.ts';
import {
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';
import { heldAccount } from '#testkit/network/held-key.ts';
import { takePermit } from '#testkit/network/token-without-permit.ts';

/**
 * Tests a payer's whole path on a real chain: from an empty wallet to a payment, without any gas.
 */

let world: RelayerWorld;
let store: TestStore;
let server: StoreServer;
let network: NetworkConfig;
let stopMining: () => Promise<void>;
const loops: Loop[] = [];

function startApplying(name: string, run: () => Promise<boolean>): void {
  const onError = (_name: string, error: unknown) => {
    throw error;
  };
  loops.push(startLoop({ name, pollMs: 30, run, onError }));
}

before(async () => {
  world = await startRelayerWorld(() => ({ sponsorKey: generatePrivateKey() }));
  network = world.network.config;
  stopMining = world.network.mineEvery(100);
  world.startRelayer();
  const { database, wakeups, merchant } = world;
  const chains = [world.network.chain];
  const preflight = createPreflight(chains);
  const { merchantNumber } = merchant;
  store = await openStore({ database, wakeups, merchantNumber, preflight });
  server = await serveStore(store, { chains });
  const deps = { ...store, log: silentLog };
  startApplying('settlements', () => applySettlements(deps));
  startApplying('approvals', () => applyPayerRequests(deps, 'enrolment'));
  startApplying('transfers', () => applyPayerRequests(deps, 'transfer'));
  startApplying('test funds', () => applyPayerRequests(deps, 'faucet'));
});

after(async () => {
  await Promise.all(loops.map((loop) => loop.stop()));
  await stopMining();
  await server.close();
  await world.stop();
});

interface Nonces {
  readonly permit: number;
  readonly policy: number;
}

async function noncesOf(me: Caller): Promise<Nonces> {
  return (await me.get('/approvals')).body.nonces as Nonces;
}

const signPolicy = (account: PrivateKeyAccount, nonce: number, terms = TERMS) =>
  signPolicyOn(network, { account, nonce, terms });
const signPermit = (account: PrivateKeyAccount, nonce: number, value?: number) =>
  signPermitOn(network, { account, nonce, ...(value === undefined ? {} : { value }) });

async function approve({ account, me }: SignedIn) {
  const nonces = await noncesOf(me);
  return me.post('/approvals', {
    permit: await signPermit(account, nonces.permit),
    policy: await signPolicy(account, nonces.policy),
  });
}

test('the messages from GET /approvals can be signed unchanged, and then pay', async () => {
  const { me, account } = await server.signIn();
  const pass = (await me.post('/passes', {})).body;
  await me.post('/faucet', { amount: 50_000_000 });
  const { to_sign: ready } = (await me.get('/approvals')).body as {
    to_sign: Record<'permit' | 'policy', { typed_data: object; body: object }>;
  };
  const signed = async ({ typed_data: typed, body }: { typed_data: object; body: object }) => ({
    ...body,
    signature: await account.signTypedData(typed as never),
  });
  const only = await me.post('/approvals', { permit: await signed(ready.permit) });
  assert.equal(only.body.status, 'succeeded');
  const intentId = await addIntent(store);
  const pay = () => tap(server.device(), intentId, String(pass.nfc_id));
  const { body } = await pay();
  const refused = body.last_payment_error as { decline_code: string; message: string };
  assert.equal(refused.decline_code, 'approval_insufficient');
  assert.match(refused.message, /a token permit and a spending policy/);
  const { to_sign: next } = (await me.get('/approvals')).body as { to_sign: typeof ready };
  const policy = await me.post('/approvals', { policy: await signed(next.policy) });
  assert.equal(policy.body.status, 'succeeded');
  assert.equal((await pay()).body.status, 'succeeded');
});

describe('a new wallet', () => {
  test('gets funds, approves without gas, and pays', async () => {
    const owner = await server.signIn();
    const { me, account } = owner;
    const pass = (await me.post('/passes', {})).body;
    const funded = await me.post('/faucet', { amount: 50_000_000 });
    assert.equal(funded.body.status, 'succeeded');
    assert.equal((await me.get('/approvals')).body.balance, 50_000_000);

    const intentId = await addIntent(store);
    const pay = () => tap(server.device(), intentId, String(pass.nfc_id));
    assert.equal(declineCodeOf((await pay()).body), 'approval_insufficient');

    const approved = await approve(owner);
    assert.equal(approved.status, 201);
    assert.equal(approved.body.status, 'succeeded');
    const followed = await me.get(`/approvals/${approved.body.id}`);
    assert.deepEqual(followed.body, approved.body);
    const stranger = await server.signIn();
    assert.equal((await stranger.me.get(`/approvals/${approved.body.id}`)).status, 404);
    assert.equal(await world.network.chain.nonces([account.address]).then(([n]) => n), 0n);
    const wallet = (await me.get('/approvals')).body;
    assert.deepEqual(wallet.fee_rates, await readFeeRates(world.network.chain));
    assert.equal(wallet.allowance, 400_000_000);
    assert.equal((wallet.policy as { per_payment: number }).per_payment, 100_000_000);

    const paid = await pay();
    assert.equal(paid.body.status, 'succeeded');
    const [payment] = (await me.get('/payments')).body.data as { tx_hash: string }[];
    assert.equal(payment?.tx_hash, paid.body.tx_hash);
  });

  test('changes its policy alone, and raises its allowance alone', async () => {
    const owner = await server.signIn();
    const { me, account } = owner;
    await approve(owner);
    const nonces = await noncesOf(me);
    const lower = { ...TERMS, per_payment: 5_000_000 };
    const policy = await signPolicy(account, nonces.policy, lower);
    assert.equal((await me.post('/approvals', { policy })).body.status, 'succeeded');
    const permit = await signPermit(account, nonces.permit, 900_000_000);
    assert.equal((await me.post('/approvals', { permit })).body.status, 'succeeded');
    const wallet = (await me.get('/approvals')).body;
    assert.equal((wallet.policy as { per_payment: number }).per_payment, 5_000_000);
    assert.equal(wallet.allowance, 900_000_000);
  });
});

describe('an approval is refused before it costs gas', () => {
  const change = (field: string, value: unknown) => (signed: object) => ({
    ...signed,
    [field]: value,
  });
  const wrong: readonly (readonly [string, (policy: object) => object, string])[] = [
    ['when other terms were signed', change('per_payment', 99_999_999), 'policy.signature'],
    ['when its deadline is over', change('deadline', 1_700_000_000), 'policy.deadline'],
    ['when it has expired', change('expires_at', 1_700_000_000), 'policy.expires_at'],
    ['when a period allows less than a payment', change('per_period', 1), 'policy.per_period'],
    ['with a bad signature', change('signature', `0x${'00'.repeat(65)}`), 'policy.signature'],
  ];
  for (const [what, mangle, param] of wrong) {
    test(what, async () => {
      const { me, account } = await server.signIn();
      const policy = mangle(await signPolicy(account, 0));
      const { status, body } = await me.post('/approvals', { policy });
      assert.equal(status, 400);
      assert.equal(body.error?.param, param);
    });
  }

  test('when another wallet has signed', async () => {
    const { me } = await server.signIn();
    const permit = await signPermit(newWallet(), 0);
    assert.equal((await me.post('/approvals', { permit })).status, 400);
  });

  test('when its nonce was used: a signature works once', async () => {
    const owner = await server.signIn();
    const policy = await signPolicy(owner.account, 0);
    assert.equal((await owner.me.post('/approvals', { policy })).status, 201);
    assert.equal((await owner.me.post('/approvals', { policy })).status, 400);
  });

  test('when its permit does not cover the dearest payment and its fees', async () => {
    const { me, account } = await server.signIn();
    const fees = (TERMS.per_payment * TERMS.max_fee_rate) / 10_000;
    const policy = await signPolicy(account, 0);
    const permit = await signPermit(account, 0, TERMS.per_payment + fees - 1);
    const { status, body } = await me.post('/approvals', { permit, policy });
    assert.equal(status, 400);
    assert.equal(body.error?.param, 'permit.value');
    const enough = await signPermit(account, 0, TERMS.per_payment + fees);
    assert.equal(
      (await me.post('/approvals', { permit: enough, policy })).body.status,
      'succeeded',
    );
  });

  test('when it is empty', async () => {
    const { me } = await server.signIn();
    const { status, body } = await me.post('/approvals', {});
    assert.equal(status, 400);
    assert.equal(errorCodeOf(body), 'parameter_missing');
  });
});

const GWEI = 10n ** 9n;
type Answer = Awaited<ReturnType<Caller['post']>>;

/**
 * Sends a call from another account, with a higher fee than the relayer, so that it is mined first.
 */
async function sendFirst(to: `0x${string}`, data: `0x${string}`): Promise<void> {
  const { admin, rpc, chain, mine } = world.network;
  const [sent] = await chain.nonces([admin.address]);
  const raw = await admin.signTransaction({
    ...{ type: 'eip1559', chainId: network.chainId, nonce: Number(sent), to, data },
    ...{ gas: 200_000n, maxFeePerGas: 50n * GWEI, maxPriorityFeePerGas: 5n * GWEI },
  });
  const hash = (await rpc.call('eth_sendRawTransaction', [raw])) as `0x${string}`;
  await mine();
  assert.equal((await chain.receipts([hash]))[0]?.succeeded, true, 'the stranger was first');
}

/** Stops mining until both the relayer's and the stranger's transaction are pending. */
async function overtake(hand: () => Promise<Answer>, stranger: () => Promise<void>) {
  await stopMining();
  try {
    const sending = hand();
    await world.network.pending();
    await stranger();
    return { sending };
  } finally {
    stopMining = world.network.mineEvery(100);
  }
}

test('an approval that the chain refuses names the reason and the remedy', async () => {
  const { me, account } = await server.signIn();
  const policy = await signPolicy(account, 0);
  const other = await signPolicy(account, 0, { ...TERMS, per_payment: 5_000_000 });
  const data = policyCall(account.address, {
    perPaymentCap: `${other.per_payment}`,
    periodCap: `${other.per_period}`,
    periodSeconds: `${other.period_seconds}`,
    expiry: `${other.expires_at}`,
    maxFeeRate: `${other.max_fee_rate}`,
    nonce: '0',
    deadline: `${other.deadline}`,
    signature: other.signature,
  });
  const hand = () => me.post('/approvals', { policy });
  const { sending } = await overtake(hand, () => sendFirst(network.settlement, data));
  const { id } = (await sending).body;
  let failed = (await me.get(`/approvals/${id}`)).body;
  while (failed.status === 'pending') {
    await sleep(20);
    failed = (await me.get(`/approvals/${id}`)).body;
  }
  assert.equal(failed.status, 'failed');
  assert.match(String(failed.failure_code), /^[a-z_]+$/);
  assert.match(String(failed.failure_message), /^The chain rejected the approval: .* Sign/);
  const again = await me.post('/approvals', { policy: await signPolicy(account, 1) });
  assert.deepEqual([again.body.status, again.body.failure_message], ['succeeded', null]);
});

test('of two concurrent approvals, one is relayed and the other must wait', async () => {
  const owner = await server.signIn();
  const policy = await signPolicy(owner.account, 0);
  const both = [owner.me.post('/approvals', { policy }), owner.me.post('/approvals', { policy })];
  const statuses = (await Promise.all(both)).map(({ status }) => status).sort();
  assert.deepEqual(statuses, [201, 409]);
});

describe('USDC is sent out while the operator pays the gas', () => {
  const STRANGER = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

  const signTransfer = (
    account: PrivateKeyAccount,
    { to = STRANGER }: { to?: `0x${string}` } = {},
  ) => signTransferOn(network, account, { to, amount: 2_500_000 });

  test('once for each authorization, three times a day', async () => {
    const { me, account } = await server.signIn();
    await me.post('/faucet', { amount: 50_000_000 });
    const first = await signTransfer(account);
    const sent = await me.post('/transfers', first);
    assert.equal(sent.status, 201);
    assert.equal(sent.body.object, 'transfer');
    assert.equal(sent.body.status, 'succeeded');
    const again = await me.post('/transfers', first);
    assert.equal(again.body.id, sent.body.id, 'the same nonce is the same transfer');
    const wallet = (await me.get('/approvals')).body;
    assert.equal(wallet.balance, 47_500_000);
    assert.deepEqual(wallet.gasless, { left_today: 2, least: 1_000_000 });
    assert.equal(await world.network.chain.nonces([account.address]).then(([n]) => n), 0n);
    const others = [await signTransfer(account), await signTransfer(account)];
    await Promise.all(others.map((one) => me.post('/transfers', one)));
    const fourth = await me.post('/transfers', await signTransfer(account));
    assert.equal(fourth.status, 429);
    assert.equal((await me.get('/approvals')).body.balance, 42_500_000);
  });

  test('thirty times an hour from one address, 600 in all, and then an alarm', async () => {
    const fill = (bucket: string, attempts: number) =>
      store.db.query(
        `insert into sign_in_attempts (bucket, attempts, since) values ($1, $2, now())
         on conflict (bucket) do update set attempts = excluded.attempts, since = excluded.since`,
        [bucket, attempts],
      );
    const sendFromNewWallet = async () => {
      const { me, account } = await server.signIn();
      await me.post('/faucet', { amount: 5_000_000 });
      return me.post('/transfers', await signTransfer(account));
    };
    const alarms = () =>
      store.db.query(`select livemode from chain_alarms where kind = 'gasless_limit'`);
    await fill('transfers testnet address 127.0.0.1', 29);
    assert.equal((await sendFromNewWallet()).status, 201);
    const refused = await sendFromNewWallet();
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get('retry-after')) > 3_000);
    assert.deepEqual(await alarms(), []);
    await fill('transfers testnet address 127.0.0.1', 0);
    await fill('transfers testnet in all', 600);
    assert.equal((await sendFromNewWallet()).status, 429);
    assert.deepEqual(await alarms(), [{ livemode: false }]);
    await store.db.query("delete from sign_in_attempts where bucket like 'transfers %'");
  });

  test('not while the sponsor has less than 2 % of its target balance', async () => {
    const { address } = heldAccount(network.sponsorKey);
    const { rpc, chain } = world.network;
    const [before = 0n] = await chain.balances([address]);
    const { me, account } = await server.signIn();
    await me.post('/faucet', { amount: 5_000_000 });
    await rpc.call('anvil_setBalance', [address, '0x1']);
    await sleep(1_100); // Balances are cached for one second.
    assert.equal((await me.get('/approvals')).body.gasless, null);
    const refused = await me.post('/transfers', await signTransfer(account));
    assert.equal(errorCodeOf(refused.body), 'not_configured');
    await rpc.call('anvil_setBalance', [address, `0x${before.toString(16)}`]);
    await sleep(1_100);
    const sent = await me.post('/transfers', await signTransfer(account));
    assert.equal(sent.status, 201);
  });

  test('by a sender of its own, which no sale waits behind', async () => {
    const { me, account } = await server.signIn();
    await me.post('/faucet', { amount: 5_000_000 });
    const sent = await me.post('/transfers', await signTransfer(account));
    assert.equal(sent.body.status, 'succeeded');
    const senders = await world.database.db.query<{ role: string; address: string }>(
      `select l.role, l.address from relayer_senders l
       join chain_transactions t on t.livemode = l.livemode and t.sender = l.sender
       join chain_requests r on r.transaction_id = t.id where r.subject_id = $1`,
      [sent.body.id],
    );
    const { address } = heldAccount(network.sponsorKey);
    assert.deepEqual(senders, [{ role: 'sponsor', address }]);
  });

  type Signed = Awaited<ReturnType<typeof signTransfer>>;

  /**
   * Submits the signature to the token before the relayer does, like a stranger who has seen it and
   * pays more gas.
   */
  async function sendAsStranger(from: PrivateKeyAccount, signed: Signed): Promise<void> {
    const { to, amount, valid_before, nonce, signature } = signed;
    const moved = { from: from.address, to: to as `0x${string}`, amount: String(amount) };
    const data = transferCall({ ...moved, validBefore: String(valid_before), nonce, signature });
    await sendFirst(network.usdc, data);
  }

  /** Deletes the transfer's rows, as if a backup from before it had been restored. */
  async function forget(id: unknown): Promise<void> {
    await store.db.query('delete from payer_transfers where request_id = $1', [id]);
    await store.db.query('delete from payer_requests where id = $1', [id]);
  }

  test('and succeeds even if a stranger submits the same signature first', async () => {
    const { me, account } = await server.signIn();
    await me.post('/faucet', { amount: 50_000_000 });
    const signed = await signTransfer(account);
    await sendAsStranger(account, signed);
    const told = await me.post('/transfers', signed);
    assert.equal(told.body.status, 'succeeded', 'a client that reads "failed" sends it again');
    assert.match(String(told.body.tx_hash), /^0x[0-9a-f]{64}$/);
    const second = await signTransfer(account);
    const hand = () => me.post('/transfers', second);
    const { sending } = await overtake(hand, () => sendAsStranger(account, second));
    assert.equal((await sending).body.status, 'succeeded', 'in the same block');
    assert.equal((await me.get('/approvals')).body.balance, 45_000_000);
  });

  test('and stays pending while the token refuses it and could still accept it', async () => {
    const { me, account } = await server.signIn();
    await me.post('/faucet', { amount: 4_000_000 });
    const [first, other] = [await signTransfer(account), await signTransfer(account)];
    const hand = () => me.post('/transfers', first);
    const { sending } = await overtake(hand, () => sendAsStranger(account, other));
    // Waits until the relayer has tried once: the transfer reverts for lack of funds. Whoever has
    // seen the signature can submit it later, once the wallet has enough.
    const triedBefore = async () => {
      const rows = await store.db.query<{ tries: number }>(
        `select tries from chain_requests where kind = 'transfer' and payload->>'nonce' = $1`,
        [first.nonce],
      );
      return rows[0]?.tries;
    };
    while ((await triedBefore()) !== 1) await sleep(20);
    await me.post('/faucet', { amount: 10_000_000 });
    assert.equal((await sending).body.status, 'succeeded');
    assert.equal((await me.get('/approvals')).body.balance, 9_000_000);
  });

  test('and is found again after the database was restored to before it', async () => {
    const { me, account } = await server.signIn();
    await me.post('/faucet', { amount: 3_000_000 });
    const signed = await signTransfer(account);
    const sent = await me.post('/transfers', signed);
    await forget(sent.body.id);
    // The wallet now has too little for the amount. If the service refused the repeated request,
    // the app would send the money again.
    const again = await me.post('/transfers', signed);
    assert.notEqual(again.body.id, sent.body.id);
    assert.deepEqual(
      [again.status, again.body.status, again.body.tx_hash],
      [201, 'succeeded', sent.body.tx_hash],
    );
    assert.equal((await me.get('/approvals')).body.balance, 500_000);
  });

  test('and stays known when its payer erases all data', async () => {
    const { me, account } = await server.signIn();
    await me.post('/faucet', { amount: 3_000_000 });
    const signed = await signTransfer(account);
    const sent = await me.post('/transfers', signed);
    assert.equal((await me.post('/me/erase')).status, 204);
    const later = await server.signIn({ account });
    const again = await later.me.post('/transfers', signed);
    assert.deepEqual([again.status, again.body.id], [201, sent.body.id]);
  });

  const wrong: readonly (readonly [string, () => object, string])[] = [
    ['to an address with a wrong checksum', () => ({ to: STRANGER.replace('F79', 'f79') }), 'to'],
    ['to the token', () => ({ to: network.usdc }), 'to'],
    ['to the settlement contract', () => ({ to: network.settlement }), 'to'],
    ['to the zero address', () => ({ to: `0x${'0'.repeat(40)}` }), 'to'],
    ['of less than 1 USDC', () => ({ amount: 999_999 }), 'amount'],
    ['of more than there is', () => ({ amount: 50_000_001 }), 'amount'],
    ['that has expired', () => ({ valid_before: 1_700_000_000 }), 'valid_before'],
    ['of another amount than signed', () => ({ amount: 2_500_001 }), 'signature'],
  ];
  test('never to the zero address, nor for anything that the wallet did not sign', async () => {
    const { me, account } = await server.signIn();
    await me.post('/faucet', { amount: 50_000_000 });
    for (const [what, changes, param] of wrong) {
      const signed = await signTransfer(account);
      const { status, body } = await me.post('/transfers', { ...signed, ...changes() });
      assert.equal(status, 400, what);
      assert.equal(body.error?.param, param, what);
    }
    const itself = await me.post(
      '/transfers',
      await signTransfer(account, { to: account.address }),
    );
    assert.match(itself.body.error?.message ?? '', /this wallet itself/);
    const foreign = await me.post('/transfers', await signTransfer(newWallet()));
    assert.equal(foreign.body.error?.param, 'signature');
    assert.equal((await me.get('/approvals')).body.balance, 50_000_000);
  });
});

test('a visitor can list the networks, the test network first', async () => {
  const visitor = caller(`${server.url}/api/payer/v1`, 'none');
  const { status, body } = await visitor.get('/networks');
  assert.equal(status, 200);
  const { chainId, usdc, usdcDomain, settlement } = network;
  assert.deepEqual(body.data, [
    {
      object: 'network',
      livemode: false,
      network: 'testnet',
      chain_id: chainId,
      usdc,
      usdc_domain: usdcDomain,
      settlement,
      rpc_url: null,
      pass_files: [],
      settlement_timeout_seconds: 60,
      top_up: null,
    },
  ]);
});

test('there is no faucet of real money', async () => {
  const live = await serveStore(store);
  const { me } = await live.signIn({ chainId: 31_338 });
  assert.equal((await me.post('/faucet', {})).status, 404);
  await live.close();
});

test('where the token takes no permits, the wallet sends an approval and pays', async () => {
  const { rpc } = world.network;
  const giveBack = await takePermit({ rpc, usdc: network.usdc });
  const chain = await openChain(network, silentLog);
  const without = await serveStore(store, { chains: [chain] });
  try {
    const { me, account } = await without.signIn();
    const pass = (await me.post('/passes', {})).body;
    await me.post('/faucet', { amount: 50_000_000 });
    const wallet = (await me.get('/approvals')).body as {
      nonces: { permit: null };
      to_sign: { permit: null; policy: { typed_data: object; body: object } };
      to_send: { to: `0x${string}`; data: `0x${string}` };
    };
    assert.equal(wallet.nonces.permit, null);
    assert.equal(wallet.to_sign.permit, null);
    const refused = await me.post('/approvals', { permit: await signPermit(account, 0) });
    assert.equal(refused.status, 400);
    assert.match(refused.body.error?.message ?? '', /has no permits/);

    await rpc.call('anvil_setBalance', [account.address, '0xde0b6b3a7640000']);
    await world.network.send(account, wallet.to_send.to, wallet.to_send.data);
    const { typed_data: typed, body } = wallet.to_sign.policy;
    const policy = { ...body, signature: await account.signTypedData(typed as never) };
    assert.equal((await me.post('/approvals', { policy })).body.status, 'succeeded');
    const paid = await tap(without.device(), await addIntent(store), String(pass.nfc_id));
    assert.equal(paid.body.status, 'succeeded');
  } finally {
    await without.close();
    await chain.close();
    await giveBack();
  }
});
