import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { encodeFunctionData, numberToHex, parseEther } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { applyWalletOutcomes } from '#payouts/apply-wallet-changes.ts';
import { followAllWallets, followWallets } from '#payouts/follow-wallets.ts';
import { readMerchantWallets } from '#settlement/chain/read/merchant-wallets.ts';
import { merchantReference, walletChangeCall } from '#settlement/contract/contract-calls.ts';
import { merchantConsent, walletConsent } from '#settlement/contract/signed-messages.ts';
import {
  CHAIN_WAIT_MS,
  openDashboardOnChain,
  signConsent,
} from '#testkit/apis/dashboard-on-chain.ts';
import type { DashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addOwner, addTotp, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { chainContext } from '#testkit/fixtures/payments/store.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import { heldAccount } from '#testkit/network/held-key.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';
import { settlementAbi } from '../../../../contracts/artifacts/Settlement.ts';

/**
 * Tests wallet changes that were made directly on the contract, and how the dashboard shows them.
 */

const DEADLINE = 4_000_000_000n;
const WALLET_DELAY_S = 60;

let network: TestNetwork;
let server: DashboardServer;
let close: () => Promise<void>;

interface Shop {
  readonly email: string;
  readonly account: string;
  readonly wallet: PrivateKeyAccount;
  readonly merchantNumber: bigint;
}

/** One shop per test. */
const SHOPS = 7;
const shops: Shop[] = [];
/** A merchant number of another service. It was registered on the contract last. */
let foreign: bigint;

/** The owner of the merchant that the current test uses. */
let owner: PersonClient;
let email: string;
let account: string;
let wallet: PrivateKeyAccount;
let merchantNumber: bigint;

before(async () => {
  network = await startTestNetwork();
  const opened = await openDashboardOnChain(network);
  ({ server, close } = opened);
  // Uses the registrar's key before the relayer starts.
  for (let n = 0; n < SHOPS; n++) shops.push(await openShop(`owner-${n}@shop.test`));
  foreign = await register('acct_of_another_service', privateKeyToAccount(generatePrivateKey()));
  opened.startRelayer();
});

after(() => close());

async function openShop(address: string): Promise<Shop> {
  const { accountId } = await addOwner(server, address);
  const payee = privateKeyToAccount(generatePrivateKey());
  await network.rpc.call('anvil_setBalance', [payee.address, numberToHex(parseEther('1'))]);
  const number = await register(accountId, payee);
  await server.db.query(
    `update account_modes set merchant_number = $2, settlement_wallet = $3, live_at = now()
     where account_id = $1 and not livemode`,
    [accountId, number, payee.address],
  );
  return { email: address, account: accountId, wallet: payee, merchantNumber: number };
}

/**
 * Signs in the owner of an unused shop and verifies a second factor. The shop's wallet is
 * registered on the contract.
 */
beforeEach(async () => {
  const shop = shops.pop();
  assert.ok(shop, 'a shop for each test');
  ({ email, account, wallet, merchantNumber } = shop);
  owner = await signInAs(server, email);
  await addTotp(server, owner);
});

/** Registers a merchant on the contract with the registrar's key, but stores no row for it. */
async function register(accountId: string, to: PrivateKeyAccount): Promise<bigint> {
  const consent = { accountId, wallet: to.address, deadline: DEADLINE };
  const signature = await to.signTypedData(merchantConsent(network.config, consent));
  const args = [merchantReference(accountId), to.address, DEADLINE, signature] as const;
  const functionName = 'registerMerchant';
  const data = encodeFunctionData({ abi: settlementAbi, functionName, args });
  await bySettlement(heldAccount(network.config.registrarKey), data);
  const count = { abi: settlementAbi, functionName: 'merchantCount' } as const;
  const call = { to: network.config.settlement, data: encodeFunctionData(count), words: 1 };
  const [answer] = await network.chain.calls([call]);
  assert.ok(answer?.ok);
  return BigInt(answer.data);
}

const bySettlement = (by: PrivateKeyAccount, data: `0x${string}`) =>
  network.send(by, network.config.settlement, data);

const call = (functionName: 'applyWallet' | 'cancelWallet') =>
  encodeFunctionData({ abi: settlementAbi, functionName, args: [Number(merchantNumber)] });

/** Announces a new wallet on the contract in a transaction from the merchant's current wallet. */
async function announceOutside(): Promise<PrivateKeyAccount> {
  const next = privateKeyToAccount(generatePrivateKey());
  const consent = { merchantNumber, wallet: next.address, nonce: 0n, deadline: DEADLINE };
  const data = walletChangeCall({
    step: 'propose',
    merchantNumber: `${merchantNumber}`,
    wallet: next.address,
    deadline: `${DEADLINE}`,
    signature: await next.signTypedData(walletConsent(network.config, consent)),
  });
  await bySettlement(wallet, data);
  return next;
}

async function applyOutside(): Promise<void> {
  await network.rpc.call('evm_increaseTime', [WALLET_DELAY_S]);
  await network.mine();
  await bySettlement(network.guardian, call('applyWallet'));
}

const path = (rest: string) => `/accounts/${account}/test/${rest}`;

interface Shown {
  readonly wallet: string;
  readonly change: { readonly wallet: string; readonly status: string } | null;
}

async function shown(): Promise<Shown> {
  const answer = await owner.get(path('settlement_wallet'));
  assert.equal(answer.status, 200, answer.text);
  return answer.body as unknown as Shown;
}

/** Returns the current wallet and the status of its change, as stored in the database. */
async function inRows() {
  const [mode] = await server.db.query<{ wallet: string }>(
    `select settlement_wallet as wallet from account_modes
     where account_id = $1 and not livemode`,
    [account],
  );
  const changes = await server.db.query<{ status: string }>(
    'select status from wallet_changes where account_id = $1 order by created',
    [account],
  );
  return [mode?.wallet, ...changes.map(({ status }) => status)];
}

const ctx = () => chainContext(server, [network.chain]);
const reconcile = () => followAllWallets(ctx(), network.chain);

async function subjects(): Promise<string[]> {
  await server.sendMails();
  const mine = server.mails.filter((mail) => mail.to === email).map(({ subject }) => subject);
  return mine.filter((subject) => subject.includes('wallet'));
}

let keys = 0;
const withdraw = () =>
  owner.post(path('withdrawals'), { amount: 1 }, { 'Idempotency-Key': `key ${++keys}` });

async function applyOutcomes(): Promise<void> {
  while (await applyWalletOutcomes(ctx()));
}

async function untilCanceledOnChain(): Promise<void> {
  const look = async () => {
    await applyOutcomes();
    const [result] = await readMerchantWallets(network.chain, [merchantNumber]);
    return result?.announced === null;
  };
  await eventually('the contract to drop it', look, CHAIN_WAIT_MS);
}

test('a change that the merchant’s own wallet announced is shown and mailed', async () => {
  const next = await announceOutside();
  const { change } = await shown();
  assert.deepEqual([change?.wallet, change?.status], [next.address, 'announced']);
  const refused = await withdraw();
  assert.equal(refused.status, 409, refused.text);
  assert.equal(refused.body.error?.code, 'unexpected_state');
  await reconcile();
  await reconcile();
  assert.deepEqual(await inRows(), [wallet.address, 'announced']);
  assert.deepEqual(await subjects(), ['Your settlement wallet has announced another wallet']);
});

test('once in effect, it is the wallet that the dashboard shows and withdrawals pay', async () => {
  const next = await announceOutside();
  await reconcile();
  await applyOutside();
  assert.equal((await shown()).wallet, next.address);
  await reconcile();
  assert.deepEqual(await inRows(), [next.address, 'applied']);
  assert.equal((await shown()).change?.status, 'applied');
  assert.equal((await withdraw()).body.error?.code, 'amount_too_large', 'no change is pending');
});

test('a wallet that took effect unnoticed is adopted, and owners are mailed', async () => {
  const next = await announceOutside();
  await applyOutside();
  await reconcile();
  assert.deepEqual(await inRows(), [next.address, 'applied']);
  assert.deepEqual(await subjects(), ['The settlement wallet of your account has changed']);
});

test('DELETE cancels a change that was announced outside, and payouts continue', async () => {
  await announceOutside();
  const answer = await owner.delete(path('settlement_wallet'));
  assert.equal(answer.status, 202, answer.text);
  await untilCanceledOnChain();
  assert.equal((await shown()).change?.status, 'canceled');
  assert.equal((await withdraw()).body.error?.code, 'amount_too_large');
});

test('a change announced by the dashboard and lost from the database is found again', async () => {
  const next = privateKeyToAccount(generatePrivateKey());
  const body = await signConsent(owner, path('settlement_wallet'), next);
  assert.equal((await owner.post(path('settlement_wallet'), body)).status, 202);
  const isAnnounced = async () => {
    await applyOutcomes();
    return (await inRows())[1] === 'announced';
  };
  await eventually('the announcement', isAnnounced, CHAIN_WAIT_MS);
  await server.db.query('delete from wallet_changes where account_id = $1', [account]);
  await server.db.query('delete from merchant_wallet_blocks');
  assert.equal((await shown()).change?.wallet, next.address);
  assert.equal((await withdraw()).status, 409);
  await reconcile();
  assert.deepEqual(await inRows(), [wallet.address, 'announced']);
  assert.equal((await owner.post(path('settlement_wallet'), body)).status, 409, 'one at a time');
  assert.equal((await owner.delete(path('settlement_wallet'))).status, 202);
  await untilCanceledOnChain();
  await reconcile();
  assert.deepEqual(await inRows(), [wallet.address, 'canceled']);
});

test('an announcement ends only in a later block, because a node may lag', async () => {
  const [before] = await readMerchantWallets(network.chain, [merchantNumber]);
  assert.ok(before?.announced === null);
  await announceOutside();
  await reconcile();
  await followWallets(ctx(), network.chain, [before]);
  assert.deepEqual(await inRows(), [wallet.address, 'announced']);
  const { chain } = network;
  const lagging: typeof chain = {
    ...chain,
    newest: async () => {
      const block = await chain.block(before.blockNumber);
      assert.ok(block !== null);
      return block;
    },
  };
  await followAllWallets(ctx(), lagging);
  assert.deepEqual(await inRows(), [wallet.address, 'announced']);
  await bySettlement(wallet, call('cancelWallet'));
  assert.equal((await shown()).change?.status, 'canceled');
  await reconcile();
  assert.deepEqual(await inRows(), [wallet.address, 'canceled']);
});

test('a merchant number that the contract gave to another account raises an alarm', async () => {
  await server.db.query(
    'update account_modes set merchant_number = $2 where not livemode and account_id = $1',
    [account, foreign],
  );
  await reconcile();
  assert.deepEqual(await inRows(), [wallet.address]);
  const alarms = await server.db.query(
    `select subject from chain_alarms where kind = 'registration_differs'`,
  );
  assert.deepEqual(alarms, [{ subject: account }]);
});
