import type { Tenant } from '#core/mode.ts';
import { stampOrder } from '#db/commit-order.ts';
import { appendEvents } from '#events/append.ts';
import type { EventType } from '#events/types.ts';
import type { WebhookBench } from '#testing/webhooks.ts';

/** Writes so many events in one transaction and wakes the workers. */
export async function writeTestEvents(
  bench: WebhookBench,
  count = 1,
  of: { readonly type?: EventType; readonly tenant?: Tenant } = {},
): Promise<void> {
  const tenant = of.tenant ?? bench.tenant;
  await bench.db.transaction(async (tx) => {
    const stamp = await stampOrder(tx, tenant, bench.clock.now(), count);
    const drafts = Array.from({ length: count }, (_, index) => ({
      tenant,
      type: of.type ?? ('terminal.created' as const),
      objectId: 'tml_0',
      object: { id: 'tml_0', object: 'terminal', label: `terminal ${index} €` },
      stamp,
    }));
    await appendEvents(tx, drafts);
  });
  bench.wakeups.send('deliveries');
}
