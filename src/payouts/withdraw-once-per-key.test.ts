import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { withdraw } from '#payouts/withdraw-once-per-key.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { startPayGround } from '#testkit/apis/pay-ground.ts';
import { availableBalance, sell, untilPaidOut } from '#testkit/apis/payouts.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { newRequest } from '#testkit/fixtures/payments/store.ts';

const ground = openForTests(startPayGround);

async function ask(amount: bigint, chain: Chain = ground.world.network.chain): Promise<number> {
  const { store } = ground;
  const answer = await withdraw(
    { ...store.ctx, chains: [chain] },
    {
      tenant: store.merchant.tenant,
      amount,
      actor: { type: 'system', name: 'test' },
      idempotency: newRequest(store),
      requestId: 'req_test',
      now: store.clock.now(),
    },
  );
  if (!isRefusal(answer)) return answer.status;
  assert.equal(answer.code, 'amount_too_large');
  return 400;
}

/** Makes a sale, and returns the whole balance. */
async function earn(): Promise<bigint> {
  await sell(ground);
  return availableBalance(ground);
}

test('of ten simultaneous withdrawals of the whole balance exactly one is accepted', async () => {
  const all = await earn();
  const answers = await Promise.all(Array.from({ length: 10 }, () => ask(all)));
  assert.deepEqual(answers.toSorted(), [201, ...Array.from({ length: 9 }, () => 400)]);
  await untilPaidOut(ground);
});

test('a withdrawal that read the balance before another was paid is refused', async () => {
  const all = await earn();
  const { chain } = ground.world.network;
  const slow: Chain = {
    ...chain,
    calls: async (...request) => {
      const answers = await chain.calls(...request);
      assert.equal(await ask(all), 201);
      await untilPaidOut(ground);
      return answers;
    },
  };
  assert.equal(await ask(all, slow), 400);
  assert.equal(await availableBalance(ground), 0n);
});
