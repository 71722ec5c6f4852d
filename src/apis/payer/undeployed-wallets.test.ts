import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { getContractAddress, type Hex, keccak256, pad, toHex, zeroAddress } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { createApproval } from '#payers/create-approval.ts';
import { createTransfer } from '#payers/create-transfer.ts';
import { selectPayerByAddress } from '#payers/payer-queries.ts';
import type { Caller, Reply } from '#testkit/apis/api-client.ts';
import { type PayGround, startPayGround, summary } from '#testkit/apis/pay-ground.ts';
import { keyWalletCode } from '#testkit/apis/pay-links.ts';
import { tap } from '#testkit/apis/tap.ts';
import {
  addFactories,
  deploymentsIn,
  FACTORIES,
  type FactoryWallet,
  factoryWallet,
  listing,
  wrapping,
} from '#testkit/apis/undeployed-wallets.ts';
import { newWallet } from '#testkit/apis/wallet-sign-in.ts';
import { signPermitOn, signPolicyOn } from '#testkit/fixtures/payers/sign-approval.ts';
import { signTransfer } from '#testkit/fixtures/payers/sign-transfer.ts';
import { addIntent } from '#testkit/fixtures/payments/store.ts';
import { compileContract } from '../../../contracts/compile.ts';

/**
 * Tests approvals and transfers that a wallet signs before its deployment. The operator deploys the
 * wallet first.
 */

const USDC = 50_000_000n;
/** USDC atoms that a test sends. */
const SENT = 2_000_000;
let ground: PayGround;

before(async () => {
  // Compiles the wallet contract before the relayer starts: the compiler blocks this process for
  // seconds.
  keyWalletCode(zeroAddress);
  const { bytecode } = compileContract('test/FullUSDC');
  const overrides = () => ({ ...listing(), sponsorKey: generatePrivateKey() });
  ground = await startPayGround({ overrides });
  await addFactories(ground.world.network);
  await completeToken(bytecode as Hex);
});

after(() => ground.close());

/** Resets the limits per hour before each test. */
beforeEach(() => ground.store.db.query('delete from sign_in_attempts'));

/** Replaces the token's code with code that also has Circle's function for contract wallets. */
async function completeToken(bytecode: Hex): Promise<void> {
  const { admin, chain, config, rpc, send } = ground.world.network;
  const [nonce = 0n] = await chain.nonces([admin.address]);
  await send(admin, null, bytecode);
  const logic = pad(getContractAddress({ from: admin.address, nonce }));
  const slot = keccak256(toHex('tapline.test-usdc.logic'));
  await rpc.call('anvil_setStorageAt', [config.usdc, slot, logic]);
}

const deployments = ({ from }: FactoryWallet) => deploymentsIn(ground.store.db, from);

async function hasCode({ from }: FactoryWallet): Promise<boolean> {
  return (await ground.world.network.rpc.call('eth_getCode', [from, 'latest'])) !== '0x';
}

interface Payer {
  readonly wallet: FactoryWallet;
  readonly me: Caller;
}

/** Returns a signed-in wallet that has USDC. */
async function open(made?: Parameters<typeof factoryWallet>[0], usdc = USDC): Promise<Payer> {
  const wallet = factoryWallet(made);
  if (usdc > 0n) await ground.mint(wallet.from, usdc);
  const { me } = await ground.server.signIn({ account: wallet.account });
  return { wallet, me };
}

const permitOf = ({ account }: FactoryWallet) =>
  signPermitOn(ground.world.network.config, { account, nonce: 0 });
const policyOf = ({ account }: FactoryWallet) =>
  signPolicyOn(ground.world.network.config, { account, nonce: 0 });
const transferOf = ({ account }: FactoryWallet, to: Hex, amount = SENT) =>
  signTransfer(ground.world.network.config, account, { to, amount });

function messageIn({ body }: Reply): string {
  return body.error?.message ?? '';
}

