import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TypedDataDefinition, zeroAddress } from 'viem';
import { silentLog } from '#core/log.ts';
import { applyRegistrations } from '#payouts/apply-registrations.ts';
import { applyWalletOutcomes } from '#payouts/apply-wallet-changes.ts';
import { startRelayer } from '#settlement/relayer/relayer.ts';
import { type DashboardServer, startDashboardServer } from '#testing/dashboard-server.ts';
import { keyWalletCode } from '#testing/pay-links.ts';
import { addMember, addOwner, addTotp, signInAs } from '#testing/people.ts';
import type { PersonClient } from '#testing/person-client.ts';
import { chainContext } from '#testing/store.ts';
import { startTestNetwork, type TestNetwork } from '#testing/test-network.ts';
import {
  addFactories,
  deploymentsIn,
  FACTORIES,
  type FactoryWallet,
  factoryWallet,
  listing,
  wrapping,
} from '#testing/undeployed-wallets.ts';
import { newWallet } from '#testing/wallet-sign-in.ts';

/**
 * Tests settlement wallets that are not deployed yet. They must be deployed before they are
 * registered, because the contract calls a wallet to check its signature.
 */

const WAIT_MS = 30_000;

let network: TestNetwork;
let server: DashboardServer;
const stops: (() => Promise<unknown>)[] = [];

before(async () => {
  // Compiles the wallet contract before the relayer starts: the compiler blocks this process for
  // seconds.
  keyWalletCode(zeroAddress);
  network = await startTestNetwork(listing);
  await addFactories(network);
  server = await startDashboardServer([network.chain]);
  server.clock.advance(Date.now() - server.clock.now().getTime());
  const { db, wakeups, clock } = server;
  const relayer = startRelayer({ chain: network.chain, db, wakeups, clock, log: silentLog });
  stops.push(network.mineEvery(50), () => relayer.stop());
});

after(async () => {
  for (const stop of stops.reverse()) await stop();
  await server.close();
  await network.stop();
});

/** Resets the limits per hour before each test. */
beforeEach(() => server.db.query('delete from sign_in_attempts'));

interface Shop {
  readonly owner: PersonClient;
  readonly account: string;
  /**
   * Signs the consent that the page at this path requests, so that the wallet can receive the
   * account's money.
   */
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
  const consentTo = async (page: string, { from, account: signer }: FactoryWallet) => {
    const { body } = await owner.get(path(`${page}/consent?wallet=${from}`));
    const signature = await signer.signTypedData(body.typed_data as TypedDataDefinition);
    return { wallet: from, deadline: body.deadline, signature };
  };
  return { owner, account, consentTo, path };
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await sleep(50)) {
    if (await isSo()) return;
  }
  assert.fail(`waited for ${what}`);
}

async function untilLive({ owner, path }: Shop): Promise<void> {
  await until('the registration', async () => {
    await applyRegistrations({ ...server, log: silentLog });
    return (await owner.get(path('go_live'))).body.live === true;
  });
}

const deployments = ({ from }: FactoryWallet) => deploymentsIn(server.db, from);

test('an account goes live with a wallet that is deployed once, for its consent', async () => {
  const shop = await openShop();
  const wallet = factoryWallet();
  const consent = await shop.consentTo('go_live', wallet);
  const sent = await shop.owner.post(shop.path('go_live'), consent);
  assert.equal(sent.status, 202, sent.text);
  await untilLive(shop);
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
  await untilLive(shop);
  assert.deepEqual(await deployments(wallet), ['succeeded']);
});

test('another settlement wallet is deployed before it is announced', async () => {
  const shop = await openShop();
  assert.equal((await shop.owner.post(shop.path('go_live/test_wallet'))).status, 202);
  await untilLive(shop);
  const wallet = factoryWallet();
  const consent = await shop.consentTo('settlement_wallet', wallet);
  const sent = await shop.owner.post(shop.path('settlement_wallet'), consent);
  assert.equal(sent.status, 202, sent.text);
  await until('the announcement', async () => {
    await applyWalletOutcomes(chainContext(server, [network.chain]));
    const { change } = (await shop.owner.get(shop.path('settlement_wallet'))).body as {
      change: { status: string } | null;
    };
    return change?.status === 'announced';
  });
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
