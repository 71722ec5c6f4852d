import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { zeroAddress } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { type Loop, startLoop } from '#core/background-loop.ts';
import { applyPayerRequests } from '#payers/apply-payer-results.ts';
import { type PayGround, startPayGround } from '#testing/pay-ground.ts';
import { addContractWallet, delegate, keyWalletCode } from '#testing/pay-links.ts';
import { signPermitOn, signPolicyOn } from '#testing/sign-approval.ts';
import { signTransfer } from '#testing/sign-transfer.ts';
import { addIntent } from '#testing/store.ts';
import { tap } from '#testing/tap.ts';
import { newWallet } from '#testing/wallet-sign-in.ts';

let ground: PayGround;
let applying: Loop;

before(async () => {
  // Compiles the wallet contract before the relayer starts: the compiler blocks this process for
  // seconds.
  keyWalletCode(zeroAddress);
  ground = await startPayGround({ overrides: () => ({ sponsorKey: generatePrivateKey() }) });
  applying = startLoop({
    name: 'approvals',
    pollMs: 50,
    run: () => applyPayerRequests(ground.store, 'enrolment'),
    onError: (_name, error) => {
      throw error;
    },
  });
});

after(async () => {
  await applying.stop();
  await ground.close();
});

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
