import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeDeployData, encodeFunctionData, erc20Abi } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { deployContract, newKey } from '#ops/deploy-contract.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { type Body, caller } from '#testing/api-client.ts';
import { enrolBySignature } from '#testing/outside-chain.ts';
import { addFactorNow } from '#testing/people.ts';
import { PersonClient } from '#testing/person-client.ts';
import { type SpawnedNetwork, spawnNetwork } from '#testing/spawn-network.ts';
import { testUsdcAbi, testUsdcBytecode } from '../../contracts/artifacts/TestUSDC.ts';
import { type ChainSide, type Costs, openChainSide } from './chain-side.ts';

export interface Rehearsal {
  /** URLs of nodes, all of which the service uses. */
  readonly rpcUrls: readonly string[];
  /** URL of the second provider, which checks everything. */
  readonly secondUrl: string;
  readonly key: Hex;
  /** `null` deploys a test token that anyone may mint. */
  readonly usdc: Hex | null;
  /** This run's folder, which stores the funded keys until the end. */
  readonly folder: string;
  readonly say: (line: string) => void;
}

export interface Step {
  readonly name: string;
  readonly seconds: number;
  /** In wei; `null` if the step sends nothing. */
  readonly cost: bigint | null;
  /** `null` if there are several transactions or none. */
  readonly gas: bigint | null;
}

export interface Rehearsed {
  readonly steps: readonly Step[];
  /** The receipts that the second provider confirmed. */
  readonly readBack: readonly string[];
  readonly chainId: number;
  readonly client: string;
}

const AMOUNT = 1_000_000;
const REFUNDED = 400_000;
const WITHDRAWN = 1_500_000;
/** Three sales with fees. */
const MONEY = 4_000_000n;
const SALES = 3;
const OPERATORS = 2;
/** Gas for a full batch at its limit, plus a reserve, because a sender with less takes no work. */
const SENDER_GAS = 12_000_000n;
const REGISTRAR_GAS = 3_000_000n;
/** Allows for a slow public chain. */
const WAIT_MS = 300_000;
const LOOK_MS = 100;

/**
 * Runs from a funded key to a payout on an external chain, with the service as it starts in
 * production.
 */
export async function rehearse(rehearsal: Rehearsal): Promise<Rehearsed> {
  const chain = await openChainSide(rehearsal);
  const steps: Step[] = [];
  const take = async <T>(name: string, work: () => Promise<T>, costs?: Costs<T>): Promise<T> => {
    rehearsal.say(name);
    const before = await chain.coin();
    const at = performance.now();
    const value = await work();
    const seconds = (performance.now() - at) / 1000;
    const told = costs === undefined ? null : await costs(value);
    const spent = before - (await chain.coin());
    steps.push({
      name,
      seconds,
      cost: told?.cost ?? (spent > 0n ? spent : null),
      gas: told?.gas ?? null,
    });
    return value;
  };
  const env = await take('deploy the contract, and fund its keys', () => deploy(rehearsal, chain));
  const network = await take('start the service and register a shop', () =>
    spawnNetwork({ dataDir: rehearsal.folder, env }),
  );
  try {
    const shop = await sell(network, { chain, take });
    const readBack = await readAgain(network, chain, shop);
    return { steps, readBack, chainId: chain.chainId, client: chain.client };
  } finally {
    await network.stop();
    const left = await chain.sweep();
    rehearsal.say(`coin that was left went back to ${chain.payer.address}: ${left} wei`);
  }
}

/**
 * Deploys the contract and, without a USDC address, a token. @returns the settings for the service.
 */
async function deploy(rehearsal: Rehearsal, chain: ChainSide): Promise<Record<string, string>> {
  const [url = ''] = rehearsal.rpcUrls;
  const operators = Array.from({ length: OPERATORS }, newKey);
  const [registrar, guardian, second] = [newKey(), newKey(), newKey()];
  // Stores the keys first, because a lost key means lost funds.
  const keys = [...operators, registrar].map(({ key }) => key);
  await writeFile(path.join(rehearsal.folder, 'keys.txt'), `${keys.join('\n')}\n`, { mode: 0o600 });
  const usdc = rehearsal.usdc ?? (await deployToken(chain));
  chain.token = usdc;
  const { settlement, blockNumber } = await deployContract(
    {
      ...{ rpcUrl: url, usdc },
      ...{ proposers: [chain.payer.address], steward: newKey().address },
      ...{ treasurer: newKey().address, registrar: registrar.address },
      operators: operators.map(({ address }) => address),
      guardians: [guardian.address, second.address],
      ...{ walletDelay: 60, payoutHold: 0, hourlyCeiling: 10_000 },
      rates: { acquirer: 30, protocol: 20, cashback: 5 },
    },
    rehearsal.key,
  );
  for (const { key } of operators) await chain.give(key, SENDER_GAS);
  await chain.give(registrar.key, REGISTRAR_GAS);
  return {
    CHAIN_TESTNET_RPC_URL: rehearsal.rpcUrls.join(','),
    CHAIN_TESTNET_CHAIN_ID: String(chain.chainId),
    CHAIN_TESTNET_USDC: usdc,
    CHAIN_TESTNET_SETTLEMENT: settlement,
    CHAIN_TESTNET_DEPLOYED_AT_BLOCK: String(blockNumber),
    CHAIN_TESTNET_RELAYER_KEYS: operators.map(({ key }) => key).join(','),
    CHAIN_TESTNET_REGISTRAR_KEY: registrar.key,
    // Off, because no operator is present to confirm. Slow chains get a longer time-out.
    ...{ STATIC_PASS_CONFIRM_FROM: 'off', SETTLEMENT_TIMEOUT_SECONDS: '300' },
  };
}

