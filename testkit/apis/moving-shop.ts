import assert from 'node:assert/strict';
import { encodeFunctionData, erc20Abi } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { type Body, type Caller, caller } from '#testkit/apis/api-client.ts';
import {
  enrolBySignature,
  type OutsideChain,
  type OutsideContract,
  startOutsideChain,
} from '#testkit/apis/outside-chain.ts';
import { addFactorNow } from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import {
  type SpawnedNetwork,
  spawnNetwork,
  temporaryDataDir,
} from '#testkit/network/spawn-network.ts';
import { testUsdcAbi } from '../../contracts/artifacts/TestUSDC.ts';

/** The amount of every sale in atoms of USDC. */
export const SALE = 2_500_000;
const MONEY = 100_000_000n;
const WAIT_MS = 180_000;

/**
 * A network with one merchant and one payer, for tests that replace its settlement contract with a
 * new version.
 */
export interface MovingShop {
  readonly chain: OutsideChain;
  readonly first: OutsideContract;
  readonly folder: string;
  readonly payer: PrivateKeyAccount;
  /** The network as of its latest start. */
  readonly network: SpawnedNetwork;
  readonly merchant: Caller;
  readonly owner: PersonClient;
  /** Starts the service with these contracts, and signs the owner in. */
  start(contract: OutsideContract): Promise<void>;
  /** @returns the intent's id */
  createSale(): Promise<string>;
  tap(intent: string, pass: string): Promise<Body>;
  /** @returns the payment's id */
  pay(intent: string, pass: string): Promise<string>;
  /** Returns the address of the contract that a payment's receipt names. */
  settledAt(payment: string): Promise<string>;
  /** @returns the refund in its final state */
  refund(payment: string | undefined): Promise<Body>;
  /** Returns the available balance in atoms, as `GET /balance` shows it. */
  available(): Promise<number>;
  usdcOf(address: Hex): Promise<bigint>;
  /**
   * Has the payer approve the current contract.
   * @returns a pass
   */
  enrol(): Promise<string>;
  /** Adds a second factor for the merchant's owner, which going live requires. */
  addFactor(): Promise<void>;
  /** Requests to go live, or to move to the new contract. */
  askToGoLive(account?: string): Promise<void>;
  /** Waits until the chain has confirmed the request. */
  untilLive(account?: string): Promise<void>;
  /** Signs in an operator of the network. */
  staff(): Promise<PersonClient>;
  close(): Promise<void>;
}

export const until = <T>(what: string, look: () => Promise<T | null>) =>
  eventually(what, look, WAIT_MS);

/** Opens a shop with a funded payer. Does not start the service yet. */
export async function openMovingShop(chainId: number): Promise<MovingShop> {
  const chain = await startOutsideChain({ chainId, token: 'test' });
  const first = await chain.deploySettlement();
  const folder = await temporaryDataDir();
  const payer = privateKeyToAccount(generatePrivateKey());
  const mint = { abi: testUsdcAbi, functionName: 'mint', args: [payer.address, MONEY] } as const;
  await chain.send(chain.issuer.key, chain.usdc, encodeFunctionData(mint));
  let network: SpawnedNetwork;
  let merchant: Caller;
  let terminal: Caller;
  let owner: PersonClient | undefined;
  const shop: MovingShop = {
    ...{ chain, first, folder: folder.path, payer },
    get network() {
      return network;
    },
    get merchant() {
      return merchant;
    },
    get owner() {
      return present(owner, 'owner, signed in');
    },
    start: async ({ env }) => {
      network = await spawnNetwork({ dataDir: folder.path, env });
      const { base_url: root, web_url: web, test: mode, dashboard } = network.sandbox;
      merchant = caller(`${root}/v1`, mode.secret_key);
      terminal = caller(`${root}/device/v1`, mode.device_key);
      owner = await signIn(`${web}/api/dashboard/v1`, dashboard, owner);
    },
    createSale: async () => {
      const sale = { amount: SALE, terminal: network.sandbox.test.terminal };
      return String((await merchant.post('/payment_intents', sale)).body.id);
    },
    tap: async (intent, pass) => {
      const credential = { type: 'nfc_id', value: pass };
      return (await terminal.post(`/payment_intents/${intent}/tap`, { credential })).body;
    },
    pay: async (intent, pass) => {
      const body = await shop.tap(intent, pass);
      assert.equal(body.status, 'succeeded', JSON.stringify(body));
      return String(body.payment);
    },
    ...looksOf(() => shop),
    ...consentsOf(() => shop),
    close: async () => {
      await network?.stop();
      await folder.remove();
      await chain.stop();
    },
  };
  return shop;
}

