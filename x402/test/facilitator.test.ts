import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { x402Client } from '@x402/core/client';
import { HTTPFacilitatorClient } from '@x402/core/server';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm';
import {
  type Address,
  createTestClient,
  createWalletClient,
  type Hex,
  http,
  publicActions,
} from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { type Listening, listen } from '../../testkit/network/listen.ts';
import { digestOf, transferCall } from '../src/authorization.ts';
import { routesOf, serverOf } from '../src/index.ts';
import { priceOf, totalOf } from '../src/price-after-fees.ts';
import { identifiedBy, openX402Ground, settleAt, type X402Ground } from './x402-ground.ts';

/** Tests the routes that x402 servers call, with the unmodified client of `@x402/core`. */

const PRICE = 1_000_000;
const TOTAL = PRICE + 3_000 + 2_000 - 500;
const FUNDS = 10_000_000n;
const COMMAND = path.join(import.meta.dirname, '../../x402/bin/tapline-x402.js');
/** Enough for two blocks on a busy machine. */
const WITHIN_MS = 60_000;
const ASKED_AGAIN = 10;

let ground: X402Ground;
let routes: Listening;
let client: HTTPFacilitatorClient;

before(async () => {
  ground = await openX402Ground();
  routes = await listen(serverOf(routesOf(ground.facilitator)));
  client = new HTTPFacilitatorClient(routes);
});

after(async () => {
  await routes?.close();
  await ground?.close();
});

interface Signed {
  readonly payload: PaymentPayload;
  readonly requirements: PaymentRequirements;
}

/** Signs an x402 client's payload for a resource with the real package. */
async function sign(buyer: PrivateKeyAccount, resource: string): Promise<Signed> {
  const requirements = {
    ...ground.facilitator.requirements({ price: PRICE, resource }),
    // Long enough for a busy machine; expired signatures are not tested here.
    maxTimeoutSeconds: 3_600,
  } as PaymentRequirements;
  const { network, asset } = requirements;
  const signer = x402Client.fromConfig({
    schemes: [{ network, client: new ExactEvmScheme(buyer) }],
    spendControls: { allowedAssets: [{ network, asset }] },
  });
  const payload = await signer.createPaymentPayload({
    x402Version: 2,
    resource: { url: resource },
    accepts: [requirements],
  });
  return { payload, requirements };
}

interface Answer {
  readonly success: boolean;
  readonly errorReason?: string | undefined;
  readonly transaction: string;
  readonly extra?: unknown;
}

function pending(): Answer {
  return { success: false, errorReason: 'settlement_pending', transaction: '' };
}

/**
 * Settles again until the result is known. The client throws the 503 by which a facilitator says
 * that it does not know the result yet.
 */
async function settledBy(settle: () => Promise<Answer>): Promise<Answer> {
  const until = Date.now() + WITHIN_MS;
  for (;;) {
    const settled = await settle().catch(pending);
    if (settled.errorReason !== 'settlement_pending' || Date.now() > until) return settled;
    await sleep(100);
  }
}

test('the routes describe their requests', async () => {
  const { kinds, signers } = await client.getSupported();
  const { chain_id } = ground.shared.sandbox.test;
  const network = `eip155:${chain_id}`;
  assert.deepEqual(kinds, [{ x402Version: 2, scheme: 'exact', network }]);
  assert.deepEqual(signers, { [network]: [ground.bridge.address] });
});

