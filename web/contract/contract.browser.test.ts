import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { encodeFunctionData, numberToHex, parseEther } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { readPayerAccount } from '#settlement/chain/read/payer-balance.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { walletChangeCall } from '#settlement/contract/contract-calls.ts';
import { walletConsent } from '#settlement/contract/signed-messages.ts';
import { scheduleCall, timelockOf } from '#settlement/contract/timelock-calls.ts';
import { outsideService } from '#testkit/fixtures/settlement/outside-service.ts';
import { heldAccount } from '#testkit/network/held-key.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';
import { ensureBuilt } from '#web/build-web-apps.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';
import { DESKTOP, openBrowser, PHONE, type TestBrowser } from '../testing/browser.ts';

/** Tests the released file, opened from disk, with a chain and a wallet but without the service. */

const AMOUNT = 2_500_000n;
const DEADLINE = 4_000_000_000n;
/** Folder for screenshots. If unset, no screenshots are taken. */
const SHOTS = process.env.TAPLINE_SHOTS_FOLDER;

let network: TestNetwork;
let browser: TestBrowser;
let file = '';
let stopMining: () => Promise<void>;

before(async () => {
  const built = ensureBuilt('.data');
  [network, browser] = await Promise.all([startTestNetwork(), openBrowser()]);
  stopMining = network.mineEvery(50);
  file = pathToFileURL(path.join(await built, 'contract-alone.html')).href;
});

after(async () => {
  await stopMining();
  await browser.close();
  await network.stop();
});

beforeEach(async () => {
  for (const functionName of ['unpauseSettling', 'unpauseRefunding'] as const) {
    const data = encodeFunctionData({ abi: settlementAbi, functionName });
    await network.send(network.admin, network.config.settlement, data);
  }
});

/**
 * Simulates a browser wallet, which queries its own node and signs the transactions that the user
 * accepts.
 */
async function walletOf(account: PrivateKeyAccount) {
  await network.rpc.call('anvil_setBalance', [account.address, numberToHex(parseEther('1'))]);
  return async (method: string, params: readonly unknown[] = []): Promise<unknown> => {
    if (method === 'eth_requestAccounts') return [account.address];
    if (method !== 'eth_sendTransaction') return network.rpc.call(method, [...params]);
    const [{ to, data }] = params as [{ to: Hex; data: Hex }];
    const count = await network.rpc.call('eth_getTransactionCount', [account.address, 'latest']);
    const raw = await account.signTransaction({
      ...{ type: 'eip1559', chainId: network.config.chainId, nonce: Number(count), to, data },
      ...{ gas: 500_000n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n },
    });
    return network.rpc.call('eth_sendRawTransaction', [raw]);
  };
}

interface Opened {
  readonly account: PrivateKeyAccount | null;
  readonly options?: typeof DESKTOP;
  readonly merchant?: bigint;
}

async function open({ account, options = DESKTOP, merchant }: Opened) {
  const window = await browser.open(options);
  const { page } = window;
  if (account !== null) {
    await page.exposeFunction('askWallet', await walletOf(account));
    await page.addInitScript(() => {
      type Ask = (method: string, params?: readonly unknown[]) => Promise<unknown>;
      const { askWallet } = window as unknown as { askWallet: Ask };
      const request = (call: { method: string; params?: readonly unknown[] }) =>
        askWallet(call.method, call.params);
      Object.assign(window, { ethereum: { request } });
    });
  }
  const { chainId, settlement } = network.config;
  const number = merchant === undefined ? '' : `&merchant=${merchant}`;
  await page.goto(`${file}#chain=${chainId}&settlement=${settlement}${number}`);
  await page.getByRole('button', { name: 'Connect wallet' }).click();
  return window;
}

