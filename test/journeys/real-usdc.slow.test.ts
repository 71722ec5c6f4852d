import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { encodeFunctionData, getAddress } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { Hex } from '#settlement/chain-requests.ts';
import { type Caller, caller } from '#testkit/apis/api-client.ts';
import {
  enrolBySignature,
  type OutsideChain,
  type OutsideContract,
  startOutsideChain,
} from '#testkit/apis/outside-chain.ts';
import { readLink, sign } from '#testkit/apis/pay-links.ts';
import { addFactorNow } from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { signInWallet } from '#testkit/apis/wallet-sign-in.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import { type OwnNetwork, startOwnNetwork } from '#testkit/network/spawn-network.ts';
import { runCli } from '../../cli/test/run-cli.ts';
import {
  FIAT_TOKEN_MISSING,
  FIAT_TOKEN_NAME_SLOT,
  fiatTokenPart,
  storedText,
} from '../../contracts/test/fiat-token.ts';

/** Runs `npm start` on an external test network with Circle's USDC, for a shop's whole day. */

const CHAIN_ID = 41_100;
const AMOUNT = 2_500_000;
const TAPS = 20;
/** Allows for a transfer that USDC refuses, which is retried after a minute. */
const WAIT_MS = 180_000;
const MONEY = 1_000_000_000n;
const NAMES = { before: 'USD Coin', after: 'USDC of the bridge' };
/** Time limit after a renaming, within which signatures must use the new name. */
const RENAMED_WITHIN_MS = 60_000;