describe('settle', () => {
  test('takes the money once in ten parallel calls and ten later ones, by one name', async () => {
    const buyer = await ground.newBuyer(FUNDS);
    const before = await ground.merchantReceived();
    const { payload: unnamed, requirements } = await sign(buyer, 'https://shop.test/once');
    const payload = { ...unnamed, extensions: identifiedBy(randomUUID()) };
    assert.equal((await client.verify(payload, requirements)).isValid, true);
    // On a busy machine the first response may be "pending".
    const settle = () => settledBy(() => client.settle(payload, requirements));
    const together = await Promise.all(Array.from({ length: ASKED_AGAIN }, settle));
    for (let time = 0; time < ASKED_AGAIN; time++) together.push(await settle());
    const [first] = together;
    assert.equal(first?.success, true, JSON.stringify(first));
    for (const settled of together) assert.deepEqual(settled, first);
    assert.equal((await client.verify(payload, requirements)).isValid, true);
    assert.equal(await ground.usdcOf(buyer.address), FUNDS - BigInt(TOTAL));
    assert.equal(await ground.merchantReceived(), before + BigInt(PRICE));
    // A used signature cannot pay for a second purchase.
    const { isValid, invalidReason } = await client.verify(unnamed, requirements);
    assert.deepEqual([isValid, invalidReason], [false, 'invalid_exact_evm_nonce_already_used']);
  });

  test('takes the money once, although two processes are called at once', async () => {
    const other = await ground.another();
    const buyer = await ground.newBuyer(FUNDS);
    const before = await ground.merchantReceived();
    const { payload, requirements } = await sign(buyer, 'https://shop.test/two');
    const named = { ...payload, extensions: identifiedBy(randomUUID()) };
    const both = await Promise.all(
      [ground.facilitator, other].map((one) => settledBy(() => one.settle(named, requirements))),
    );
    assert.deepEqual(
      both.map(({ success }) => success),
      [true, true],
      JSON.stringify(both),
    );
    assert.equal(both[0]?.transaction, both[1]?.transaction);
    assert.equal(await ground.usdcOf(buyer.address), FUNDS - BigInt(TOTAL));
    assert.equal(await ground.merchantReceived(), before + BigInt(PRICE));
  });

  test('says "pending" while the result is unknown, and continues from there', async () => {
    const hasty = await ground.another({ waitMs: 0 });
    const buyer = await ground.newBuyer(FUNDS);
    const { payload, requirements } = await sign(buyer, 'https://shop.test/pending');
    const first = await hasty.settle(payload, requirements);
    assert.equal(first.success, false);
    assert.equal(first.errorReason, 'settlement_pending');
    assert.match(first.transaction, /^0x[0-9a-f]{64}$/);
    assert.match(first.errorMessage ?? '', /same signature/);
    const last = await settledBy(() => hasty.settle(payload, requirements));
    assert.equal(last.success, true, JSON.stringify(last));
    assert.equal(last.transaction, first.transaction);
    assert.equal(await ground.usdcOf(buyer.address), FUNDS - BigInt(TOTAL));
  });

  test('refuses a signature that was presented for something else', async () => {
    const buyer = await ground.newBuyer(FUNDS);
    const { payload, requirements } = await sign(buyer, 'https://shop.test/cheap');
    const first = await settledBy(() => client.settle(payload, requirements));
    assert.equal(first.success, true);
    const other = { ...requirements, extra: { ...requirements.extra, resource: 'https://x.test' } };
    const settled = await ground.facilitator.settle(payload, other);
    assert.deepEqual([settled.success, settled.errorReason], [false, 'duplicate_settlement']);
    assert.equal(settled.transaction, first.transaction);
    assert.deepEqual(settled.extra, first.extra);
    assert.doesNotMatch(settled.errorMessage ?? '', /sign a new/i);
  });

  const WRONG: readonly (readonly [string, (signed: Signed) => unknown, string])[] = [
    [
      'to another recipient',
      (s) => patch(s, { payTo: `0x${'1'.repeat(40)}` }),
      'recipient_mismatch',
    ],
    ['for another price', (s) => patch(s, { amount: '1' }), 'authorization_value_mismatch'],
    ['on another chain', (s) => patch(s, { network: 'eip155:1' }), 'network_mismatch'],
    ['of another scheme', (s) => patch(s, { scheme: 'upto' }), 'invalid_exact_evm_scheme'],
    ['in another token', (s) => patch(s, { asset: `0x${'1'.repeat(40)}` }), 'invalid_asset'],
  ];
  function patch({ payload, requirements }: Signed, change: object) {
    return [payload, { ...requirements, ...change }];
  }
  test('refuses a mismatch, and moves nothing', async () => {
    const buyer = await ground.newBuyer(FUNDS);
    const signed = await sign(buyer, 'https://shop.test/wrong');
    for (const [what, change, reason] of WRONG) {
      const [payload, requirements] = change(signed) as [unknown, unknown];
      const settled = await ground.facilitator.settle(payload, requirements);
      assert.equal(settled.success, false, what);
      assert.ok(settled.errorReason?.includes(reason), `${what}: ${settled.errorReason}`);
    }
    const stranger = await sign(await ground.newBuyer(1n), 'https://shop.test/wrong');
    const forged = structuredClone(stranger.payload);
    Object.assign(forged.payload.authorization as object, { from: buyer.address });
    const { errorReason } = await ground.facilitator.settle(forged, signed.requirements);
    assert.equal(errorReason, 'invalid_exact_evm_signature');
    for (const nonsense of [
      null,
      {},
      [],
      'x',
      { payload: {} },
      { payload: { authorization: 1 } },
    ]) {
      const settled = await ground.facilitator.settle(nonsense, signed.requirements);
      assert.equal(settled.errorReason, 'invalid_payload');
    }
    assert.equal(await ground.usdcOf(buyer.address), FUNDS);
  });
});

