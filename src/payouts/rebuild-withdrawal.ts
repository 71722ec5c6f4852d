import { bookMovements } from '#books/book-movements.ts';
import { only } from '#core/assert.ts';
import { addSeconds } from '#core/clock.ts';
import { type IdKey, withdrawalId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import { appendEvents } from '#events/append-events.ts';
import { recordRebuilt } from '#payouts/automatic-payout.ts';
import { withdrawalObject } from '#payouts/render.ts';
import { markRecovered, updateWithdrawalEnded, withdrawals } from '#payouts/withdrawal-queries.ts';

/** A withdrawal on the chain that the ledger has lost. */
export interface LostWithdrawal {
  readonly tenant: Tenant;
  readonly number: bigint;
  readonly amount: bigint;
  readonly wallet: string;
  readonly txHash: string;
  readonly blockTime: Date;
}

/** Positions in the account's order: the withdrawal, its event, and the books' entry. */
const PLACES = 3;

/** The person who requested it was lost with the database. */
const REQUESTED_BY = 'unknown';

/**
 * Books a withdrawal that the ledger has lost, with its original id and its usual event.
 * @returns the number of deliveries.
 */
export async function rebuildWithdrawal(
  tx: Tx,
  { tenant, number, amount, wallet, txHash, blockTime }: LostWithdrawal,
  { idKey, now }: { readonly idKey: IdKey; readonly now: Date },
): Promise<number> {
  const stamp = await stampOrder(tx, tenant, now, PLACES);
  const id = withdrawalId(idKey, { livemode: tenant.livemode, number });
  await withdrawals.insert(tx, {
    ...{ id, number, account_id: tenant.accountId, livemode: tenant.livemode, amount },
    ...{ position: stamp.next(), created: stamp.created, updated: stamp.created },
    status: 'pending',
    wallet,
    requested_by: REQUESTED_BY,
  });
  await markRecovered(tx, { id, number });
  const happened = addSeconds(blockTime, stamp.aheadSeconds);
  await recordRebuilt(tx, idKey, { tenant, number, id, happened, now });
  const end = {
    ...({ id, status: 'succeeded', failure_code: null, tx_hash: txHash } as const),
    // The rate at the time of the payout was lost.
    shop_rate: null,
  };
  const row = only(await updateWithdrawalEnded(tx, { ...end, updated: now }), 'rebuilt withdrawal');
  const booked = { tenant, type: 'payout', objectId: id, amount: -amount } as const;
  await bookMovements(tx, [{ ...booked, happened, stamp }]);
  const object = withdrawalObject(row);
  return appendEvents(tx, [
    { tenant, type: 'balance.withdrawal_paid', objectId: id, object, stamp },
  ]);
}
