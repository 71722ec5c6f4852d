import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm';
import {
  type Address,
  concat,
  createTestClient,
  getCreate2Address,
  type Hex,
  http,
  keccak256,
  numberToHex,
  pad,
  publicActions,
  serializeErc6492Signature,
  type TypedDataDefinition,
  toHex,
} from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { profileFor } from '#settlement/chain-profiles.ts';
import { keyWalletCode } from '#testing/pay-links.ts';
import { startSharedSandbox } from '#testing/shared-sandbox.ts';
import { newWallet } from '#testing/wallet-sign-in.ts';
import { compileContract } from '../../contracts/compile.ts';
import type { Facilitator } from '../../x402/src/index.ts';
import { knownFactories } from '../../x402/src/wallets.ts';
import { openX402Ground, type X402Ground } from './x402-ground.ts';

/** Clients whose wallet is a contract that is not on the chain yet (ERC-6492). */

const PRICE = 1_000_000;
const TOTAL = PRICE + 3_000 + 2_000 - 500;
/** Two blocks, on a busy machine. */
const WITHIN_MS = 60_000;
/** Deploys what it is called with (CREATE2, salt 0). */
const HONEST_CODE = '0x365f5f375f365f5ff500';
/** The same where nobody pays for gas; in a transaction it reverts. */
const HOSTILE_CODE = '0x3a156008575f5ffd5b365f5f375f365f5ff500';
const HONEST = numberToHex(0xfac70011n, { size: 20 });
const HOSTILE = numberToHex(0xfac70012n, { size: 20 });
const UNLISTED = numberToHex(0xfac70013n, { size: 20 });

let ground: X402Ground;
let facilitator: Facilitator;

function node() {
  const { rpc_url, chain_id } = ground.shared.sandbox.test;
  const chain = { ...foundry, id: chain_id };
  return createTestClient({ mode: 'anvil', chain, transport: http(rpc_url) }).extend(publicActions);
}

/** Opens a process that deploys wallets of the listed factories. */
const open = (waitMs?: number) =>
  ground.another({
    walletFactories: [HONEST, HOSTILE],
    ...(waitMs === undefined ? {} : { waitMs }),
  });

/** Gives the sandbox's token the function of Circle's that contract wallets need. */
async function completeToken(): Promise<void> {
  const { address } = newWallet();
  const client = node();
  await client.setBalance({ address, value: 10n ** 18n });
  await client.impersonateAccount({ address });
  const { bytecode } = compileContract('test/FullUSDC');
  const request = { from: address, data: bytecode, gas: numberToHex(10_000_000n) };
  const hash = (await client.request({
    method: 'eth_sendTransaction' as never,
    params: [request] as never,
  })) as Hex;
  const { contractAddress } = await client.waitForTransactionReceipt({ hash });
  await client.setStorageAt({
    address: ground.shared.sandbox.test.usdc as Address,
    index: keccak256(toHex('tapline.test-usdc.logic')),
    value: pad(contractAddress as Hex),
  });
}

before(async () => {
  // Its own, because the token is changed.
  ground = await openX402Ground(await startSharedSandbox());
  await completeToken();
  facilitator = await open();
  const codes = [
    [HONEST, HONEST_CODE],
    [HOSTILE, HOSTILE_CODE],
    [UNLISTED, HONEST_CODE],
  ] as const;
  for (const [address, bytecode] of codes) await node().setCode({ address, bytecode });
});

after(() => ground?.close());

interface Buyer {
  readonly address: Address;
  readonly signTypedData: (typed: TypedDataDefinition) => Promise<Hex>;
}

interface Made {
  readonly factory?: Hex;
  readonly manner?: 'honest' | 'two_faced';
  readonly signer?: PrivateKeyAccount;
}

/** Adds a wallet with money that its factory has not deployed yet. */
async function newBuyer(made: Made = {}): Promise<Buyer> {
  const { factory = HONEST, manner = 'honest' } = made;
  const account = newWallet();
  const { signer = account } = made;
  const data = keyWalletCode(account.address, manner);
  const salt = numberToHex(0, { size: 32 });
  const address = getCreate2Address({ from: factory, salt, bytecode: data });
  await ground.fund(address, BigInt(2 * TOTAL));
  const wrap = (signature: Hex) => serializeErc6492Signature({ address: factory, data, signature });
  return {
    address,
    signTypedData: async (typed) => wrap(await signer.signTypedData(typed)),
  };
}

let resources = 0;