/** Returns the ID of the intent that the facilitator made for a resource. */
async function intentOf(resource: string): Promise<string | undefined> {
  const { data } = (await ground.merchant.get('/payment_intents?limit=20')).body as {
    data: { id: string; description: string | null }[];
  };
  return data.find(({ description }) => description?.includes(resource))?.id;
}

/** Expires the intent that the facilitator made for a resource. */
async function expireSaleOf(resource: string): Promise<void> {
  const id = await intentOf(resource);
  const { status } = await ground.merchant.post(`/test_helpers/payment_intents/${id}/expire`);
  assert.equal(status, 200);
}

test('money taken for a sale that ended unpaid is returned once, by any process', async () => {
  const hasty = await ground.another({ waitMs: 0 });
  const buyer = await ground.newBuyer(FUNDS);
  const resource = `https://shop.test/lost-${buyer.address}`;
  const { payload, requirements } = await sign(buyer, resource);
  assert.equal((await hasty.settle(payload, requirements)).errorReason, 'settlement_pending');
  // The client never calls again, and the intent expires.
  await expireSaleOf(resource);
  const until = Date.now() + WITHIN_MS;
  while ((await ground.usdcOf(buyer.address)) === FUNDS && Date.now() < until) await sleep(100);
  const other = await ground.another();
  const returned = [...(await other.sweep()), ...(await ground.facilitator.sweep())];
  while ((await ground.usdcOf(buyer.address)) !== FUNDS && Date.now() < until) await sleep(100);
  assert.ok(returned.length <= 1, `${returned}`);
  assert.equal(await ground.usdcOf(buyer.address), FUNDS);
  const late = await ground.facilitator.settle(payload, requirements);
  assert.equal(late.success, false);
  assert.match(late.errorMessage ?? '', /refunded/);
  assert.equal(await ground.usdcOf(buyer.address), FUNDS);
});

/** Sends one atom to another account, with the nonce that the buyer signed for the sale. */
async function spendElsewhere(buyer: PrivateKeyAccount, { payload, requirements }: Signed) {
  const { rpc_url: rpcUrl, chain_id: chainId, usdc } = ground.shared.sandbox.test;
  const { name, version } = requirements.extra as { name: string; version: string };
  const domain = { name, version };
  const facts = { rpcUrl, chainId, usdc: usdc as Address, domain };
  const { nonce } = payload.payload.authorization as { nonce: Hex };
  const { address: to } = await ground.newBuyer(0n);
  const none = { from: buyer.address, to, value: 1n, validAfter: 0n, nonce };
  const other = { ...none, validBefore: 2n ** 40n };
  const signature = await buyer.sign({ hash: digestOf(facts, other) });
  const transport = http(rpcUrl);
  const node = createTestClient({ mode: 'anvil', transport }).extend(publicActions);
  await node.setBalance({ address: buyer.address, value: 10n ** 18n });
  const wallet = createWalletClient({ account: buyer, transport });
  const data = await transferCall(facts, { ...other, signature });
  const hash = await wallet.sendTransaction({ chain: null, to: facts.usdc, data });
  const receipt = await node.waitForTransactionReceipt({ hash });
  assert.equal(receipt.status, 'success');
}

test('a nonce that moved other money buys nothing, and nothing is returned for it', async () => {
  const buyer = await ground.newBuyer(FUNDS);
  const resource = `https://shop.test/elsewhere-${buyer.address}`;
  const signed = await sign(buyer, resource);
  const { payload, requirements } = signed;
  assert.equal((await ground.facilitator.verify(payload, requirements)).isValid, true);
  await spendElsewhere(buyer, signed);
  const before = await ground.usdcOf(ground.bridge.address);
  const paid = await ground.merchantReceived();
  const settled = await ground.facilitator.settle(payload, requirements);
  assert.equal(settled.success, false, JSON.stringify(settled));
  assert.match(settled.errorMessage ?? '', /Nothing was charged/);
  assert.equal(await ground.merchantReceived(), paid);
  await expireSaleOf(resource);
  assert.deepEqual(await ground.facilitator.sweep(), []);
  const late = await ground.facilitator.settle(payload, requirements);
  assert.match(late.errorMessage ?? '', /Nothing was charged/);
  assert.equal(await ground.usdcOf(ground.bridge.address), before);
  assert.equal(await ground.usdcOf(buyer.address), FUNDS - 1n);
});

