import assert from 'node:assert/strict';
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
import {
  type SpawnedNetwork,
  spawnMain,
  spawnNetwork,
  temporaryDataDir,
} from '#testing/spawn-network.ts';
import { testUsdcAbi } from '../../contracts/artifacts/TestUSDC.ts';

/**
 * docs/operate.md, "Moving to a new contract", rehearsed: one installation and one database, whose
 * merchant and payer move from the first contract to the second while both are there.
 */

const CHAIN_ID = 41_200;
const AMOUNT = 2_500_000;
const MONEY = 100_000_000n;
const WAIT_MS = 180_000;

let chain: OutsideChain;
let first: OutsideContract;
let second: OutsideContract;
let folder: Awaited<ReturnType<typeof temporaryDataDir>>;
let network: SpawnedNetwork;
let merchant: ReturnType<typeof caller>;
let terminal: ReturnType<typeof caller>;
let owner: PersonClient;
let pass = '';
/** An intent of before the move. */
let open = '';
let other = '';
const paid: string[] = [];
const payer = privateKeyToAccount(generatePrivateKey());

async function start({ env }: OutsideContract): Promise<void> {
  network = await spawnNetwork({ dataDir: folder.path, env });
  const { base_url: root, web_url: web, test: mode, dashboard } = network.sandbox;
  merchant = caller(`${root}/v1`, mode.secret_key);
  terminal = caller(`${root}/device/v1`, mode.device_key);
  owner = new PersonClient(`${web}/api/dashboard/v1`);
  const signed = await owner.post('/session', { ...dashboard });
  assert.equal(signed.status, 200, signed.text);
}

before(async () => {
  chain = await startOutsideChain({ chainId: CHAIN_ID, token: 'test' });
  first = await chain.deploySettlement();
  folder = await temporaryDataDir();
  await start(first);
});

after(async () => {
  await network?.stop();
  await folder?.remove();
  await chain?.stop();
});

async function until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await sleep(100)) {
    const found = await look();
    if (found !== null) return found;
  }
  throw new Error(`waited for ${what}`);
}

async function createSale(): Promise<string> {
  const sale = { amount: AMOUNT, terminal: network.sandbox.test.terminal };
  return String((await merchant.post('/payment_intents', sale)).body.id);
}

async function tap(intent: string, shown: string) {
  const credential = { type: 'nfc_id', value: shown };
  return (await terminal.post(`/payment_intents/${intent}/tap`, { credential })).body;
}

async function pay(intent: string, shown: string): Promise<string> {
  const body = await tap(intent, shown);
  assert.equal(body.status, 'succeeded', JSON.stringify(body));
  return String(body.payment);
}

/** The contract that the receipt of a payment names, as anybody can check it. */
async function settledAt(payment: string): Promise<string> {
  const { body } = await merchant.get(`/payments/${payment}`);
  const token = new URL(String(body.receipt_url)).pathname.split('/').at(-1);
  const receipt = await fetch(`${network.sandbox.web_url}/api/pay/v1/receipts/${token}`);
  const { proof } = (await receipt.json()) as { proof: { settlement: string; merchant: number } };
  assert.ok(proof.merchant < 100, 'the receipt names the merchant as the contract does');
  return proof.settlement.toLowerCase();
}

/** @returns the refund once it is no longer pending. */
async function refund(payment: string | undefined) {
  const { body } = await merchant.post('/refunds', { payment, amount: AMOUNT });
  return until('the refund', async () => {
    const { body: now } = await merchant.get(`/refunds/${body.id}`);
    return now.status === 'pending' ? null : now;
  });
}

async function available(): Promise<number> {
  const { body } = await merchant.get('/balance');
  return (body.available as { amount: number }[])[0]?.amount ?? Number.NaN;
}

function usdcOf(address: Hex): Promise<bigint> {
  const call = { abi: erc20Abi, functionName: 'balanceOf', args: [address] } as const;
  return chain.walletOf(chain.issuer.key).readContract({ address: chain.usdc, ...call });
}

const enrol = () => enrolBySignature(payer, { webUrl: network.sandbox.web_url, chainId: CHAIN_ID });
const modeOf = (path: string) => `/accounts/${network.sandbox.account}/test${path}`;

/** Goes live, or moves, and waits until the chain has said so. */
async function goLive(account: string): Promise<void> {
  const place = `/accounts/${account}/test/go_live`;
  const asked = await owner.post(`${place}/test_wallet`);
  assert.equal(asked.status, 202, asked.text);
  await until('the registration', async () => {
    const { body } = await owner.get(place);
    return body.live === true && body.next_contract === null ? true : null;
  });
}

test('before: a payer of the first contract pays there', async () => {
  const mint = { abi: testUsdcAbi, functionName: 'mint', args: [payer.address, MONEY] } as const;
  await chain.send(chain.issuer.key, chain.usdc, encodeFunctionData(mint));
  pass = await enrol();
  paid.push(await pay(await createSale(), pass), await pay(await createSale(), pass));
  assert.equal(await available(), 2 * AMOUNT);
  open = await createSale();
  // Another account of the owner, which goes live on the first contract like every merchant.
  other = String((await owner.post('/accounts', { name: 'Second Shop' })).body.id);
  await goLive(other);
});