async function deployToken(chain: ChainSide): Promise<Hex> {
  const args = [chain.payer.address] as const;
  const data = encodeDeployData({ abi: testUsdcAbi, bytecode: testUsdcBytecode, args });
  const { contractAddress } = await chain.send({ data });
  return present(contractAddress ?? undefined, 'address of the token');
}

interface Day {
  readonly customer: PrivateKeyAccount;
  readonly merchantWallet: Hex;
  readonly payments: readonly Body[];
  readonly refund: Body;
  readonly withdrawal: Body;
}

interface Ground {
  readonly chain: ChainSide;
  readonly take: <T>(name: string, work: () => Promise<T>, costs?: Costs<T>) => Promise<T>;
}

async function sell(network: SpawnedNetwork, { chain, take }: Ground): Promise<Day> {
  const { base_url: root, web_url: webUrl, test: mode } = network.sandbox;
  const merchant = caller(`${root}/v1`, mode.secret_key);
  const terminal = caller(`${root}/device/v1`, mode.device_key);
  const customer = privateKeyToAccount(newKey().key);
  await take('send USDC to a new wallet', () => giveMoney(chain, customer.address));
  const { chainId } = chain;
  const pass = await take('set up its approval, with two signatures', () =>
    enrolBySignature(customer, { webUrl, chainId }),
  );
  const costs: Costs<Body> = ({ tx_hash: hash }) => chain.costOf(hash as Hex);
  const payments: Body[] = [];
  for (let sale = 1; sale <= SALES; sale++) {
    const { body: intent } = await merchant.post('/payment_intents', {
      ...{ amount: AMOUNT, terminal: mode.terminal },
    });
    const pay = async () => {
      const credential = { type: 'nfc_id', value: pass };
      const { body } = await terminal.post(`/payment_intents/${intent.id}/tap`, { credential });
      assert.equal(body.last_payment_error ?? null, null, JSON.stringify(body));
      const place = `/payment_intents/${intent.id}`;
      await until(`payment ${sale}`, async () => (await merchant.get(place)).body, 'succeeded');
      const { data } = (await merchant.get(`/payments?payment_intent=${intent.id}`)).body;
      return present((data as Body[])[0], 'the payment');
    };
    payments.push(await take(`payment ${sale}, from the tap to the result`, pay, costs));
  }
  const refund = await take(
    'partial refund',
    async () => {
      const asked = { payment: payments[0]?.id, amount: REFUNDED };
      const { id } = (await merchant.post('/refunds', asked)).body;
      return until(
        'the refund',
        async () => (await merchant.get(`/refunds/${id}`)).body,
        'succeeded',
      );
    },
    costs,
  );
  const withdrawal = await take('withdrawal', () => withdraw(network), costs);
  const merchantWallet = withdrawal.wallet as Hex;
  return { customer, merchantWallet, payments, refund, withdrawal };
}

async function giveMoney(chain: ChainSide, to: Hex): Promise<void> {
  const args = [to, MONEY] as const;
  const data = chain.ownToken
    ? encodeFunctionData({ abi: testUsdcAbi, functionName: 'mint', args })
    : encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
  await chain.send({ to: chain.token, data });
}

async function withdraw({ sandbox }: SpawnedNetwork): Promise<Body> {
  const { web_url: url, dashboard, account } = sandbox;
  const owner = new PersonClient(`${url}/api/dashboard/v1`);
  await owner.post('/session', { ...dashboard });
  await addFactorNow(owner, dashboard.password);
  const place = `/accounts/${account}/test/withdrawals`;
  const asked = await owner.post(place, { amount: WITHDRAWN }, { 'Idempotency-Key': 'rehearsal' });
  assert.equal(asked.status, 201, asked.text);
  const newest = async () => ((await owner.get(place)).body.data as Body[])[0] ?? {};
  return until('the withdrawal', newest, 'succeeded');
}

async function until(what: string, look: () => Promise<Body>, status: string): Promise<Body> {
  let found: Body = {};
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await sleep(LOOK_MS)) {
    found = await look();
    if (found.status === status) return found;
  }
  throw new Error(`waited in vain for ${what}: ${JSON.stringify(found)}`);
}

/**
 * Reads the day's transactions and balances again. @throws if the second provider contradicts the
 * service.
 */
async function readAgain(network: SpawnedNetwork, chain: ChainSide, day: Day): Promise<string[]> {
  const lines: string[] = [];
  const agree = (what: string, told: unknown, ours: unknown) => {
    assert.equal(String(told), String(ours), what);
    lines.push(`${what}: ${String(told)}`);
  };
  for (const [index, payment] of day.payments.entries()) {
    const { succeeded, blockNumber } = await chain.again(payment.tx_hash as Hex);
    assert.ok(succeeded, 'a payment that the second provider does not know');
    agree(`block of payment ${index + 1}`, blockNumber, payment.block_number);
  }
  for (const one of [day.refund, day.withdrawal]) {
    assert.ok((await chain.again(one.tx_hash as Hex)).succeeded, 'a transfer is not there');
  }
  const paid = day.payments.reduce((sum, payment) => {
    const { cashback } = payment.fees as { cashback: number };
    return sum + Number(payment.total_charged) - cashback;
  }, 0);
  const left = Number(MONEY) - paid + REFUNDED;
  agree("atoms in the customer's wallet", await chain.tokensAgain(day.customer.address), left);
  agree("atoms in the merchant's wallet", await chain.tokensAgain(day.merchantWallet), WITHDRAWN);
  const { base_url: root, test: mode } = network.sandbox;
  const { body } = await caller(`${root}/v1`, mode.secret_key).get('/balance');
  const available = (body.available as { amount: number }[])[0]?.amount;
  agree('atoms that the shop may still withdraw', available, SALES * AMOUNT - REFUNDED - WITHDRAWN);
  return lines;
}