async function look({ page }: Awaited<ReturnType<typeof open>>, name: string): Promise<void> {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${wide} pixels too wide`);
  if (SHOTS === undefined) return;
  await page.screenshot({ path: path.join(SHOTS, `${name}.png`), fullPage: true });
}

for (const [name, options] of [
  ['desktop', { viewport: { width: 1440, height: 900 } }],
  ['phone', PHONE],
] as const) {
  test(`a guardian pauses the contract in three clicks, on a ${name}`, async () => {
    // Opens a new page with the guardian's wallet, because an open page keeps the wallet that
    // connected first.
    const window = await open({ account: network.guardian, options });
    const { page } = window;
    const stop = page.getByRole('region', { name: 'Stop it' });
    await page.getByText('Running').first().waitFor();
    await look(window, `guardian-${name}`);
    await window.checkAccessibility();
    await stop.getByRole('button', { name: 'Pause' }).click();
    await stop.getByText('Done: it is on the chain.').waitFor();
    await page.getByRole('button', { name: 'Connect wallet' }).click();
    await stop.getByText('Settling and refunds are paused').waitFor();
    await window.closeClean();
  });
}

/** Makes the registrar propose a payout wallet that the merchant never requested. */
async function propose(): Promise<{ readonly thief: Hex; readonly merchantNumber: bigint }> {
  const { merchantNumber } = await network.addMerchant();
  const thief = privateKeyToAccount(generatePrivateKey());
  const terms = { merchantNumber, wallet: thief.address, deadline: DEADLINE };
  const signature = await thief.signTypedData(
    walletConsent(network.config, { ...terms, nonce: 0n }),
  );
  const step = { step: 'propose', wallet: thief.address, signature } as const;
  const data = walletChangeCall({
    ...step,
    merchantNumber: `${merchantNumber}`,
    deadline: `${DEADLINE}`,
  });
  const registrar = heldAccount(network.config.registrarKey);
  await network.send(registrar, network.config.settlement, data);
  return { thief: thief.address, merchantNumber };
}

test('every announced change is shown, and a guardian cancels it', async () => {
  const { thief } = await propose();
  const { config, admin, guardian } = network;
  const args = [{ acquirer: 200, protocol: 50, cashback: 1 }] as const;
  const data = encodeFunctionData({ abi: settlementAbi, functionName: 'setRates', args });
  const call = { target: config.settlement, data };
  const salt: Hex = `0x${'07'.repeat(32)}`;
  await network.send(admin, timelockOf(config.settlement), scheduleCall(call, salt, 86_400n));
  const window = await open({ account: guardian, options: PHONE });
  const announced = window.page.getByRole('region', { name: 'Announced' });
  const wallet = announced.getByRole('listitem').filter({ hasText: thief.toLowerCase() });
  const rates = announced.getByRole('listitem').filter({ hasText: 'Rates become 200, 50 and 1' });
  await rates.waitFor();
  await look(window, 'announced-phone');
  await window.checkAccessibility();
  for (const item of [wallet, rates]) {
    await item.getByRole('button', { name: 'Cancel' }).click();
    await item.getByText('Done: it is on the chain.').waitFor();
  }
  await window.page.getByRole('button', { name: 'Connect wallet' }).click();
  await announced.getByText('Nothing is announced.').waitFor();
  await window.closeClean();
});

test('a merchant’s wallet withdraws its whole balance, and no other wallet can', async () => {
  const { merchantNumber, wallet } = await network.addMerchant();
  const service = outsideService(network.config);
  const payer = await service.addPayer();
  const payment = { number: 77n, payer, merchantNumber, amount: AMOUNT, orderId: 'A-1' };
  await service.settle([payment]);
  const stranger = privateKeyToAccount(generatePrivateKey());
  const other = await open({ account: stranger, merchant: merchantNumber });
  await other.page.getByText('Only the payout wallet can withdraw this money').waitFor();
  assert.equal(
    await other.page.getByRole('button', { name: /^(Withdraw|Pause|Cancel)/ }).count(),
    0,
  );
  await other.close();
  const window = await open({ account: wallet, merchant: merchantNumber, options: PHONE });
  await window.page.getByRole('button', { name: 'Withdraw 2.50 USDC' }).waitFor();
  await look(window, 'merchant-phone');
  await window.page.getByRole('button', { name: 'Withdraw 2.50 USDC' }).click();
  await window.page.getByText('Done: it is on the chain.').waitFor();
  assert.equal(await network.usdcOf(wallet.address), AMOUNT);
  await window.closeClean();
});

test('a payer’s wallet revokes its permission', async () => {
  const [payer] = await network.addPayers(1);
  assert.ok(payer !== undefined);
  const window = await open({ account: payer });
  await window.page.getByRole('button', { name: 'Revoke' }).click();
  await window.page.getByText('Done: it is on the chain.').waitFor();
  const { policy, allowance } = await readPayerAccount(network.chain, payer.address);
  assert.deepEqual([policy.status, allowance], ['revoked', 0n]);
  await window.page.getByRole('button', { name: 'Connect wallet' }).click();
  await window.page.getByText('The contract now').waitFor();
  assert.equal(await window.page.getByRole('button', { name: 'Revoke' }).count(), 0);
  await window.close();
});

test('without a wallet, or on the wrong chain or address, the page says what to do', async () => {
  const window = await open({ account: null });
  await window.page.getByText('This browser has no wallet').waitFor();
  await window.checkAccessibility();
  await window.close();
  const wrong = await open({ account: network.guardian });
  const { page } = wrong;
  await page.getByText('The contract now').waitFor();
  await page.getByLabel('Settlement contract').fill(`0x${'11'.repeat(20)}`);
  await page.getByRole('button', { name: 'Connect wallet' }).click();
  await page.getByText('There is no such contract on this chain').waitFor();
  await page.getByLabel('Chain id').fill('1');
  await page.getByRole('button', { name: 'Connect wallet' }).click();
  await page.getByText('Your wallet is on another chain. Choose chain 1').waitFor();
  await wrong.close();
});
