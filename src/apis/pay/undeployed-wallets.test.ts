import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { getCreate2Address, numberToHex, serializeErc6492Signature, zeroAddress } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Hex } from '#settlement/requests.ts';
import { type PayGround, PULLED, startPayGround, summary } from '#testing/pay-ground.ts';
import { keyWalletCode, readLink, sign } from '#testing/pay-links.ts';
import { newWallet } from '#testing/wallet-sign-in.ts';

/** Deploys what it is called with (CREATE2, salt 0). */
const HONEST: Hex = '0x365f5f375f365f5ff500';
/** The same where nobody pays for gas; in a transaction it reverts. */
const HOSTILE: Hex = '0x3a156008575f5ffd5b365f5f375f365f5ff500';
const FACTORIES = {
  honest: numberToHex(0xfac70001n, { size: 20 }),
  hostile: numberToHex(0xfac70002n, { size: 20 }),
  unlisted: numberToHex(0xfac70003n, { size: 20 }),
} as const;

let ground: PayGround;

before(async () => {
  // The compiler blocks this process, and with it a relayer, for seconds.
  keyWalletCode(zeroAddress);
  const { honest, hostile } = FACTORIES;
  ground = await startPayGround({ overrides: () => ({ walletFactories: [honest, hostile] }) });
  const { rpc } = ground.world.network;
  await rpc.call('anvil_setCode', [honest, HONEST]);
  await rpc.call('anvil_setCode', [FACTORIES.unlisted, HONEST]);
  await rpc.call('anvil_setCode', [hostile, HOSTILE]);
});

after(() => ground.close());

interface Undeployed {
  readonly account: PrivateKeyAccount;
  readonly from: Hex;
  readonly factory: Hex;
  readonly data: Hex;
}

/** Adds the USDC of a wallet that its factory has not deployed yet. */
async function newUndeployed(
  factory: Hex = FACTORIES.honest,
  { manner = 'honest', usdc = PULLED }: { manner?: 'honest' | 'two_faced'; usdc?: bigint } = {},
): Promise<Undeployed> {
  const account = newWallet();
  const data = keyWalletCode(account.address, manner);
  const salt = numberToHex(0, { size: 32 });
  const from = getCreate2Address({ from: factory, salt, bytecode: data });
  if (usdc > 0n) await ground.mint(from, usdc);
  return { account, from, factory, data };
}

async function pay(wallet: Undeployed, signer: PrivateKeyAccount = wallet.account) {
  const { from, factory, data } = wallet;
  const { intentId, token } = await ground.newLink();
  const signature = await sign(signer, await readLink(ground.server.pay, token, from));
  const wrapped = serializeErc6492Signature({ address: factory, data, signature });
  const send = async () => {
    const answer = await ground.authorize(token, from, wrapped);
    const { error } = answer.body as { error?: { message: string } };
    return { answer: summary(answer), message: error?.message ?? '' };
  };
  return { intentId, token, signature, send };
}

async function deployments(): Promise<string[]> {
  const sql = `select status from chain_requests where kind = 'wallet_deployment' order by id`;
  return (await ground.store.db.query<{ status: string }>(sql)).map(({ status }) => status);
}

async function codeOf(address: Hex): Promise<Hex> {
  return (await ground.world.network.rpc.call('eth_getCode', [address, 'latest'])) as Hex;
}

test('a wallet whose factory is not listed hears the way out, and costs nothing', async () => {
  const { answer, message } = await (await pay(await newUndeployed(FACTORIES.unlisted))).send();
  assert.equal(answer, '400 wallet_not_deployed');
  assert.match(message, /factory .* is not one .* Send something from it first/);
  assert.deepEqual(await deployments(), []);
});

test('a wallet that could not pay, or did not sign, is not deployed', async () => {
  const poor = await (await pay(await newUndeployed(FACTORIES.honest, { usdc: 0n }))).send();
  assert.equal(poor.answer, '400 wallet_not_deployed');
  assert.match(poor.message, /could not pay/);
  const forged = await (await pay(await newUndeployed(), newWallet())).send();
  assert.equal(forged.answer, '400 signature_invalid');
  assert.deepEqual(await deployments(), []);
});

test('a wallet is deployed once, before its first payment', async () => {
  const wallet = await newUndeployed(FACTORIES.honest, { usdc: 2n * PULLED });
  const first = await pay(wallet);
  const both = await Promise.all([first.send(), first.send()]);
  assert.deepEqual(
    both.map(({ answer }) => answer),
    ['200 succeeded', '200 succeeded'],
  );
  assert.notEqual(await codeOf(wallet.from), '0x');
  assert.deepEqual(await deployments(), ['succeeded']);
  assert.equal((await (await pay(wallet)).send()).answer, '200 succeeded');
  assert.equal(await ground.world.network.usdcOf(wallet.from), 0n);
  assert.deepEqual(await deployments(), ['succeeded']);
});

test('a payment that was cut off after the deployment continues as it was signed', async () => {
  const wallet = await newUndeployed();
  const { send } = await pay(wallet);
  const { admin, send: transact } = ground.world.network;
  await transact(admin, wallet.factory, wallet.data);
  assert.equal((await send()).answer, '200 succeeded');
  assert.deepEqual(await deployments(), ['succeeded']);
});

test('a wallet that says yes and then no is declined, and no money moves', async () => {
  const wallet = await newUndeployed(FACTORIES.honest, { manner: 'two_faced' });
  assert.equal((await (await pay(wallet)).send()).answer, '200 authorization_refused');
  assert.equal(await ground.world.network.usdcOf(wallet.from), PULLED);
});

test('a hostile factory costs one transaction, and a caller has three an hour', async () => {
  const { answer, message } = await (await pay(await newUndeployed(FACTORIES.hostile))).send();
  assert.equal(answer, '400 wallet_not_deployed');
  assert.match(message, /did not deploy it/);
  assert.deepEqual(await deployments(), ['succeeded', 'succeeded', 'failed']);
  assert.equal((await (await pay(await newUndeployed())).send()).answer, '429 rate_limit_exceeded');
  assert.equal((await deployments()).length, 3);
});
