import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeFunctionData, erc20Abi } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Hex } from '#settlement/requests.ts';
import { caller } from '#testing/api-client.ts';
import {
  enrolBySignature,
  type OutsideChain,
  type OutsideContract,
  startOutsideChain,
} from '#testing/outside-chain.ts';
import { addFactorNow } from '#testing/people.ts';
import { PersonClient } from '#testing/person-client.ts';
import { type SpawnedNetwork, spawnNetwork, temporaryDataDir } from '#testing/spawn-network.ts';
import { testUsdcAbi } from '../../contracts/artifacts/TestUSDC.ts';

/** docs/operate.md, "Moving to a new contract", rehearsed: two installations and one payer. */

const CHAIN_ID = 41_200;
const AMOUNT = 2_500_000;
const MONEY = 100_000_000n;
const WAIT_MS = 180_000;
const COMMAND = path.join(import.meta.dirname, '../../src/ops/chain-command.ts');

let chain: OutsideChain;
let oldContract: OutsideContract;
let old: Installation;
let fresh: Installation;
let oldPass = '';
const paid: string[] = [];
const payer = privateKeyToAccount(generatePrivateKey());

interface Installation {
  readonly network: SpawnedNetwork;
  readonly merchant: ReturnType<typeof caller>;
  readonly terminal: ReturnType<typeof caller>;
  end(): Promise<void>;
}

/** A service with a database of its own. */
async function install({ env }: OutsideContract): Promise<Installation> {
  const folder = await temporaryDataDir();
  const network = await spawnNetwork({ dataDir: folder.path, env });
  const { base_url: root, test: mode } = network.sandbox;
  const end = async () => {
    await network.stop();
    await folder.remove();
  };
  return {
    network,
    merchant: caller(`${root}/v1`, mode.secret_key),
    terminal: caller(`${root}/device/v1`, mode.device_key),
    end,
  };
}

before(async () => {
  chain = await startOutsideChain({ chainId: CHAIN_ID, token: 'test' });
  oldContract = await chain.deploySettlement();
  old = await install(oldContract);
});

after(async () => {
  await Promise.all([old?.end(), fresh?.end()]);
  await chain?.stop();
});

async function until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await sleep(100)) {
    const found = await look();
    if (found !== null) return found;
  }
  throw new Error(`waited for ${what}`);
}

async function tapAt({ network, merchant, terminal }: Installation, pass: string) {
  const sale = { amount: AMOUNT, terminal: network.sandbox.test.terminal };
  const { body: intent } = await merchant.post('/payment_intents', sale);
  const credential = { type: 'nfc_id', value: pass };
  return terminal.post(`/payment_intents/${intent.id}/tap`, { credential });
}

async function payAt(installation: Installation, pass: string): Promise<string> {
  const { body } = await tapAt(installation, pass);
  assert.equal(body.status, 'succeeded', JSON.stringify(body));
  return String(body.payment);
}

/** @returns the refund once it is no longer pending. */
async function refundAt({ merchant }: Installation, payment: string | undefined) {
  const { status, body } = await merchant.post('/refunds', { payment, amount: AMOUNT });
  if (status !== 201) return { status: String(status), failure_code: null };
  return until('the refund', async () => {
    const { body: now } = await merchant.get(`/refunds/${body.id}`);
    return now.status === 'pending' ? null : now;
  });
}

async function availableAt({ merchant }: Installation): Promise<number> {
  const { body } = await merchant.get('/balance');
  return (body.available as { amount: number }[])[0]?.amount ?? Number.NaN;
}

function usdcOf(address: Hex): Promise<bigint> {
  const call = { abi: erc20Abi, functionName: 'balanceOf', args: [address] } as const;
  return chain.walletOf(chain.issuer.key).readContract({ address: chain.usdc, ...call });
}

const enrolAt = ({ network }: Installation) =>
  enrolBySignature(payer, { webUrl: network.sandbox.web_url, chainId: CHAIN_ID });

function pauseSettling({ settlement, guardian, env }: OutsideContract): Promise<string> {
  const place = ['--rpc-url', env.CHAIN_TESTNET_RPC_URL ?? '', '--settlement', settlement];
  const args = [COMMAND, 'pause', '--only', 'settling', ...place, '--yes'];
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, args, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(stderr));
    });
    child.stdin?.end(guardian.key);
  });
}

test('before: a payer of the old contract pays there', async () => {
  const mint = { abi: testUsdcAbi, functionName: 'mint', args: [payer.address, MONEY] } as const;
  await chain.send(chain.issuer.key, chain.usdc, encodeFunctionData(mint));
  oldPass = await enrolAt(old);
  paid.push(await payAt(old, oldPass), await payAt(old, oldPass));
  assert.equal(await availableAt(old), 2 * AMOUNT);
});

test('1. settling is paused on the old contract: nobody is charged there any more', async () => {
  assert.match(await pauseSettling(oldContract), /settling stops/);
  await until('the service to notice', async () => {
    const { status } = await tapAt(old, oldPass);
    return status === 503 ? true : null;
  });
});

test('2. balances are paid out of it, but for what refunds will need', async () => {
  const { web_url: url, dashboard, account } = old.network.sandbox;
  const owner = new PersonClient(`${url}/api/dashboard/v1`);
  await owner.post('/session', { ...dashboard });
  await addFactorNow(owner, dashboard.password);
  const place = `/accounts/${account}/test/withdrawals`;
  const key = { 'Idempotency-Key': 'paid out for the move' };
  const asked = await owner.post(place, { amount: AMOUNT }, key);
  assert.equal(asked.status, 201, asked.text);
  await until('the withdrawal', async () => {
    const [row] = (await owner.get(place)).body.data as { status: string }[];
    return row?.status === 'succeeded' ? true : null;
  });
  assert.equal(await usdcOf(asked.body.wallet as Hex), BigInt(AMOUNT));
});

test('3. at the new one a payer signs again, with the same wallet, and pays', async () => {
  fresh = await install(await chain.deploySettlement());
  assert.notEqual((await tapAt(fresh, oldPass)).body.status, 'succeeded', 'the old pass');
  const pass = await enrolAt(fresh);
  await payAt(fresh, pass);
  assert.equal(await availableAt(fresh), AMOUNT);
  assert.equal(await availableAt(old), AMOUNT, 'the two books are apart');
});

test('4. an old payment is refunded at the old one, and only there', async () => {
  const before = await usdcOf(payer.address);
  assert.match((await refundAt(fresh, paid[0])).status as string, /^4\d\d$/);
  assert.equal((await refundAt(old, paid[0])).status, 'succeeded');
  assert.equal(await usdcOf(payer.address), before + BigInt(AMOUNT));
  assert.equal(await availableAt(fresh), AMOUNT);
});

test('5. the old one is empty then: what was not left there cannot be refunded', async () => {
  assert.equal(await availableAt(old), 0);
  const refund = await refundAt(old, paid[1]);
  assert.deepEqual([refund.status, refund.failure_code], ['failed', 'insufficient_balance']);
  const fees = 2n * (7_500n + 3_750n);
  assert.equal(await usdcOf(oldContract.settlement), fees, 'but for the fees');
});
