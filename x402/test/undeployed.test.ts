import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm';
import {
  type Address,
  concat,
  type Hex,
  hexToBigInt,
  isAddressEqual,
  numberToHex,
  parseSignature,
  serializeSignature,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { profileFor } from '../../src/settlement/chain-profiles.ts';
import { newWallet } from '../../testkit/apis/wallet-sign-in.ts';
import type { ProviderCall } from '../../testkit/network/back-ends.ts';
import type { Behavior } from '../../testkit/network/provider-behaviors.ts';
import { type ProviderProxy, startProviderProxy } from '../../testkit/network/provider-proxy.ts';
import { REVERTS } from '../../testkit/network/reverts.ts';
import { startSharedSandbox } from '../../testkit/network/shared-sandbox.ts';
import { knownFactories, openAllowance } from '../src/contract-wallets.ts';
import type { Facilitator, FacilitatorOptions } from '../src/index.ts';
import {
  type Buyer,
  completeToken,
  HONEST,
  HONEST_CODE,
  type Made,
  newContractBuyer,
  nodeOf,
} from './undeployed-buyers.ts';
import { identifiedBy, openX402Ground, type X402Ground } from './x402-ground.ts';

/** Clients whose wallet is a contract, or becomes one, and may not be deployed yet (ERC-6492). */

const PRICE = 1_000_000;
const TOTAL = PRICE + 3_000 + 2_000 - 500;
/** Enough for two blocks on a busy machine. */
const WITHIN_MS = 60_000;
/**
 * A factory's code that deploys only if the gas price is 0, as in a simulation, and otherwise
 * reverts.
 */
const HOSTILE_CODE = '0x3a156008575f5ffd5b365f5f375f365f5ff500';
const HOSTILE = numberToHex(0xfac70012n, { size: 20 });
const UNLISTED = numberToHex(0xfac70013n, { size: 20 });

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

let ground: X402Ground;
const proxies: ProviderProxy[] = [];

const node = () => nodeOf(ground);

/** Opens a process with its own bridge, which deploys wallets of the listed factories. */
async function open(changed: Partial<FacilitatorOptions> = {}): Promise<Facilitator> {
  const { privateKey = generatePrivateKey(), ...others } = changed;
  const { address } = privateKeyToAccount(privateKey as Hex);
  await node().setBalance({ address, value: 10n ** 18n });
  return ground.another({ walletFactories: [HONEST, HOSTILE], privateKey, ...others });
}

before(async () => {
  // Uses its own sandbox, because the test changes the token.
  ground = await openX402Ground(await startSharedSandbox());
  await completeToken(ground);
  const codes = [
    [HONEST, HONEST_CODE],
    [HOSTILE, HOSTILE_CODE],
    [UNLISTED, HONEST_CODE],
  ] as const;
  for (const [address, bytecode] of codes) await node().setCode({ address, bytecode });
});

after(async () => {
  for (const proxy of proxies) await proxy.stop();
  await ground?.close();
});

const newBuyer = (made: Made = {}) => newContractBuyer(ground, made);

let resources = 0;

/** Signs a payment for a resource with the real package. */
async function sign(buyer: Buyer, by: Facilitator, seconds = 3_600) {
  // Named, so that each repeated call gets the result.
  const extensions = identifiedBy(randomUUID());
  const resource = `https://shop.test/undeployed/${++resources}`;
  const requirements = {
    ...by.requirements({ price: PRICE, resource }),
    maxTimeoutSeconds: seconds,
  };
  const { network, asset } = requirements as { network: `eip155:${number}`; asset: string };
  const client = x402Client.fromConfig({
    schemes: [{ network, client: new ExactEvmScheme(buyer as never) }],
    spendControls: { allowedAssets: [{ network, asset }] },
  });
  const payload = await client.createPaymentPayload({
    x402Version: 2,
    resource: { url: resource },
    accepts: [requirements as never],
  });
  return { payload: { ...payload, extensions }, requirements };
}

type Signed = Awaited<ReturnType<typeof sign>>;

async function settle({ payload, requirements }: Signed, by: Facilitator) {
  const until = Date.now() + WITHIN_MS;
  for (;;) {
    const settled = await by.settle(payload, requirements);
    if (settled.errorReason !== 'settlement_pending' || Date.now() > until) return settled;
    await sleep(100);
  }
}

/** Returns how many transactions the facilitator has sent. */
const sentBy = ({ bridge }: Facilitator) =>
  node().getTransactionCount({ address: bridge as Address });
const codeOf = (address: Address) => node().getCode({ address });

/** Opens a process whose node can misbehave. */
async function openAtProxy(changed: Partial<FacilitatorOptions> = {}) {
  const proxy = await startProviderProxy(ground.shared.sandbox.test.rpc_url);
  proxies.push(proxy);
  return { proxy, by: await open({ ...changed, rpcUrl: proxy.url }) };
}

const DROPPING: Behavior = { keeps: ({ method }) => method === 'eth_sendRawTransaction' };

function signedWith({ payload, requirements }: Signed, signature: unknown): Signed {
  return { payload: { ...payload, payload: { ...payload.payload, signature } }, requirements };
}

/** Code that answers every call with one word. */
const answering = (word: string): Hex => `0x7f${word}5f5260205ff3`;
const YES_WORD = `1626ba7e${'00'.repeat(28)}`;

describe('a client', { concurrency: true }, () => {
  describe('a wallet of a listed factory', { concurrency: true }, () => {
    test('is valid, and is deployed once before its payment', async () => {
      const by = await open();
      const buyer = await newBuyer();
      const signed = await sign(buyer, by);
      const { isValid } = await by.verify(signed.payload, signed.requirements);
      assert.equal(isValid, true);
      assert.equal(await codeOf(buyer.address), undefined, 'a check deploys nothing');
      const settled = await settle(signed, by);
      assert.equal(settled.success, true, JSON.stringify(settled));
      assert.deepEqual(await settle(signed, by), settled);
      assert.notEqual(await codeOf(buyer.address), undefined);
      assert.equal(await ground.usdcOf(buyer.address), BigInt(TOTAL));
      assert.equal(await sentBy(by), 2, 'a deployment and a transfer');
      // The wallet still wraps its signatures after its deployment.
      assert.equal((await settle(await sign(buyer, by), by)).success, true);
      assert.equal(await sentBy(by), 3);
    });

    test('pays once when two processes settle at once', async () => {
      const privateKey = generatePrivateKey();
      const one = await open({ privateKey });
      const both = [one, await open({ privateKey })];
      const buyer = await newBuyer();
      const signed = await sign(buyer, one);
      const settled = await Promise.all(both.map((by) => settle(signed, by)));
      assert.equal(settled[0]?.success, true, JSON.stringify(settled));
      assert.deepEqual(settled[1], settled[0]);
      assert.equal(await ground.usdcOf(buyer.address), BigInt(TOTAL));
      assert.ok((await sentBy(one)) <= 4, 'each may send both, and no more');
    });

    test('is deployed once when many calls come at once', async () => {
      const by = await open();
      const buyer = await newBuyer();
      const signed = await sign(buyer, by);
      const settled = await Promise.all(Array.from({ length: 5 }, () => settle(signed, by)));
      assert.deepEqual(new Set(settled.map(({ success }) => success)), new Set([true]));
      assert.equal(await ground.usdcOf(buyer.address), BigInt(TOTAL));
      assert.equal(await sentBy(by), 2);
    });

    test('pays once when its process was gone before the money was taken', async () => {
      const privateKey = generatePrivateKey();
      const { proxy, by: hasty } = await openAtProxy({ privateKey, waitMs: 0 });
      const buyer = await newBuyer();
      const signed = await sign(buyer, hasty);
      // The node shows no deployment.
      const shows = { eth_getTransactionReceipt: null, eth_getCode: '0x' };
      const answer: Behavior['answer'] = ({ method }, real) =>
        method in shows ? { result: shows[method as keyof typeof shows] } : real;
      proxy.behavior = { answer };
      const first = await hasty.settle(signed.payload, signed.requirements);
      assert.equal(first.errorReason, 'settlement_pending');
      assert.match(String(first.errorMessage), /being deployed.* same signature/);
      assert.match(first.transaction, /^0x[0-9a-f]{64}$/);
      hasty.close();
      const by = await open({ privateKey });
      assert.equal((await settle(signed, by)).success, true);
      assert.equal(await ground.usdcOf(buyer.address), BigInt(TOTAL));
      assert.equal(await sentBy(by), 2);
    });

    test('that did not sign, or has no money, is refused and never deployed', async () => {
      const by = await open();
      const forged = await sign(await newBuyer({ signer: newWallet() }), by);
      assert.equal((await settle(forged, by)).errorReason, 'invalid_exact_evm_signature');
      const poor = await sign(await newBuyer({ atoms: TOTAL - 1 }), by);
      const { errorReason } = await settle(poor, by);
      assert.equal(errorReason, 'invalid_exact_evm_insufficient_balance');
      assert.equal(await sentBy(by), 0);
    });

    test('whose signature expires too soon to deploy it first is not deployed', async () => {
      const by = await open();
      const buyer = await newBuyer();
      const { errorReason } = await settle(await sign(buyer, by, 25), by);
      assert.equal(errorReason, 'invalid_exact_evm_payload_authorization_valid_before');
      assert.equal(await sentBy(by), 0);
      const account = await ground.newBuyer(BigInt(TOTAL));
      const { payload, requirements } = await sign(account, by, 25);
      assert.equal((await by.verify(payload, requirements)).isValid, true, 'enough for a transfer');
    });

    test('that confirms its signature only at first is not charged', async () => {
      const by = await open();
      const buyer = await newBuyer({ manner: 'two_faced' });
      const settled = await settle(await sign(buyer, by), by);
      assert.deepEqual([settled.success, settled.transaction], [false, '']);
      assert.match(String(settled.errorMessage), /Nothing was charged/);
      assert.notEqual(await codeOf(buyer.address), undefined, 'only the chain shows its no');
      assert.equal(await ground.usdcOf(buyer.address), BigInt(2 * TOTAL));
    });

    test('is deployed by the next call when the node dropped its deployment', async () => {
      const { proxy, by } = await openAtProxy({ waitMs: 0 });
      const buyer = await newBuyer();
      const signed = await sign(buyer, by);
      proxy.behavior = DROPPING;
      const first = await by.settle(signed.payload, signed.requirements);
      assert.match(String(first.errorMessage), /being deployed/);
      proxy.behavior = null;
      const settled = await settle(signed, by);
      assert.equal(settled.success, true, JSON.stringify(settled));
      assert.equal(await sentBy(by), 2);
    });

    test('pays though the node shows its code after its transaction', async () => {
      const { proxy, by } = await openAtProxy();
      const buyer = await newBuyer();
      const signed = await sign(buyer, by);
      let mined = Number.POSITIVE_INFINITY;
      const answer: Behavior['answer'] = ({ method, params }, real) => {
        const isReceipt = method === 'eth_getTransactionReceipt' && real.result !== null;
        if (isReceipt) mined = Math.min(mined, performance.now());
        const isOfBuyer =
          method === 'eth_getCode' && isAddressEqual(params[0] as Address, buyer.address);
        return isOfBuyer && performance.now() < mined + 1_000 ? { result: '0x' } : real;
      };
      proxy.behavior = { answer };
      const settled = await settle(signed, by);
      assert.equal(settled.success, true, JSON.stringify(settled));
      assert.equal(await sentBy(by), 2);
    });

    test('of a hostile factory costs three transactions an hour', async () => {
      const by = await open();
      const buyer = await newBuyer({ factory: HOSTILE });
      const messages: string[] = [];
      for (let time = 0; time < 4; time++) {
        messages.push(String((await settle(await sign(buyer, by), by)).errorMessage));
      }
      for (const one of messages.slice(0, 3)) assert.match(one, /could not be deployed/);
      assert.match(messages[3] ?? '', /deploys no more wallets for now/);
      assert.equal(await sentBy(by), 3);
    });

    test('of a factory that is not listed is refused with the remedy', async () => {
      const { chain_id } = ground.shared.sandbox.test;
      assert.deepEqual(knownFactories(chain_id), []);
      for (const [factory, by] of [
        [UNLISTED, await open()],
        [HONEST, ground.facilitator],
      ] as const) {
        const signed = await sign(await newBuyer({ factory }), by);
        const verified = await by.verify(signed.payload, signed.requirements);
        assert.equal(verified.invalidReason, 'wallet_not_deployed');
        assert.match(String(verified.invalidMessage), /Send any transaction from it/);
        const { errorReason, errorMessage } = await settle(signed, by);
        const expected = ['wallet_not_deployed', verified.invalidMessage];
        assert.deepEqual([errorReason, errorMessage], expected);
        assert.equal(await sentBy(by), 0);
      }
    });
  });

  describe('an account that gets code', { concurrency: true }, () => {
    /** Delegates (EIP-7702) to a contract without ERC-1271. */
    const delegate = ({ address }: Buyer) => {
      const bytecode = concat(['0xef0100', ground.shared.sandbox.test.usdc as Hex]);
      return node().setCode({ address, bytecode });
    };

    test('after it signed gets the reason why it cannot pay, and nothing is sent', async () => {
      const by = await open();
      const account = await ground.newBuyer(BigInt(TOTAL));
      const signed = await sign(account, by);
      assert.equal((await by.verify(signed.payload, signed.requirements)).isValid, true);
      await delegate(account);
      const settled = await settle(signed, by);
      assert.equal(settled.errorReason, 'invalid_exact_evm_signature');
      assert.match(
        String(settled.errorMessage),
        /delegated to a contract .* Remove the delegation/,
      );
      assert.equal(await sentBy(by), 0);
    });

    test('after it paid gets its result again, and no other caller does', async () => {
      const by = await open();
      const account = await ground.newBuyer(BigInt(2 * TOTAL));
      const signed = await sign(account, by);
      const settled = await settle(signed, by);
      assert.equal(settled.success, true, JSON.stringify(settled));
      await delegate(account);
      assert.deepEqual(await settle(signed, by), settled);
      const other = await sign(newWallet(), by);
      const stolen = await settle(signedWith(signed, other.payload.payload.signature), by);
      assert.deepEqual(
        [stolen.errorReason, stolen.transaction],
        ['invalid_exact_evm_signature', ''],
      );
      assert.equal(await ground.usdcOf(account.address), BigInt(TOTAL));
      assert.equal(await sentBy(by), 1);
    });

    test('has confirmed only with the whole word, and not if its code fails', async () => {
      const { proxy, by } = await openAtProxy();
      const account = newWallet();
      await ground.fund(account.address, BigInt(TOTAL));
      const { payload, requirements } = await sign(account, by);
      const isValidWith = async (bytecode: Hex) => {
        await node().setCode({ address: account.address, bytecode });
        return (await by.verify(payload, requirements)).isValid;
      };
      assert.equal(await isValidWith(answering(YES_WORD)), true);
      assert.equal(await isValidWith(answering(`1626ba7e${'00'.repeat(27)}01`)), false);
      const failures = { revert: '0x5f5ffd', invalid: '0xfe', endless: '0x5b5f56', jump: '0x5f56' };
      for (const [name, code] of Object.entries(failures)) {
        assert.equal(await isValidWith(code as Hex), false, name);
      }
      const isQuestion = ({ method, params }: ProviderCall) =>
        method === 'eth_call' && (params[0] as { data?: string }).data?.includes('1626ba7e');
      for (const message of ['header not found', 'missing trie node', 'unknown block']) {
        const error = { code: -32_000, message };
        proxy.behavior = { answer: (call, real) => (isQuestion(call) ? { error } : real) };
        await assert.rejects(isValidWith(answering(YES_WORD)), new RegExp(message));
      }
    });

    test('has refused, however its node reports a revert', async () => {
      const { proxy, by } = await openAtProxy();
      const account = newWallet();
      await ground.fund(account.address, BigInt(TOTAL));
      const { payload, requirements } = await sign(account, by);
      const codes = {
        reverts: '0x5f5ffd',
        halts: '0xfe',
        starts: answering(`ef${'00'.repeat(31)}`),
      };
      for (const [how, bytecode] of Object.entries(codes)) {
        await node().setCode({ address: account.address, bytecode: bytecode as Hex });
        for (const error of REVERTS) {
          proxy.behavior = { answer: (_, real) => ('error' in real ? { error } : real) };
          const { invalidReason } = await by.verify(payload, requirements);
          const which = `${how}: ${error.message}`;
          assert.equal(invalidReason, 'invalid_exact_evm_signature', which);
        }
      }
    });
  });

  test('a signature with a high s is invalid, as for USDC', async () => {
    const by = ground.facilitator;
    const signed = await sign(await ground.newBuyer(BigInt(TOTAL)), by);
    const { r, s, yParity } = parseSignature(signed.payload.payload.signature as Hex);
    const high = numberToHex(ORDER - hexToBigInt(s), { size: 32 });
    const { payload, requirements } = signedWith(
      signed,
      serializeSignature({ r, s: high, yParity: 1 - yParity }),
    );
    const { invalidReason } = await by.verify(payload, requirements);
    assert.equal(invalidReason, 'invalid_exact_evm_signature');
  });

  test('a transfer that the node dropped is pending until it has expired', async () => {
    const { proxy, by } = await openAtProxy({ waitMs: 0 });
    const account = await ground.newBuyer(BigInt(TOTAL));
    const signed = await sign(account, by, 12);
    proxy.behavior = DROPPING;
    const first = await by.settle(signed.payload, signed.requirements);
    assert.equal(first.errorReason, 'settlement_pending');
    proxy.behavior = null;
    const settled = await settle(signed, by);
    assert.equal(settled.errorReason, 'invalid_exact_evm_transaction_failed');
    assert.match(String(settled.errorMessage), /^Nothing was charged: .* not mined in time$/);
    const { validBefore } = signed.payload.payload.authorization as { validBefore: string };
    const { timestamp } = await node().getBlock();
    assert.ok(timestamp >= BigInt(validBefore));
    assert.equal(await ground.usdcOf(account.address), BigInt(TOTAL));
  });
});

test('62 deployments a day are allowed, and the limit is reported once', () => {
  const errors: unknown[] = [];
  const allowance = openAllowance((error) => errors.push(error));
  const wallet = (n: number) => numberToHex(n, { size: 20 });
  for (let n = 0; n < 62; n++) assert.equal(allowance.take(wallet(n)), true);
  assert.equal(errors.length, 0);
  for (let n = 62; n < 65; n++) assert.equal(allowance.take(wallet(n)), false);
  assert.equal(errors.length, 1);
});

test('the default list is that of the network', () => {
  for (const chainId of [1, 8_453, 84_532, 5_042]) {
    assert.deepEqual(knownFactories(chainId), profileFor(null, chainId)?.walletFactories);
  }
});
