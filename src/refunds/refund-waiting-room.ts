import type { Database } from '#db/database.ts';
import { createWaitingRoom, type WaitingRoom } from '#db/waiting-room.ts';
import type { Wakeups } from '#db/wakeups.ts';
import type { Refund } from '#refunds/refund.ts';
import { selectRefunds } from '#refunds/refund-queries.ts';

/** Where requests wait for a refund to end: keyed by its id, woken by the topic `refund`. */
export function createRefundRoom(deps: {
  readonly db: Database;
  readonly wakeups: Wakeups;
}): WaitingRoom<Refund> {
  return createWaitingRoom({
    wakeups: deps.wakeups,
    topic: 'refund',
    read: async (ids) => {
      const refunds = await selectRefunds(deps.db, ids);
      return new Map(refunds.map((refund) => [refund.id, refund]));
    },
  });
}