async function jobsOf(kind: 'enrolment' | 'transfer', { from }: FactoryWallet): Promise<number> {
  const rows = await ground.store.db.query(
    `select from chain_requests where kind = $1 and payload::text ilike '%' || $2 || '%'`,
    [kind, from],
  );
  return rows.length;
}

test('a wallet that is not deployed signs in, approves and pays, without gas', async () => {
  const { wallet, me } = await open();
  assert.deepEqual(await deployments(wallet), [], 'a sign-in needs no deployment');
  const approval = { permit: await permitOf(wallet), policy: await policyOf(wallet) };
  assert.equal(summary(await me.post('/approvals', approval)), '201 succeeded');
  assert.deepEqual(await deployments(wallet), ['succeeded']);
  assert.equal(await hasCode(wallet), true);
  const pass = (await me.post('/passes', {})).body;
  const intentId = await addIntent(ground.store);
  const { body } = await tap(ground.server.device(), intentId, String(pass.nfc_id));
  assert.equal(body.status, 'succeeded');
});

for (const [what, signed] of [
  ['permit', permitOf],
  ['policy', policyOf],
] as const) {
  test(`a ${what} alone has its wallet deployed once`, async () => {
    const { wallet, me } = await open();
    const body = { [what]: await signed(wallet) };
    const answers = await Promise.all([me.post('/approvals', body), me.post('/approvals', body)]);
    const told = answers.map(summary);
    assert.equal(told.filter((one) => one === '201 succeeded').length, 1, String(told));
    assert.deepEqual(await deployments(wallet), ['succeeded']);
  });
}

test('a transfer has its wallet deployed, and sent again it is the same transfer', async () => {
  const { wallet, me } = await open({ tail: '0xabab' });
  const to = newWallet().address;
  const signed = await transferOf(wallet, to);
  const sent = await me.post('/transfers', signed);
  assert.equal(summary(sent), '201 succeeded', messageIn(sent));
  assert.equal(await ground.world.network.usdcOf(to), BigInt(SENT));
  assert.equal((await me.post('/transfers', signed)).body.id, sent.body.id);
  assert.deepEqual(await deployments(wallet), ['succeeded']);
  assert.equal(await jobsOf('transfer', wallet), 1);
});

test('a wallet whose factory is not listed gets the remedy, and nothing is counted', async () => {
  const { wallet, me } = await open();
  const { unlisted: factory } = FACTORIES;
  const other = { ...wallet, account: wrapping(newWallet(), { ...wallet, factory }) };
  const answers = [
    await me.post('/approvals', { permit: await permitOf(other) }),
    await me.post('/approvals', { policy: await policyOf(other) }),
    await me.post('/transfers', await transferOf(other, newWallet().address)),
  ];
  for (const answer of answers) {
    assert.equal(summary(answer), '400 wallet_not_deployed');
    assert.match(
      messageIn(answer),
      /does not deploy wallets from its factory, .* Send any transaction from it/,
    );
  }
  assert.deepEqual(await deployments(wallet), []);
  const counted = `select from sign_in_attempts where bucket like 'wallet deployments%'`;
  assert.deepEqual(await ground.store.db.query(counted), []);
});

test('a wallet that did not sign, or could not send, is not deployed', async () => {
  const { wallet, me } = await open({ tail: '0xabab' });
  const stolen = { ...wallet, account: wrapping(newWallet(), wallet) };
  const forged = [
    await me.post('/approvals', { permit: await permitOf(stolen) }),
    await me.post('/approvals', { policy: await policyOf(stolen) }),
    await me.post('/transfers', await transferOf(stolen, newWallet().address)),
    await me.post('/transfers', await transferOf(wallet, newWallet().address, Number(USDC) + 1)),
  ];
  for (const answer of forged) assert.equal(summary(answer), '400 parameter_invalid');
  await ground.blocklist(wallet.from);
  const refused = await me.post('/transfers', await transferOf(wallet, newWallet().address));
  assert.equal(summary(refused), '400 parameter_invalid');
  assert.match(messageIn(refused), /token does not accept this signature/);
  assert.deepEqual(await deployments(wallet), []);
});

