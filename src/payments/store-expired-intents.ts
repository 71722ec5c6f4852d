import type { Clock } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { lockOverdueIntents } from '#payments/intent-queries.ts';
import { transition } from '#payments/payment-intent.ts';
import { type Change, saveSteps } from '#payments/save-intent-steps.ts';

/** Rows per transaction: few enough that no tap waits long for a lock. */
const BATCH = 200;

/**
 * Writes what has come due: open intents expire, and unanswered confirmations end. Readers already
 * see the new state (`asOf`); this stores it and sends the events. @returns true if there may be
 * more.
 */
export async function expireIntents(deps: {
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
}): Promise<boolean> {
  const now = deps.clock.now();
  const { changes, deliveries } = await deps.db.transaction(async (tx) => {
    // Skips networks in recovery: the chain may have paid their intents in the lost period.
    const modes = [false, true].filter((livemode) => tx.watch.serves(livemode));
    const intents = await lockOverdueIntents(tx, { now, modes, limit: BATCH });
    const changes = intents.flatMap((before): Change[] => {
      const steps = transition(before, { type: 'time_passed' }, now);
      return 'refused' in steps ? [] : [{ before, steps }];
    });
    return { changes, deliveries: await saveSteps(tx, changes, now) };
  });
  for (const { before } of changes) {
    deps.wakeups.send('intent', before.id);
    if (before.status === 'requires_action') deps.wakeups.send('payer', before.attempt.payerId);
  }
  if (deliveries > 0) deps.wakeups.send('deliveries');
  return changes.length === BATCH;
}