/** Signs in. If the session of `before` is still valid, continues it on another port. */
async function signIn(
  root: string,
  person: { readonly email: string; readonly password: string },
  before?: PersonClient,
): Promise<PersonClient> {
  const client = new PersonClient(root);
  for (const [name, value] of before?.cookies ?? []) client.cookies.set(name, value);
  client.csrfToken = before?.csrfToken ?? null;
  if (before !== undefined && (await client.get('/session')).status === 200) return client;
  client.cookies.clear();
  const signed = await client.post('/session', { ...person });
  assert.equal(signed.status, 200, signed.text);
  return client;
}

function looksOf(
  shop: () => MovingShop,
): Pick<MovingShop, 'settledAt' | 'refund' | 'available' | 'usdcOf' | 'staff'> {
  return {
    settledAt: async (payment) => {
      const { body } = await shop().merchant.get(`/payments/${payment}`);
      const token = new URL(String(body.receipt_url)).pathname.split('/').at(-1);
      const receipt = await fetch(`${shop().network.sandbox.web_url}/api/pay/v1/receipts/${token}`);
      const { proof } = (await receipt.json()) as {
        proof: { settlement: string; merchant: number };
      };
      assert.ok(proof.merchant < 100, 'the receipt names the merchant as the contract does');
      return proof.settlement.toLowerCase();
    },
    refund: async (payment) => {
      const { body } = await shop().merchant.post('/refunds', { payment, amount: SALE });
      return until('the refund', async () => {
        const { body: now } = await shop().merchant.get(`/refunds/${body.id}`);
        return now.status === 'pending' ? null : now;
      });
    },
    available: async () => {
      const { body } = await shop().merchant.get('/balance');
      return (body.available as { amount: number }[])[0]?.amount ?? Number.NaN;
    },
    usdcOf: (address) => {
      const { chain } = shop();
      const call = { abi: erc20Abi, functionName: 'balanceOf', args: [address] } as const;
      return chain.walletOf(chain.issuer.key).readContract({ address: chain.usdc, ...call });
    },
    staff: async () => {
      const { operator, web_url: web } = shop().network.sandbox;
      const staff = await signIn(`${web}/api/operator/v1`, operator);
      await addFactorNow(staff, operator.password);
      return staff;
    },
  };
}

function consentsOf(
  shop: () => MovingShop,
): Pick<MovingShop, 'enrol' | 'addFactor' | 'askToGoLive' | 'untilLive'> {
  const placeOf = (account = shop().network.sandbox.account) => `/accounts/${account}/test/go_live`;
  return {
    enrol: () => {
      const { chain, network, payer } = shop();
      const { chainId } = chain;
      return enrolBySignature(payer, { webUrl: network.sandbox.web_url, chainId });
    },
    addFactor: async () => {
      await addFactorNow(shop().owner, shop().network.sandbox.dashboard.password);
    },
    askToGoLive: async (account) => {
      const reply = await shop().owner.post(`${placeOf(account)}/test_wallet`);
      assert.equal(reply.status, 202, reply.text);
    },
    untilLive: async (account) => {
      await until('the registration', async () => {
        const { body } = await shop().owner.get(placeOf(account));
        return body.live === true && body.next_contract === null ? true : null;
      });
    },
  };
}
