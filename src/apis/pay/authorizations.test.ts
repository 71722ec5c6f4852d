import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeFunctionData } from 'viem';
import type { Hex } from '#settlement/chain-requests.ts';
import { startPayGround, summary } from '#testkit/apis/pay-ground.ts';
import {
  addContractWallet,
  delegate,
  type LinkBody,
  payByLink,
  readLink,
  sign,
} from '#testkit/apis/pay-links.ts';
import { serveStore } from '#testkit/apis/store-server.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { PULLED } from '#testkit/fixtures/payments/sale-amounts.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';

/** The time for which the service caches fee rates. */
const RATES_MS = 1_000;

const ground = openForTests(startPayGround);

describe('a wallet that is a contract', () => {
  test('pays with a signature of any length', async () => {
    const { from, account } = await addContractWallet(ground.world.network, { usdc: PULLED });
    const { token } = await ground.newLink();
    const link = await readLink(ground.server.pay, token, from);
    const long = `${await sign(account, link)}${'ab'.repeat(9_000)}` as Hex;
    assert.equal(summary(await ground.authorize(token, from, long)), '200 succeeded');
    assert.equal(await ground.world.network.usdcOf(from), 0n);
  });

  test('that rejects the signature, or never returns, has not signed', async () => {
    const stranger = await ground.bare();
    const honest = await addContractWallet(ground.world.network, { usdc: PULLED });
    const endless = await addContractWallet(ground.world.network, {
      usdc: PULLED,
      manner: 'endless',
    });
    const { token } = await ground.newLink();
    const cases = [
      { from: honest.from, account: stranger },
      { from: endless.from, account: endless.account },
    ];
    for (const signer of cases) {
      assert.equal(
        summary(await payByLink(ground.server.pay, token, signer)),
        '400 signature_invalid',
      );
    }
    assert.equal(summary(await payByLink(ground.server.pay, token, honest)), '200 succeeded');
  });

  test('that answers differently on the chain is declined, and no money moves', async () => {
    const liar = await addContractWallet(ground.world.network, {
      usdc: PULLED,
      manner: 'two_faced',
    });
    const { token } = await ground.newLink();
    const answer = await payByLink(ground.server.pay, token, liar);
    assert.equal(summary(answer), '200 authorization_refused');
    assert.equal(await ground.world.network.usdcOf(liar.from), PULLED);
    const account = await ground.bare();
    assert.equal(summary(await payByLink(ground.server.pay, token, { account })), '200 succeeded');
  });

  test('that is not deployed yet is refused as such', async () => {
    const account = await ground.bare();
    const { token } = await ground.newLink();
    const link = await readLink(ground.server.pay, token, account.address);
    const wrapped = `${await sign(account, link)}${'64926492'.repeat(8)}` as Hex;
    const answer = await ground.authorize(token, account.address, wrapped);
    assert.equal(summary(answer), '400 wallet_not_deployed');
  });
});

describe('an account that delegates after it has signed (EIP-7702)', () => {
  const signThenDelegate = async (to: (account: Hex) => { to: Hex } | { key: Hex }) => {
    const account = await ground.bare();
    const { intentId, token } = await ground.newLink();
    const { address } = account;
    const signature = await sign(account, await readLink(ground.server.pay, token, address));
    await delegate(ground.world.network, address, to(address));
    const answer = await ground.authorize(token, address, signature);
    return { answer, requests: await ground.requestsOf(intentId) };
  };

  test('pays if its contract confirms what its key has signed', async () => {
    const { answer } = await signThenDelegate((key) => ({ key }));
    assert.equal(summary(answer), '200 succeeded');
  });

  test('learns before gas is spent that its contract does not confirm its signature', async () => {
    const { answer, requests } = await signThenDelegate(() => ({
      to: ground.world.network.config.usdc,
    }));
    assert.equal(summary(answer), '400 signature_invalid');
    assert.match(
      answer.body.error?.message ?? '',
      /delegated to a contract \(EIP-7702\).* Remove the delegation/,
    );
    assert.equal(requests, 0);
  });
});

