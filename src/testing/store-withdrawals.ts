import { randomBytes, randomInt } from 'node:crypto';
import { newId } from '#core/ids.ts';
import { silentLog } from '#core/log.ts';
import { stampOrder } from '#db/commit-order.ts';
import { applyWithdrawalOutcomes } from '#payouts/apply-withdrawals.ts';
import { insertWithdrawal } from '#payouts/withdrawal-queries.ts';
import { requestOnChain } from '#settlement/requests.ts';
import type { TestStore } from '#testing/store.ts';

const WITHDRAWN = 250_000n;

/** A pending withdrawal with its request. @returns its id. */
export async function addWithdrawal(store: TestStore, amount: bigint): Promise<string> {
  const { tenant, merchantNumber } = store.standing;
  const now = store.clock.now();
  return store.db.transaction(async (tx) => {
    const { next, created } = await stampOrder(tx, tenant, now, 1);
    const id = newId('withdrawal', created);
    const number = BigInt(randomInt(1, 2 ** 40));
    const row = { id, number, tenant, position: next(), created, amount };
    await insertWithdrawal(tx, { ...row, wallet: '0x', requestedBy: 'usr_test' });
    const receiver = { merchantNumber: String(merchantNumber), wallet: '0x' } as const;
    const payload = { ...receiver, amount: amount.toString() };
    const { livemode } = tenant;
    await requestOnChain(tx, { livemode, kind: 'withdrawal', subjectId: id, number, payload, now });
    return id;
  });
}

export async function withdraw(store: TestStore): Promise<void> {
  await addWithdrawal(store, WITHDRAWN);
  const now = store.clock.now();
  const place = { txHash: `0x${randomBytes(32).toString('hex')}`, blockNumber: '9', logIndex: 0 };
  const facts = { ...place, blockTime: now.toISOString() };
  await store.db.query(
    `update chain_requests set status = 'succeeded', outcome = $1::text::jsonb
     where kind = 'withdrawal'`,
    [JSON.stringify({ succeeded: true, facts })],
  );
  while (await applyWithdrawalOutcomes({ ...store, log: silentLog }));
}
