import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAgentToken } from '#payers/create-agent-token.ts';
import { assertPaidOnce, startPayGround } from '#testkit/apis/pay-ground.ts';
import { addContractWallet, signByLink } from '#testkit/apis/pay-links.ts';
import { tap } from '#testkit/apis/tap.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { AMOUNT, PULLED } from '#testkit/fixtures/payments/sale-amounts.ts';
import { addPayer } from '#testkit/fixtures/payments/store.ts';

/** Number of races; `npm run test:long` runs more. */
const rounds = Number(process.env.PAY_RACES ?? 12);

const ground = openForTests(startPayGround);

/**
 * A tap, an agent token and two wallets race to pay one intent. Only one of them may move money.
 */
test('an intent is paid once, whichever ways to pay race for it', async (t) => {
  const account = await ground.bare(PULLED * BigInt(rounds));
  const contract = await addContractWallet(ground.world.network, { usdc: PULLED * BigInt(rounds) });
  const [tapper] = await ground.world.network.addPayers(1, { usdc: PULLED * BigInt(rounds) });
  assert(tapper !== undefined);
  const { pass, payer } = await addPayer(ground.store, { address: tapper.address });
  const before = await ground.world.network.merchantBalance(ground.world.merchant.merchantNumber);
  const merchant = await ground.server.merchant();

  for (let round = 0; round < rounds; round++) {
    const { intentId, token } = await ground.newLink();
    const { secret: agent } = await ground.store.db.transaction((tx) =>
      createAgentToken(tx, {
        payerId: payer.id,
        tenant: ground.store.merchant.tenant,
        amount: AMOUNT,
        expiresIn: 600,
        now: new Date(),
      }),
    );
    // All sign before the race, because a wallet that reads the link after the payment finds
    // nothing to sign.
    const ways = [
      await signByLink(ground.server.pay, token, { account }),
      await signByLink(ground.server.pay, token, contract),
      () => tap(ground.server.device(), intentId, pass),
      () => merchant.post(`/payment_intents/${intentId}/confirm`, { agent_token: agent }),
    ];
    const order = ways.map(
      (_, index) => ways[(index + round) % ways.length] ?? (() => assert.fail()),
    );
    assertPaidOnce(await Promise.all(order.map((way) => way())));
  }
  t.diagnostic(`${rounds} rounds of four ways to pay one intent, each paid once`);
  const balance = await ground.world.network.merchantBalance(ground.world.merchant.merchantNumber);
  assert.equal(balance, before + BigInt(AMOUNT * rounds));
  const spent = [account.address, contract.from, tapper.address].map((address) =>
    ground.world.network.usdcOf(address),
  );
  const left = (await Promise.all(spent)).reduce((sum, one) => sum + one);
  assert.equal(left, PULLED * BigInt(rounds) * 2n);
});
