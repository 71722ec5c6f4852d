import { balanceEntries, selectClosedUntil } from '#books/entry-queries.ts';
import type { Tenant } from '#core/mode.ts';
import type { Stamp } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';

export interface Movement {
  readonly tenant: Tenant;
  /** `correction` if the chain no longer contains a booked movement, or contains it once more. */
  readonly type: 'payment' | 'refund' | 'payout' | 'correction';
  readonly objectId: string;
  /** In atoms; negative if the amount left the balance. */
  readonly amount: bigint;
  /**
   * When the movement happened on the chain, by the account's clock, if the service learned of it
   * late: after a loss, or because the merchant's wallet called the contract itself. `null` if it
   * has just happened.
   */
  readonly happened: Date | null;
  /** The transaction's stamp for the account and mode, with an unused position. */
  readonly stamp: Stamp;
}

/**
 * Books changes of balances, in the transaction that learns of them. A late change is booked on the
 * day on which it happened, so that recovery restores the same books. If a statement has already
 * closed that day, a correction is booked now instead.
 */
export async function bookMovements(tx: Tx, movements: readonly Movement[]): Promise<void> {
  for (const movement of movements) await bookMovement(tx, movement);
}

async function bookMovement(tx: Tx, movement: Movement): Promise<void> {
  const { tenant, type, objectId, amount, happened, stamp } = movement;
  const closed = happened === null ? null : await selectClosedUntil(tx, tenant);
  const isClosed = happened !== null && closed !== null && happened < closed;
  const isPast = happened !== null && !isClosed && happened < stamp.created;
  const entry = {
    account_id: tenant.accountId,
    livemode: tenant.livemode,
    created: isPast ? happened : stamp.created,
    position: stamp.next(),
    type: isClosed ? 'correction' : type,
    object_id: objectId,
    amount,
  } as const;
  // Each object is booked once per type, except for corrections.
  await balanceEntries.upsert(
    tx,
    entry,
    `on conflict (object_id, type) where type <> 'correction' do nothing`,
  );
}
