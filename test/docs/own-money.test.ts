import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { numberToHex, parseEther } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { readPayerAccount } from '#settlement/chain/read/payer-balance.ts';
import { outsideService } from '#testkit/fixtures/settlement/outside-service.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';

/** Runs the programs of docs/guides/your-money.md with a chain and without the service. */

const PROGRAMS = path.join(import.meta.dirname, '../../examples/own-money');
const AMOUNT = 2_500_000n;

let network: TestNetwork;
let stopMining: () => Promise<void>;

before(async () => {
  network = await startTestNetwork();
  stopMining = network.mineEvery(50);
});

after(async () => {
  await stopMining();
  await network.stop();
});

function run(program: string, env: Readonly<Record<string, string>>) {
  const [NODE_URL = ''] = network.config.rpcUrls;
  const { settlement: SETTLEMENT, usdc: USDC } = network.config;
  const all = { ...process.env, NODE_URL, SETTLEMENT, USDC, ...env };
  return promisify(execFile)(process.execPath, [path.join(PROGRAMS, program)], { env: all });
}

test('a merchant’s wallet takes the whole balance out, and no other wallet does', async () => {
  const key = generatePrivateKey();
  const { merchantNumber, wallet } = await network.addMerchant(key);
  const payer = await outsideService(network.config).addPayer();
  const payment = { number: 1n, payer, merchantNumber, amount: AMOUNT, orderId: 'A-1' };
  await outsideService(network.config).settle([payment]);
  await network.rpc.call('anvil_setBalance', [wallet.address, numberToHex(parseEther('1'))]);
  const env = { MERCHANT: String(merchantNumber), WALLET_KEY: key };
  const stranger = run('withdraw.mjs', { ...env, WALLET_KEY: generatePrivateKey() });
  await assert.rejects(stranger, /This key is not that wallet’s/);
  const { stdout } = await run('withdraw.mjs', env);
  assert.match(stdout, /2500000 atoms[\s\S]*success/);
  assert.equal(await network.usdcOf(wallet.address), AMOUNT);
  await assert.rejects(run('withdraw.mjs', env), /There is nothing to withdraw/);
});

test('a payer’s wallet revokes its permission', async () => {
  const key = generatePrivateKey();
  const [payer] = await network.addPayers(1, { keys: [key] });
  assert.ok(payer !== undefined);
  const read = async () => {
    const { policy, allowance } = await readPayerAccount(network.chain, payer.address);
    return [policy.status, allowance === 0n];
  };
  assert.deepEqual(await read(), ['set', false]);
  const { stdout } = await run('revoke.mjs', { WALLET_KEY: key });
  assert.match(stdout, /policy: success\nallowance: success/);
  assert.deepEqual(await read(), ['revoked', true]);
});