test('a wallet that confirms its signature only at first moves and allows nothing', async () => {
  const { wallet, me } = await open({ manner: 'two_faced' });
  const permit = await permitOf(wallet);
  const policy = await policyOf(wallet);
  assert.equal(summary(await me.post('/approvals', { permit, policy })), '201 failed');
  const { body } = await me.get('/approvals');
  assert.deepEqual([body.allowance, body.policy], [0, null]);
  assert.deepEqual(await deployments(wallet), ['succeeded']);
});

test('a payer has three deployments an hour, also from several addresses', async () => {
  const { wallet, me } = await open({ factory: FACTORIES.hostile });
  const approval = { policy: await policyOf(wallet) };
  for (const _ of [1, 2, 3]) {
    const answer = await me.post('/approvals', approval);
    assert.equal(summary(answer), '400 wallet_not_deployed');
    assert.match(messageIn(answer), /could not be deployed/);
    await ground.store.db.query(`delete from sign_in_attempts where bucket like '% address %'`);
  }
  const answer = await me.post('/approvals', approval);
  assert.equal(summary(answer), '429 rate_limit_exceeded');
  assert.match(messageIn(answer), /deploys no more wallets for now/);
  assert.deepEqual(await deployments(wallet), ['failed', 'failed', 'failed']);
  assert.equal(await jobsOf('enrolment', wallet), 0);
});

test('a caller has three deployments an hour, for whichever wallets and requests', async () => {
  for (const _ of [1, 2, 3]) {
    const { wallet, me } = await open();
    const answer = await me.post('/approvals', { policy: await policyOf(wallet) });
    assert.equal(summary(answer), '201 succeeded');
  }
  const { wallet, me } = await open({ tail: '0xabab' });
  const answer = await me.post('/transfers', await transferOf(wallet, newWallet().address));
  assert.equal(summary(answer), '429 rate_limit_exceeded');
  assert.deepEqual(await deployments(wallet), []);
});

test('a signature that became too old while its wallet was deployed is refused', async () => {
  const transferring = await slowly(14.8 * 60_000);
  const sent = await createTransfer(transferring.ctx, {
    ...transferring.asked,
    ...{ balance: USDC, isUsed: async () => false, isOn: true, take: async () => null },
    signed: await transferOf(transferring.wallet, newWallet().address),
  });
  assert.deepEqual(refusedParam(sent), ['parameter_invalid', 'valid_before']);
  const approving = await slowly(60 * 60_000);
  const approved = await createApproval(approving.ctx, {
    ...approving.asked,
    nonces: { policy: 0n, permit: 0n },
    approval: { permit: await permitOf(approving.wallet), policy: null },
    take: async () => null,
  });
  assert.deepEqual(refusedParam(approved), ['parameter_invalid', 'permit.deadline']);
  assert.equal(await jobsOf('transfer', transferring.wallet), 0);
  assert.equal(await jobsOf('enrolment', approving.wallet), 0);
});

function refusedParam(answer: Awaited<ReturnType<typeof createTransfer>>) {
  return typeof answer === 'string' ? answer : [answer.code, answer.param];
}

/** Returns a wallet, and a context in which deploying it takes `tookMs` by the service's clock. */
async function slowly(tookMs: number) {
  const { wallet } = await open({ tail: '0xabab' });
  const { admin, chain, send } = ground.world.network;
  const result = await selectPayerByAddress(ground.store.db, {
    livemode: false,
    address: wallet.from,
  });
  let aheadMs = 0;
  const clock = { ...ground.store.clock, now: () => new Date(Date.now() + aheadMs) };
  const deploy = async () => {
    await send(admin, wallet.factory, wallet.data);
    aheadMs = tookMs;
    return null;
  };
  const request = { payer: present(result, 'payer'), chain, deploy, now: clock.now() };
  return { wallet, ctx: { ...ground.store.ctx, clock }, asked: request };
}