describe('the command tapline-x402', () => {
  async function start(extra: Readonly<Record<string, string>> = {}) {
    const settings = ground.settings();
    const child = spawn(process.execPath, [COMMAND], {
      env: {
        PATH: process.env.PATH ?? '',
        TAPLINE_BASE_URL: settings.baseUrl,
        TAPLINE_API_KEY: settings.apiKey,
        TAPLINE_ACCOUNT: settings.account,
        TAPLINE_TERMINAL: settings.terminal,
        X402_PRIVATE_KEY: settings.privateKey,
        X402_RPC_URL: settings.rpcUrl,
        PORT: '0',
        ...extra,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface(child.stdout)) {
      const url = /^listening on (\S+),/.exec(line)?.[1];
      if (url !== undefined) return { child, url };
    }
    throw new Error('it ended before it listened');
  }

  test('killed in the middle of a settlement, continues and takes no money twice', async () => {
    const buyer = await ground.newBuyer(FUNDS);
    const resource = `https://shop.test/killed-${buyer.address}`;
    const { payload, requirements } = await sign(buyer, resource);
    const first = await start();
    const cut = new HTTPFacilitatorClient({ url: first.url }).settle(payload, requirements);
    cut.catch(() => {});
    while ((await intentOf(resource)) === undefined) await sleep(50);
    first.child.kill('SIGKILL');
    await assert.rejects(cut);
    const second = await start();
    const settled = await settledBy(() => settleAt(second.url, { payload, requirements }));
    second.child.kill('SIGTERM');
    assert.deepEqual(await once(second.child, 'exit'), [0, null]);
    // The first process may have told its caller that the sale is paid.
    assert.equal(settled.errorReason, 'duplicate_settlement', JSON.stringify(settled));
    assert.match(settled.transaction, /^0x[0-9a-f]{64}$/);
    const { paymentIntent } = settled.extra as { paymentIntent: string };
    const { body } = await ground.merchant.get(`/payment_intents/${paymentIntent}`);
    assert.equal((body as { status?: string }).status, 'succeeded');
    assert.equal(await ground.usdcOf(buyer.address), FUNDS - BigInt(TOTAL));
  });

  test('requires its token if one is set, and names missing settings', async () => {
    const { child, url } = await start({ X402_TOKEN: 'secret' });
    const call = (headers: Record<string, string>) =>
      fetch(`${url}/settle`, { method: 'POST', headers, body: '{}' });
    assert.equal((await call({})).status, 401);
    assert.equal((await call({ Authorization: 'Bearer wrong!' })).status, 401);
    assert.equal((await call({ Authorization: 'Bearer secret' })).status, 200);
    assert.equal((await fetch(`${url}/supported`)).status, 200);
    assert.equal((await fetch(`${url}/other`)).status, 404);
    child.kill('SIGTERM');
    await once(child, 'exit');
    const bare = spawn(process.execPath, [COMMAND], { env: {}, stdio: 'ignore' });
    assert.deepEqual(await once(bare, 'exit'), [2, null]);
  });

  test('without a token, a page of any site is refused', async () => {
    for (const route of ['verify', 'settle']) {
      const headers = { Origin: 'https://page.example', 'Content-Type': 'text/plain' };
      const answer = await fetch(`${routes.url}/${route}`, { method: 'POST', headers, body: '{}' });
      assert.equal(answer.status, 403, route);
    }
  });

  test('refuses an empty token, which no request could carry', async () => {
    const needed = ['TAPLINE_BASE_URL', 'TAPLINE_API_KEY', 'TAPLINE_ACCOUNT', 'TAPLINE_TERMINAL'];
    const names = [...needed, 'X402_PRIVATE_KEY', 'X402_RPC_URL'];
    const env = { ...Object.fromEntries(names.map((name) => [name, 'set'])), X402_TOKEN: '' };
    const child = spawn(process.execPath, [COMMAND], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    const [[line], ended] = await Promise.all([
      once(createInterface(child.stderr), 'line'),
      once(child, 'exit'),
    ]);
    assert.equal(line, 'X402_TOKEN is empty. Set a token, or remove the setting.');
    assert.deepEqual(ended, [2, null]);
  });
});

test('a total pays for the price from which it was computed', () => {
  const rates = { acquirer: 30, protocol: 20, cashback: 5 };
  for (const price of [1, 2, 99, 499, 500, 1_999, 2_000, 2_001, 33_333, 2_500_000, 1e12]) {
    const total = totalOf(price, rates);
    const back = priceOf(total, rates);
    assert.ok(back >= price && totalOf(back, rates) === total, `${price} → ${total} → ${back}`);
  }
});
