import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { zeroAddress } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount } from 'viem/accounts';
import { GAS_PER_DAY } from '#settlement/gas-budget.ts';
import { ENROLMENT_GAS } from '#settlement/gas-ceilings.ts';
import type { Caller, Reply } from '#testkit/apis/api-client.ts';
import { type PayGround, startPayGround } from '#testkit/apis/pay-ground.ts';
import { addContractWallet, delegate, keyWalletCode, payByLink } from '#testkit/apis/pay-links.ts';
import { tap } from '#testkit/apis/tap.ts';
import { newWallet } from '#testkit/apis/wallet-sign-in.ts';
import { signPermitOn, signPolicyOn } from '#testkit/fixtures/payers/sign-approval.ts';
import { signTransfer } from '#testkit/fixtures/payers/sign-transfer.ts';
import { addIntent } from '#testkit/fixtures/payments/store.ts';

/** Approvals an hour from one IP address. */
const PER_ADDRESS = 8;

let ground: PayGround;

before(async () => {
  // Compiles the wallet contract before the relayer starts: the compiler blocks this process for
  // seconds.
  keyWalletCode(zeroAddress);
  const gas = { approvalsPerAddress: PER_ADDRESS };
  ground = await startPayGround({ overrides: () => ({ sponsorKey: generatePrivateKey() }), gas });
});

after(() => ground.close());

test('a contract wallet signs in, approves and pays like any other, without gas', async () => {
  const { network } = ground.world;
  const { from, account } = await addContractWallet(network, { usdc: 50_000_000n });
  const { me } = await ground.server.signIn({ account, from });
  const signer = { account, wallet: from, nonce: 0 };
  const permit = await signPermitOn(network.config, signer);
  const policy = await signPolicyOn(network.config, signer);
  const approved = await me.post('/approvals', { permit, policy });
  assert.deepEqual([approved.status, approved.body.status], [201, 'succeeded']);
  const pass = (await me.post('/passes', {})).body;
  const intentId = await addIntent(ground.store);
  const { body } = await tap(ground.server.device(), intentId, String(pass.nfc_id));
  assert.equal(body.status, 'succeeded');
  await assert.rejects(ground.server.signIn({ from }), /sign_in_failed/);
});

test('a contract wallet learns that the token refuses its transfer', async () => {
  const { network } = ground.world;
  const { from, account } = await addContractWallet(network, { usdc: 50_000_000n });
  const sent = { to: newWallet().address, amount: 2_000_000 };
  const signed = await signTransfer(network.config, { ...account, address: from }, sent);
  const long = { ...signed, signature: `${signed.signature}abab` };
  const { me } = await ground.server.signIn({ account, from });
  const { status, body } = await me.post('/transfers', long);
  assert.deepEqual([status, body.error?.param], [400, 'signature']);
  assert.match(body.error?.message ?? '', /can still send the transfer itself/);
});

test('an account that delegates can sign policies, and learns why its permit fails', async () => {
  const { network } = ground.world;
  const { me, account } = await ground.server.signIn();
  await delegate(network, account.address, { to: network.config.usdc });
  const policy = await signPolicyOn(network.config, { account, nonce: 0 });
  assert.equal((await me.post('/approvals', { policy })).body.status, 'succeeded');
  const permit = await signPermitOn(network.config, { account, nonce: 0 });
  const { status, body } = await me.post('/approvals', { permit });
  assert.deepEqual([status, body.error?.param], [400, 'permit.signature']);
  assert.match(body.error?.message ?? '', /EIP-7702/);
});

describe('an approval whose gas the operator pays', () => {
  const REFUSED = '429 rate_limit_exceeded';
  const summaryOf = ({ status, body }: Reply) => `${status} ${body.error?.code ?? body.status}`;
  const rows = () =>
    ground.store.db.query<{ gas: bigint; failed: boolean | null }>(
      `select gas, failed from gas_spending where kind = 'enrolment' order by id`,
    );
  const forget = async () => {
    await ground.store.db.query('delete from sign_in_attempts');
    await ground.store.db.query('delete from gas_spending');
  };

  test('is one of five an hour for a payer, and of a number for an IP address', async () => {
    await forget();
    const { config } = ground.world.network;
    const one = await ground.server.signIn();
    const told: string[] = [];
    for (let nonce = 0; nonce < 6; nonce++) {
      const policy = await signPolicyOn(config, { account: one.account, nonce });
      told.push(summaryOf(await one.me.post('/approvals', { policy })));
    }
    assert.deepEqual(told, [...Array(5).fill('201 succeeded'), REFUSED]);
    assert.equal((await rows()).length, 5, 'a refused approval is not requested');
    for (let payer = 0; payer < PER_ADDRESS - 5 + 1; payer++) {
      const { me, account } = await ground.server.signIn();
      const policy = await signPolicyOn(config, { account, nonce: 0 });
      told.push(summaryOf(await me.post('/approvals', { policy })));
    }
    assert.deepEqual(told.slice(6), ['201 succeeded', '201 succeeded', '201 succeeded', REFUSED]);
  });

  test('counts the gas that it used, and a hostile wallet is not asked again forever', async () => {
    await forget();
    const { network } = ground.world;
    const wallet = await addContractWallet(network, { usdc: 1n, manner: 'burning' });
    const { me } = await ground.server.signIn(wallet);
    const signer = { account: wallet.account, wallet: wallet.from, nonce: 0 };
    const policy = await signPolicyOn(network.config, signer);
    const permit = await signPermitOn(network.config, signer);
    const answer = await me.post('/approvals', { permit, policy });
    assert.equal(summaryOf(answer), '201 failed');
    const [spent, ...others] = await rows();
    assert.deepEqual([others, spent?.failed], [[], true]);
    const sent = await ground.store.db.query<{ gas_limit: bigint }>(
      `select t.gas_limit from chain_transactions t where t.kind = 'enrolment' order by t.id desc`,
    );
    assert.ok((spent?.gas ?? 0n) > 0n && (spent?.gas ?? 0n) <= 3n * ENROLMENT_GAS, `${spent?.gas}`);
    // The ceiling, and the price of the call data.
    for (const { gas_limit: limit } of sent) assert.ok(limit <= ENROLMENT_GAS + 100_000n);
  });

  test('is refused when the gas of a day is used up, unless its payer has paid', async () => {
    await forget();
    const { network } = ground.world;
    const used = { livemode: false, kind: 'enrolment', wallet: '0x1', trusted: false } as const;
    const perDay = BigInt(GAS_PER_DAY.enrolment);
    await ground.store.db.query(
      `insert into gas_spending (livemode, kind, subject_id, wallet, trusted, gas, failed, created)
       values ($1, $2, 'one', $3, $4, $5, true, $6)`,
      [...Object.values(used), String((perDay * 4n) / 5n), ground.store.clock.now()],
    );
    const ask = async (signer: { account: PrivateKeyAccount; me: Caller; nonce: number }) => {
      const policy = await signPolicyOn(network.config, signer);
      return summaryOf(await signer.me.post('/approvals', { policy }));
    };
    assert.equal(await ask({ ...(await ground.server.signIn()), nonce: 0 }), REFUSED);
    const account = await ground.bare();
    const { token } = await ground.newLink();
    assert.equal((await payByLink(ground.server.pay, token, { account })).body.status, 'succeeded');
    const { me } = await ground.server.signIn({ account });
    assert.equal(await ask({ account, me, nonce: 0 }), '201 succeeded');
  });
});