/** Signs a payment for something with the real package. */
async function sign(buyer: Buyer, by = facilitator) {
  const resource = `https://shop.test/undeployed/${++resources}`;
  const requirements = {
    ...by.requirements({ price: PRICE, resource }),
    maxTimeoutSeconds: 3_600,
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
  return { payload, requirements };
}

type Signed = Awaited<ReturnType<typeof sign>>;

async function settle({ payload, requirements }: Signed, by = facilitator) {
  const until = Date.now() + WITHIN_MS;
  for (;;) {
    const settled = await by.settle(payload, requirements);
    if (settled.errorReason !== 'settlement_pending' || Date.now() > until) return settled;
    await sleep(100);
  }
}

/** Returns how many transactions the bridge has sent. */
const sent = () => node().getTransactionCount({ address: ground.bridge.address });
const codeOf = (address: Address) => node().getCode({ address });

describe('a wallet of a listed factory', () => {
  test('is valid, and is deployed once before its payment, by two processes', async () => {
    const buyer = await newBuyer();
    const signed = await sign(buyer);
    const { isValid } = await facilitator.verify(signed.payload, signed.requirements);
    assert.equal(isValid, true);
    assert.equal(await codeOf(buyer.address), undefined, 'a check deploys nothing');
    const before = await sent();
    const settled = await settle(signed);
    assert.equal(settled.success, true, JSON.stringify(settled));
    assert.deepEqual(await settle(signed, await open()), settled);
    assert.notEqual(await codeOf(buyer.address), undefined);
    assert.equal(await ground.usdcOf(buyer.address), BigInt(TOTAL));
    assert.equal((await sent()) - before, 2, 'a deployment and a transfer');
    // It still wraps its signatures.
    assert.equal((await settle(await sign(buyer))).success, true);
    assert.equal((await sent()) - before, 3);
  });

  test('is deployed once when many calls come at once', async () => {
    const buyer = await newBuyer();
    const signed = await sign(buyer);
    const before = await sent();
    const settled = await Promise.all(Array.from({ length: 5 }, () => settle(signed)));
    assert.deepEqual(new Set(settled.map(({ success }) => success)), new Set([true]));
    assert.equal(await ground.usdcOf(buyer.address), BigInt(TOTAL));
    assert.equal((await sent()) - before, 2);
  });

  test('pays once when its process was gone before the money was taken', async () => {
    const buyer = await newBuyer();
    const hasty = await open(0);
    const signed = await sign(buyer, hasty);
    const before = await sent();
    const first = await hasty.settle(signed.payload, signed.requirements);
    assert.equal(first.errorReason, 'settlement_pending');
    assert.match(String(first.errorMessage), /being deployed.* same signature/);
    hasty.close();
    assert.equal((await settle(signed)).success, true);
    assert.equal(await ground.usdcOf(buyer.address), BigInt(TOTAL));
    assert.equal((await sent()) - before, 2);
  });

  test('that did not sign, or has no money, is refused and never deployed', async () => {
    const before = await sent();
    const forged = await settle(await sign(await newBuyer({ signer: newWallet() })));
    assert.equal(forged.errorReason, 'invalid_exact_evm_signature');
    const buyer = await newBuyer();
    assert.equal((await settle(await sign(buyer))).success, true);
    assert.equal((await settle(await sign(buyer))).success, true);
    const poor = await settle(await sign(buyer));
    assert.equal(poor.errorReason, 'invalid_exact_evm_insufficient_balance');
    assert.equal((await sent()) - before, 3);
  });

  test('that confirms its signature only at first is not charged', async () => {
    const buyer = await newBuyer({ manner: 'two_faced' });
    const settled = await settle(await sign(buyer));
    assert.deepEqual([settled.success, settled.transaction], [false, '']);
    assert.match(String(settled.errorMessage), /Nothing was charged/);
    assert.notEqual(await codeOf(buyer.address), undefined, 'only the chain shows its no');
    assert.equal(await ground.usdcOf(buyer.address), BigInt(2 * TOTAL));
  });
});

test('a hostile factory costs three transactions an hour for a wallet', async () => {
  const signed = await sign(await newBuyer({ factory: HOSTILE }));
  const before = await sent();
  const told: string[] = [];
  for (let time = 0; time < 4; time++) told.push(String((await settle(signed)).errorMessage));
  for (const one of told.slice(0, 3)) assert.match(one, /could not be deployed/);
  assert.match(told[3] ?? '', /deploys no more wallets for now/);
  assert.equal((await sent()) - before, 3);
});

test('a wallet of another factory, or of any by default here, gets the remedy', async () => {
  const before = await sent();
  const { chain_id } = ground.shared.sandbox.test;
  assert.deepEqual(knownFactories(chain_id), []);
  for (const [factory, by] of [
    [UNLISTED, facilitator],
    [HONEST, ground.facilitator],
  ] as const) {
    const signed = await sign(await newBuyer({ factory }), by);
    const verified = await by.verify(signed.payload, signed.requirements);
    assert.equal(verified.invalidReason, 'wallet_not_deployed');
    assert.match(String(verified.invalidMessage), /Send something from it first/);
    const { errorReason, errorMessage } = await settle(signed, by);
    assert.deepEqual([errorReason, errorMessage], ['wallet_not_deployed', verified.invalidMessage]);
  }
  assert.equal(await sent(), before);
});

test('an account that delegates after it signed is told why, and nothing is sent', async () => {
  const account = await ground.newBuyer(BigInt(TOTAL));
  const signed = await sign(account);
  assert.equal((await facilitator.verify(signed.payload, signed.requirements)).isValid, true);
  // A contract without ERC-1271.
  const bytecode = concat(['0xef0100', ground.shared.sandbox.test.usdc as Hex]);
  await node().setCode({ address: account.address, bytecode });
  const before = await sent();
  const settled = await settle(signed);
  assert.equal(settled.errorReason, 'invalid_exact_evm_signature');
  assert.match(String(settled.errorMessage), /delegated to a contract .* Remove the delegation/);
  assert.equal(await sent(), before);
});

test('the default list is that of the network', () => {
  for (const chainId of [1, 8_453, 84_532, 5_042]) {
    assert.deepEqual(knownFactories(chainId), profileFor(null, chainId)?.walletFactories);
  }
});