test('settings that leave out a contract with payments do not start', async () => {
  second = await chain.deploySettlement(first);
  await network.stop();
  const { CHAIN_TESTNET_FORMER_SETTLEMENTS: _, ...forgotten } = second.env;
  const { child, logs } = spawnMain({ dataDir: folder.path, env: forgotten });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  assert.notEqual(code, 0);
  assert.match(logs(), new RegExp(`leave out ${first.settlement}`, 'i'));
});

test('1. the service knows both: a merchant that has not moved is paid at the first', async () => {
  await start(second);
  const payment = await pay(await createSale(), pass);
  paid.push(payment);
  assert.equal(await settledAt(payment), first.settlement.toLowerCase());
});

test('2. the merchant agrees to the second, with the same account and keys', async () => {
  const asked = await owner.get(modeOf('/go_live'));
  const next = String(asked.body.next_contract);
  assert.equal(next.toLowerCase(), second.settlement.toLowerCase());
  await addFactorNow(owner, network.sandbox.dashboard.password);
  await goLive(network.sandbox.account);
  await goLive(other);
  assert.equal((await owner.post(modeOf('/go_live/test_wallet'))).status, 409, 'once');
});

test('3. a sale of before the move is paid at the first contract, and nowhere else', async () => {
  const payment = await pay(open, pass);
  paid.push(payment);
  assert.equal(await settledAt(payment), first.settlement.toLowerCase());
});

test('4. the payer agrees at the next tap, and pays with the same pass', async () => {
  const sale = await createSale();
  const declined = await tap(sale, pass);
  assert.equal(declined.status, 'requires_payment_method');
  const error = declined.last_payment_error as { decline_code: string };
  assert.equal(error.decline_code, 'approval_insufficient');
  await enrol();
  const payment = await pay(sale, pass);
  paid.push(payment);
  assert.equal(await settledAt(payment), second.settlement.toLowerCase());
  assert.equal(await available(), 5 * AMOUNT, 'both together');
});

test('5. a payment is refunded out of the contract that settled it', async () => {
  const [payersBefore, secondBefore] = [
    await usdcOf(payer.address),
    await usdcOf(second.settlement),
  ];
  assert.equal((await refund(paid[0])).status, 'succeeded');
  assert.equal(await usdcOf(payer.address), payersBefore + BigInt(AMOUNT));
  assert.equal(await usdcOf(second.settlement), secondBefore, 'not out of the other one');
  assert.equal((await refund(paid[4])).status, 'succeeded');
  assert.equal(await usdcOf(second.settlement), secondBefore - BigInt(AMOUNT));
  assert.equal(await available(), 3 * AMOUNT);
});

test('6. withdrawals empty the first contract; what is not there is not refunded', async () => {
  const { body: wallet } = await owner.get(modeOf('/settlement_wallet'));
  const [former] = wallet.former_contracts as { settlement: string; merchant_number: number }[];
  assert.equal(former?.settlement.toLowerCase(), first.settlement.toLowerCase());
  const key = { 'Idempotency-Key': 'all that is left at the first' };
  const asked = await owner.post(modeOf('/withdrawals'), { amount: 3 * AMOUNT }, key);
  assert.equal(asked.status, 201, asked.text);
  await until('the withdrawal', async () => {
    const [row] = (await owner.get(modeOf('/withdrawals'))).body.data as { status: string }[];
    return row?.status === 'succeeded' ? true : null;
  });
  assert.equal(await available(), 0);
  const fees = 4n * (7_500n + 3_750n);
  assert.equal(await usdcOf(first.settlement), fees, 'but for the fees');
  const late = await refund(paid[1]);
  assert.deepEqual([late.status, late.failure_code], ['failed', 'insufficient_balance']);
});

test('the books agree with both contracts, and nobody is alarmed', async () => {
  const { operator, web_url: web } = network.sandbox;
  const staff = new PersonClient(`${web}/api/operator/v1`);
  const signed = await staff.post('/session', { ...operator });
  assert.equal(signed.status, 200, signed.text);
  await addFactorNow(staff, operator.password);
  assert.deepEqual((await staff.get('/alarms')).body.data, []);
  assert.deepEqual((await staff.get('/reconciliation')).body.differences, []);
  const { body } = await staff.get('/contracts');
  const testnet = (body.data as { network: string; former: boolean; accounts: number }[]).filter(
    (one) => one.network === 'testnet',
  );
  assert.deepEqual(
    testnet.map(({ former, accounts }) => [former, accounts]),
    [
      [false, 2],
      [true, 0],
    ],
  );
  const solvency = await (await fetch(`${web}/solvency.json`)).json();
  const sums = (solvency as { networks: { network: string; surplus: number }[] }).networks;
  assert.deepEqual(
    sums.filter((one) => one.network === 'testnet').map(({ surplus }) => surplus),
    [0, 0],
  );
});