describe('on real USDC', { skip: FIAT_TOKEN_MISSING }, () => {
  let chain: OutsideChain;
  let contract: OutsideContract;
  let network: OwnNetwork;
  let merchant: Caller;
  let terminal: Caller;
  let pass = '';
  let payments: { id: string; payer: Hex }[] = [];
  let renamedAt = 0;
  const payer: PrivateKeyAccount = privateKeyToAccount(generatePrivateKey());

  before(async () => {
    chain = await startOutsideChain({ chainId: CHAIN_ID, token: 'real' });
    contract = await chain.deploySettlement();
    network = await startOwnNetwork({ env: contract.env });
    const { base_url: root, test: mode } = network.sandbox;
    merchant = caller(`${root}/v1`, mode.secret_key);
    terminal = caller(`${root}/device/v1`, mode.device_key);
  });

  after(async () => {
    await network?.close();
    await chain?.stop();
  });

  /** Sends a call to USDC with the key of Circle's roles. */
  function order(functionName: string, ...args: unknown[]): Promise<Hex> {
    const { abi } = fiatTokenPart('FiatTokenV2_2');
    const data = encodeFunctionData({ abi, functionName, args });
    return chain.send(chain.issuer.key, chain.usdc, data);
  }

  const reader = () => chain.walletOf(chain.issuer.key);

  async function usdcOf(address: Hex): Promise<bigint> {
    const { abi } = fiatTokenPart('FiatTokenV2_2');
    const call = { address: chain.usdc, abi, functionName: 'balanceOf', args: [address] };
    return (await reader().readContract(call)) as bigint;
  }

  async function available(): Promise<number> {
    const { body } = await merchant.get('/balance');
    return (body.available as { amount: number }[])[0]?.amount ?? Number.NaN;
  }

  const until = <T>(what: string, look: () => Promise<T | null>) => eventually(what, look, WAIT_MS);

  async function create(): Promise<string> {
    const sale = { amount: AMOUNT, terminal: network.sandbox.test.terminal };
    const { status, body } = await merchant.post('/payment_intents', sale);
    assert.equal(status, 201, JSON.stringify(body));
    return String(body.id);
  }

  const tap = (intent: string, value = pass) =>
    terminal.post(`/payment_intents/${intent}/tap`, { credential: { type: 'nfc_id', value } });

  it('starts without demo money, and reports that', async () => {
    assert.match(network.logs(), /the demo wallets of testnet hold no USDC/);
    const { passes } = network.sandbox.test;
    const tapped = await tap(await create(), passes.ok);
    const refused = tapped.body.last_payment_error as { decline_code: string };
    assert.equal(refused.decline_code, 'insufficient_funds');
  });

  it('has a faucet that says where real test USDC comes from', async () => {
    const url = network.sandbox.web_url;
    const token = await signInWallet(url, payer, { chainId: CHAIN_ID });
    const me = caller(`${url}/api/payer/v1`, token);
    const { status, body } = await me.post('/faucet', {});
    const { code, message } = body.error as { code: string; message: string };
    assert.deepEqual([status, code], [409, 'not_configured']);
    assert.match(message, /faucet\.circle\.com/);
    assert.ok(message.includes(payer.address) && message.includes(String(CHAIN_ID)));
  });

  it('sets up a payer without gas by two signatures', async () => {
    await order('mint', payer.address, MONEY);
    pass = await enrolBySignature(payer, {
      webUrl: network.sandbox.web_url,
      chainId: CHAIN_ID,
    });
  });

  /** Returns the message that this payer signs for a pay link. */
  const shown = (token: string) => readLink(pay(), token, payer.address);
  const pay = () => caller(`${network.sandbox.base_url}/pay/v1`, 'none');

  async function newLink(): Promise<string> {
    const { body } = await terminal.post('/payment_intents', { amount: AMOUNT });
    return String(body.payment_url).split('/').at(-1) ?? '';
  }

  const domainOf = (name: string) => {
    return { name, version: '2', chainId: CHAIN_ID, verifyingContract: getAddress(chain.usdc) };
  };

  async function doctor(): Promise<unknown> {
    const { objects } = await runCli(['doctor', '--json'], { TAPLINE_DATA_DIR: network.dataDir });
    return objects.find(({ check }) => check === 'token of the testnet');
  }

  it('signs with the current name of USDC, which changes while the service runs', async () => {
    const { typed_data: typed } = await shown(await newLink());
    assert.deepEqual(typed?.domain, domainOf(NAMES.before));
    const detail = `"${NAMES.before}", version "2"`;
    assert.deepEqual(await doctor(), { check: 'token of the testnet', ok: true, detail });
    const at = [chain.usdc, FIAT_TOKEN_NAME_SLOT] as const;
    const request = (method: string, params: readonly string[]) =>
      reader().request({ method, params } as never);
    const stored = await request('eth_getStorageAt', [...at, 'latest']);
    assert.equal(stored, storedText(NAMES.before));
    const slot = `0x${FIAT_TOKEN_NAME_SLOT.slice(2).padStart(64, '0')}`;
    await request('anvil_setStorageAt', [chain.usdc, slot, storedText(NAMES.after)]);
    renamedAt = performance.now();
    const { abi } = fiatTokenPart('FiatTokenV2_2');
    const name = await reader().readContract({ address: chain.usdc, abi, functionName: 'name' });
    assert.equal(name, NAMES.after);
  });

  it('takes twenty taps', async () => {
    const before = await usdcOf(payer.address);
    const taps = await Promise.all(
      Array.from({ length: TAPS }, async () => (await tap(await create())).body),
    );
    for (const { status, last_payment_error: error } of taps) {
      assert.equal(status, 'succeeded', JSON.stringify(error));
    }
    payments = (await merchant.get(`/payments?limit=${TAPS}`)).body.data as typeof payments;
    assert.equal(payments.length, TAPS);
    const charged = BigInt(TAPS) * 2_511_250n;
    assert.equal(before - (await usdcOf(payer.address)), charged);
    assert.equal(await available(), TAPS * AMOUNT);
  });

  it('refunds one of them', async () => {
    const before = await usdcOf(payer.address);
    const body = { payment: payments[0]?.id, amount: 1_000_000 };
    const refund = await merchant.post('/refunds', body);
    assert.equal(refund.status, 201, JSON.stringify(refund.body));
    await until('the refund', async () => {
      const { body } = await merchant.get(`/refunds/${refund.body.id}`);
      return body.status === 'succeeded' ? true : null;
    });
    assert.equal(await usdcOf(payer.address), before + 1_000_000n);
    assert.equal(await available(), TAPS * AMOUNT - 1_000_000);
  });

  it('pays the merchant out to its wallet', async () => {
    const { web_url: url, dashboard, account } = network.sandbox;
    const owner = new PersonClient(`${url}/api/dashboard/v1`);
    await owner.post('/session', { ...dashboard });
    await addFactorNow(owner, dashboard.password);
    const path = `/accounts/${account}/test/withdrawals`;
    const key = { 'Idempotency-Key': 'the first withdrawal' };
    const reply = await owner.post(path, { amount: 10_000_000 }, key);
    assert.equal(reply.status, 201, reply.text);
    await until('the withdrawal', async () => {
      const [row] = (await owner.get(path)).body.data as { status: string }[];
      return row?.status === 'succeeded' ? true : null;
    });
    assert.equal(await usdcOf(reply.body.wallet as Hex), 10_000_000n);
    assert.equal(await available(), TAPS * AMOUNT - 11_000_000);
  });

  it('declines a payer on the blocklist without a transaction, until Circle lifts it', async () => {
    await order('blacklist', payer.address);
    const nonces = () =>
      Promise.all(
        contract.operators.map(({ address }) => reader().getTransactionCount({ address })),
      );
    const before = await nonces();
    const refused = (await tap(await create())).body;
    const error = refused.last_payment_error as { decline_code: string; message: string };
    assert.equal(error.decline_code, 'settlement_failed', JSON.stringify(error));
    assert.deepEqual(await nonces(), before, 'no gas was spent');
    await order('unBlacklist', payer.address);
    assert.equal((await tap(await create())).body.status, 'succeeded');
  });

  it('settles nothing while Circle has paused USDC, and continues afterwards', async () => {
    await order('pause');
    const refused = (await tap(await create())).body;
    assert.equal(refused.status, 'requires_payment_method', JSON.stringify(refused));
    const body = { payment: payments[1]?.id, amount: AMOUNT };
    const refund = await merchant.post('/refunds', body);
    assert.equal(refund.body.status, 'pending', 'a refund waits');
    await order('unpause');
    assert.equal((await tap(await create())).body.status, 'succeeded');
    await until('the refund that waited', async () => {
      const { body } = await merchant.get(`/refunds/${refund.body.id}`);
      return body.status === 'succeeded' ? true : null;
    });
  });

  it('signs with the new name within a minute, and says so', async () => {
    const token = await newLink();
    // Rarely has to wait, because the tests in between take about as long.
    const link = await until('the new name', async () => {
      const isLate = performance.now() > renamedAt + RENAMED_WITHIN_MS;
      const read = await shown(token);
      const { domain } = read.typed_data ?? {};
      if (JSON.stringify(domain)?.includes(NAMES.after)) return read;
      assert.ok(!isLate, `a minute later ${JSON.stringify(domain)} is signed for`);
      return null;
    });
    assert.deepEqual(link.typed_data?.domain, domainOf(NAMES.after));
    const signed = { from: payer.address, signature: await sign(payer, link) };
    const paid = await pay().post(`/${token}/authorization`, signed);
    assert.deepEqual(
      [paid.status, paid.body.status],
      [200, 'succeeded'],
      JSON.stringify(paid.body),
    );
    const ready = await fetch(`${network.sandbox.web_url}/readyz`);
    const { networks } = (await ready.json()) as { networks: { testnet: Record<string, unknown> } };
    assert.equal(networks.testnet.settles, true);
    assert.deepEqual(networks.testnet.token, { name: NAMES.after, version: '2', problem: null });
    const detail = `"${NAMES.after}", version "2"`;
    assert.deepEqual(await doctor(), { check: 'token of the testnet', ok: true, detail });
  });
});
