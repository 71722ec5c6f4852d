import type { Answer } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { appendEvents } from '#events/append.ts';
import { selectNewestBody } from '#test-helpers/queries.ts';
import { type SampleType, sampleOf } from '#test-helpers/sample-objects.ts';

/** Sends an event about a made-up object to every endpoint that listens. Nothing else happens. */
export async function triggerEvent(
  deps: { readonly db: Database; readonly wakeups: Wakeups },
  request: { readonly tenant: Tenant; readonly type: SampleType; readonly now: Date },
): Promise<Answer> {
  const { tenant, type, now } = request;
  const { body, deliveries } = await deps.db.transaction(async (tx) => {
    const stamp = await stampOrder(tx, tenant, now, 1);
    const sample = sampleOf(type, tenant.accountId, stamp.created);
    const deliveries = await appendEvents(tx, [{ tenant, type, stamp, ...sample }]);
    const at = { objectId: sample.objectId, created: stamp.created };
    return { body: present(await selectNewestBody(tx, tenant, at), 'triggered event'), deliveries };
  });
  if (deliveries > 0) deps.wakeups.send('deliveries');
  return { status: 201, body };
}
