import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyWithdrawalOutcomes } from '#payouts/apply-withdrawals.ts';
import { readPayable } from '#payouts/merchant-on-chain.ts';
import type { PayGround } from '#testkit/apis/pay-ground.ts';
import { payByLink } from '#testkit/apis/pay-links.ts';
import { accepted } from '#testkit/fixtures/core/accepted.ts';

/** Maximum wait for the chain, which is real. */
const WAIT_MS = 20_000;

export async function untilPaidOut({ store }: PayGround): Promise<void> {
  for (const end = Date.now() + WAIT_MS; ; await sleep(20)) {
    await applyWithdrawalOutcomes(store);
    const rows = await store.db.query(`select id from withdrawals where status = 'pending'`);
    if (rows.length === 0) return;
    assert(Date.now() < end, 'the withdrawal is not paid');
  }
}

export async function availableBalance({ store, world }: PayGround): Promise<bigint> {
  const request = { tenant: store.merchant.tenant, amount: 0n };
  return accepted(await readPayable(store.db, [world.network.chain], request)).available;
}

/** Sells for this amount (default: that of a new link) to a new wallet. */
export async function sell(ground: PayGround, amount?: number): Promise<void> {
  const { token } = await ground.newLink(amount);
  const account = await ground.bare(amount === undefined ? undefined : BigInt(amount) * 2n);
  await payByLink(ground.server.pay, token, { account });
}
