import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { zeroAddress } from 'viem';
import { applyWalletOutcomes } from '#payouts/apply-wallet-changes.ts';
import {
  CHAIN_WAIT_MS,
  openDashboardOnChain,
  signConsent,
  untilLive,
} from '#testkit/apis/dashboard-on-chain.ts';
import type { DashboardServer } from '#testkit/apis/dashboard-server.ts';
import { keyWalletCode } from '#testkit/apis/pay-links.ts';
import { addMember, addOwner, addTotp, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
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
import { chainContext } from '#testkit/fixtures/payments/store.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';

/**
 * Tests settlement wallets that are not deployed yet. They must be deployed before they are
 * registered, because the contract calls a wallet to check its signature.
 */

let network: TestNetwork;
let server: DashboardServer;
let close: () => Promise<void>;

before(async () => {
  // Compiles the wallet contract before the relayer starts: the compiler blocks this process for
  // seconds.
  keyWalletCode(zeroAddress);
  network = await startTestNetwork(listing);
  await addFactories(network);
  const opened = await openDashboardOnChain(network);
  ({ server, close } = opened);
  opened.startRelayer();
});

after(() => close());

/** Resets the limits per hour before each test. */
beforeEach(() => server.db.query('delete from sign_in_attempts'));

interface Shop {
  readonly owner: PersonClient;
  readonly account: string;
  consentTo(page: string, wallet: FactoryWallet): Promise<object>;
  path(page: string): string;
}

let shops = 0;

async function openShop(): Promise<Shop> {
  const email = `owner-${shops++}@undeployed.test`;
  const account = (await addOwner(server, email)).accountId;
  const owner = await signInAs(server, email);
  await addTotp(server, owner);
  const path = (page: string) => `/accounts/${account}/test/${page}`;
  const consentTo = (page: string, wallet: FactoryWallet) =>
    signConsent(owner, path(page), wallet.account);
  return { owner, account, consentTo, path };
}

const untilShopIsLive = ({ owner, path }: Shop) => untilLive(server, owner, path('go_live'));

const deployments = ({ from }: FactoryWallet) => deploymentsIn(server.db, from);

test('an account goes live with a wallet that is deployed once, for its consent', async () => {
  const shop = await openShop();
  const wallet = factoryWallet();
  const consent = await shop.consentTo('go_live', wallet);
  const sent = await shop.owner.post(shop.path('go_live'), consent);
  assert.equal(sent.status, 202, sent.text);
  await untilShopIsLive(shop);
  const { body } = await shop.owner.get(shop.path('go_live'));
  assert.equal(body.settlement_wallet, wallet.from);
  assert.deepEqual(await deployments(wallet), ['succeeded']);
  const again = await shop.owner.post(shop.path('go_live'), consent);
  assert.equal(again.body.error?.code, 'unexpected_state');
});

test('a wallet that an admin has prepared is deployed when an owner confirms it', async () => {
  const shop = await openShop();
  const wallet = factoryWallet();
  await addMember(server, { email: 'admin@und.test', accountId: shop.account, role: 'admin' });
  const admin = await signInAs(server, 'admin@und.test');
  const prepared = await admin.post(shop.path('go_live'), await shop.consentTo('go_live', wallet));
  assert.equal(prepared.status, 202, prepared.text);
  assert.deepEqual(await deployments(wallet), [], 'an admin spends no gas');
  const path = shop.path('go_live/confirm');
  const confirmed = await shop.owner.post(path, { wallet: wallet.from });
  assert.equal(confirmed.status, 202, confirmed.text);
  await untilShopIsLive(shop);
  assert.deepEqual(await deployments(wallet), ['succeeded']);
});

test('another settlement wallet is deployed before it is announced', async () => {
  const shop = await openShop();
  assert.equal((await shop.owner.post(shop.path('go_live/test_wallet'))).status, 202);
  await untilShopIsLive(shop);
  const wallet = factoryWallet();
  const consent = await shop.consentTo('settlement_wallet', wallet);
  const sent = await shop.owner.post(shop.path('settlement_wallet'), consent);
  assert.equal(sent.status, 202, sent.text);
  const isAnnounced = async () => {
    await applyWalletOutcomes(chainContext(server, [network.chain]));
    const { change } = (await shop.owner.get(shop.path('settlement_wallet'))).body as {
      change: { status: string } | null;
    };
    return change?.status === 'announced';
  };
  await eventually('the announcement', isAnnounced, CHAIN_WAIT_MS);
  assert.deepEqual(await deployments(wallet), ['succeeded']);
  const other = factoryWallet();
  const second = await shop.owner.post(
    shop.path('settlement_wallet'),
    await shop.consentTo('settlement_wallet', other),
  );
  assert.equal(second.body.error?.code, 'unexpected_state', second.text);
  assert.deepEqual(await deployments(other), [], 'nothing is deployed for a change that fails');
});

test('a wallet that did not consent, or has no listed factory, is not deployed', async () => {
  const shop = await openShop();
  const wallet = factoryWallet();
  const stolen = { ...wallet, account: wrapping(newWallet(), wallet) };
  const forged = await shop.consentTo('go_live', stolen);
  const refused = await shop.owner.post(shop.path('go_live'), forged);
  assert.deepEqual([refused.status, refused.body.error?.param], [400, 'signature'], refused.text);
  const unlisted = factoryWallet({ factory: FACTORIES.unlisted });
  const consent = await shop.consentTo('go_live', unlisted);
  const unknown = await shop.owner.post(shop.path('go_live'), consent);
  assert.equal(unknown.body.error?.code, 'wallet_not_deployed');
  assert.match(unknown.body.error?.message ?? '', /does not deploy wallets from its factory/);
  assert.deepEqual([...(await deployments(wallet)), ...(await deployments(unlisted))], []);
});

test('an account has three deployments an hour, also from several addresses', async () => {
  const shop = await openShop();
  const wallet = factoryWallet({ factory: FACTORIES.hostile });
  const consent = await shop.consentTo('go_live', wallet);
  for (const _ of [1, 2, 3]) {
    const answer = await shop.owner.post(shop.path('go_live'), consent);
    assert.equal(answer.body.error?.code, 'wallet_not_deployed', answer.text);
    await server.db.query(`delete from sign_in_attempts where bucket like '% address %'`);
  }
  const answer = await shop.owner.post(shop.path('go_live'), consent);
  assert.equal(answer.body.error?.code, 'rate_limit_exceeded', answer.text);
  assert.deepEqual(await deployments(wallet), ['failed', 'failed', 'failed']);
});
