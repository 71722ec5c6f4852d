import { present } from '#core/assert.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import {
  decideForeign,
  selectForeign,
  selectNewestForeign,
} from '#settlement/foreign-settlement-queries.ts';
import { requestRecovery } from '#settlement/network-recovery-queries.ts';
import { AMOUNT } from '#testkit/simulation/restore-ground.ts';
import type { WaysWorld } from '#testkit/simulation/ways/world.ts';

/** The thief's settlement numbers start above this one, which is above those after a recovery. */
const DRAWN_BY_NOBODY = 1n << 40n;

/**
 * Acts as a thief who has a sender's key: charges a payer without consent, with the shop as the
 * merchant, then refunds one part and pays out another.
 * @returns the alarms that the service must raise
 */
export async function steal({ world, till }: WaysWorld, payer: Hex): Promise<readonly string[]> {
  const { outside } = world;
  const merchant = {
    merchantNumber: await world.merchantNumber(till.account),
    amount: BigInt(AMOUNT),
  };
  const sale = { ...merchant, payer, orderId: 'STOLEN-1', number: DRAWN_BY_NOBODY + 1n };
  const other = { ...merchant, payer, orderId: 'STOLEN-2', number: DRAWN_BY_NOBODY + 2n };
  await outside.settle([sale, other]);
  await outside.refund(sale, 400_000n);
  await outside.withdraw({ ...merchant, amount: 300_000n, number: DRAWN_BY_NOBODY + 3n });
  return ['payment 2500000', 'payment 2500000', 'refund 400000', 'withdrawal 300000'];
}

/** Returns the foreign events that the service has found so far. */
export async function foundForeign({ world }: WaysWorld): Promise<string[]> {
  const rows = await selectForeign(world.db);
  return rows.map(({ kind, amount }) => `${kind} ${amount}`).toSorted();
}

/**
 * Accepts the foreign events by the command that two operators would use. They then count as the
 * service's own.
 */
export async function acceptForeign({ world, till }: WaysWorld): Promise<void> {
  const tenant = { accountId: till.account, livemode: false };
  const upTo = present(await selectNewestForeign(world.db, tenant), 'foreign settlement');
  const decided = { decision: 'accepted', now: new Date() } as const;
  const wish = { livemode: false, requestCount: null, lossShown: false } as const;
  await world.db.transaction(async (tx) => {
    await decideForeign(tx, { ...tenant, upTo }, decided);
    await requestRecovery(tx, { ...wish, reason: 'command' });
  });
}
