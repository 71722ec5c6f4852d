import type { Tenant } from '#core/mode.ts';
import { stampOrder } from '#db/commit-order.ts';
import { appendEvents } from '#events/append-events.ts';
import type { EventType } from '#events/event-types.ts';
import { eventually, type WebhookBench } from '#testing/webhooks.ts';

/** Writes this many events in one transaction and wakes the workers. */
export async function writeTestEvents(
  bench: WebhookBench,
  count = 1,
  options: { readonly type?: EventType; readonly tenant?: Tenant } = {},
): Promise<void> {
  const tenant = options.tenant ?? bench.tenant;
  await bench.db.transaction(async (tx) => {
    const stamp = await stampOrder(tx, tenant, bench.clock.now(), count);
    const drafts = Array.from({ length: count }, (_, index) => ({
      tenant,
      type: options.type ?? ('terminal.created' as const),
      objectId: 'tml_0',
      object: { id: 'tml_0', object: 'terminal', label: `terminal ${index} €` },
      stamp,
    }));
    await appendEvents(tx, drafts);
  });
  bench.wakeups.send('deliveries');
}

/**
 * Waits until all of the account's deliveries have been made. A delivery is queued together with
 * its event, so earlier events cannot add any.
 */
export async function drainDeliveries(bench: WebhookBench): Promise<void> {
  const waiting = 'select from webhook_due where account_id = $1';
  await eventually('all delivered', async () => {
    const rows = await bench.db.query(waiting, [bench.tenant.accountId]);
    return rows.length === 0;
  });
}
