import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRefusal } from '#core/answer.ts';
import { silentLog } from '#core/log.ts';
import { applyWithdrawalOutcomes } from '#payouts/apply-withdrawals.ts';
import { readPayable } from '#payouts/merchant-on-chain.ts';
import { withdraw } from '#payouts/withdraw-once-per-key.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { type PayGround, startPayGround } from '#testing/pay-ground.ts';
import { payByLink } from '#testing/pay-links.ts';
import { newRequest } from '#testing/store.ts';

const WAIT_MS = 20_000;

let ground: PayGround;

before(async () => {
  ground = await startPayGround();
});
after(() => ground.close());

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

async function balance(): Promise<bigint> {
  const { store, world } = ground;
  const { tenant } = store.merchant;
  const chains = [world.network.chain];
  const found = await readPayable(store.db, chains, { tenant, amount: 0n });
  assert(!isRefusal(found));
  return found.available;
}

async function sell(): Promise<bigint> {
  const { token } = await ground.newLink();
  await payByLink(ground.server.pay, token, { account: await ground.bare() });
  return balance();
}

async function paidOut(): Promise<void> {
  const { store } = ground;
  for (const end = Date.now() + WAIT_MS; ; await sleep(20)) {
    await applyWithdrawalOutcomes({ ...store, log: silentLog });
    const rows = await store.db.query(`select id from withdrawals where status = 'pending'`);
    if (rows.length === 0) return;
    assert(Date.now() < end, 'the withdrawal is not paid');
  }
}

test('of ten simultaneous withdrawals of the whole balance exactly one is accepted', async () => {
  const all = await sell();
  const answers = await Promise.all(Array.from({ length: 10 }, () => ask(all)));
  assert.deepEqual(answers.toSorted(), [201, ...Array.from({ length: 9 }, () => 400)]);
  await paidOut();
});

test('a withdrawal that read the balance before another was paid is refused', async () => {
  const all = await sell();
  const { chain } = ground.world.network;
  const slow: Chain = {
    ...chain,
    calls: async (...asked) => {
      const answers = await chain.calls(...asked);
      assert.equal(await ask(all), 201);
      await paidOut();
      return answers;
    },
  };
  assert.equal(await ask(all, slow), 400);
  assert.equal(await balance(), 0n);
});