describe('a signature', () => {
  test('pays only the payment that its signature names', async () => {
    const account = await ground.bare(PULLED * 4n);
    const [first, second] = [await ground.newLink(), await ground.newLink()];
    const link = await readLink(ground.server.pay, first.token, account.address);
    const signature = await sign(account, link);
    const other = await readLink(ground.server.pay, second.token, account.address);
    assert.notEqual(link.salt, other.salt);
    const moved = await ground.authorize(second.token, account.address, signature);
    assert.equal(summary(moved), '400 signature_invalid');
    const message = link.typed_data?.message;
    const forged = { ...link.typed_data, message: { ...message, value: 1 } };
    const cheap = await sign(account, { ...link, typed_data: forged } as LinkBody);
    assert.equal(
      summary(await ground.authorize(first.token, account.address, cheap)),
      '400 signature_invalid',
    );
  });

  test('that fails counts across all nodes, and a valid one is never delayed', async () => {
    const account = await ground.bare();
    const { token } = await ground.newLink();
    await readLink(ground.server.pay, token, account.address);
    const second = await serveStore(ground.store, { chains: [ground.world.network.chain] });
    const bad = `0x${'11'.repeat(64)}1b` as Hex;
    const told: string[] = [];
    for (let i = 0; i < 12; i++) {
      const node = i % 2 === 0 ? ground.server : second;
      const body = { from: account.address, signature: bad };
      told.push(summary(await node.pay.post(`/${token}/authorization`, body)));
    }
    await second.close();
    const expected = Array.from({ length: 12 }, (_, i) =>
      i < 10 ? '400 signature_invalid' : '429 rate_limit_exceeded',
    );
    assert.deepEqual(told, expected);
    assert.equal(summary(await payByLink(ground.server.pay, token, { account })), '200 succeeded');
  });

  test('with outdated rates is a decline, never another price', async () => {
    const account = await ground.bare(PULLED * 2n);
    const { intentId, token } = await ground.newLink();
    const link = await readLink(ground.server.pay, token, account.address);
    const signature = await sign(account, link);
    await ground.changeRates({ acquirer: 40, protocol: 20, cashback: 5 });
    try {
      const answer = await ground.authorize(token, account.address, signature);
      assert.equal(summary(answer), '200 authorization_refused');
      assert.equal(await ground.requestsOf(intentId), 0);
      await sleep(RATES_MS);
      const again = await readLink(ground.server.pay, token, account.address);
      assert.equal(again.fees.acquirer, 10_000);
      assert.equal(
        summary(await payByLink(ground.server.pay, token, { account })),
        '200 succeeded',
      );
    } finally {
      await ground.changeRates({ acquirer: 30, protocol: 20, cashback: 5 });
      await sleep(RATES_MS);
    }
  });

  test('that a stranger submits to the chain moves nothing, and still pays later', async () => {
    const account = await ground.bare();
    const { token } = await ground.newLink();
    const link = await readLink(ground.server.pay, token, account.address);
    const signature = await sign(account, link);
    assert(link.typed_data !== null);
    const { value, validBefore, nonce } = link.typed_data.message;
    const { admin, config, send } = ground.world.network;
    const [from, to] = [account.address, config.settlement];
    const data = encodeFunctionData({
      abi: testUsdcAbi,
      functionName: 'receiveWithAuthorization',
      args: [from, to, BigInt(value), 0n, BigInt(validBefore), nonce, signature],
    });
    await assert.rejects(send(admin, config.usdc, data));
    const packed = `0x${'00'.repeat(45)}` as Hex;
    const signed = {
      bindsOrder: true,
      salt: link.salt,
      validAfter: 0n,
      validBefore: 0n,
      signature,
    };
    const settle = encodeFunctionData({
      abi: settlementAbi,
      functionName: 'settleWithAuthorization',
      args: [packed, signed, 2 ** 39],
    });
    await assert.rejects(send(admin, config.settlement, settle));
    assert.equal(summary(await ground.authorize(token, from, signature)), '200 succeeded');
    assert.equal(await ground.world.network.usdcOf(from), 0n);
  });
});
