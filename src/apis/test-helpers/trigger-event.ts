import { selectNewestBody, selectNewestObject } from '#apis/test-helpers/newest-queries.ts';
import { type Sample, type SampleType, sampleOf } from '#apis/test-helpers/sample-objects.ts';
import type { Answer } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Json } from '#core/canonical-json.ts';
import type { Tenant } from '#core/mode.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Database, Tx } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { appendEvents } from '#events/append-events.ts';
import { EVENT_TYPES, familyOf } from '#events/event-types.ts';

type JsonObject = { [key: string]: Json };

/** The fields that make up an object's state. Its other fields identify or describe it. */
const STATE = new Set([
  ...['status', 'payment', 'tx_hash', 'next_action', 'last_payment_error', 'cancellation_reason'],
  ...['canceled_at', 'tapped_at', 'amount_refunded', 'failure_code', 'failure_message'],
  ...['disabled_reason', 'failing_since', 'updated', 'bounce_reason'],
]);

/** Fields with the ID of another object, and the event family of that object. */
const RELATED: Readonly<Record<string, string>> = {
  terminal: 'terminal.*',
  payment_intent: 'payment_intent.*',
  payment: 'payment.*',
};

const typesOf = (family: string) => EVENT_TYPES.filter((type) => familyOf(type) === family);

function inState(real: JsonObject, sample: JsonObject): JsonObject {
  const state = Object.entries(sample).filter(
    ([name]) => STATE.has(name) && !(name in RELATED && real[name] != null),
  );
  return { ...real, ...Object.fromEntries(state) };
}

/**
 * Finds an object for the event: one that really was in that state, otherwise one of the same kind,
 * which is shown in that state. Either can be retrieved. If the account has none, returns a made-up
 * object.
 */
async function findSample(
  tx: Tx,
  input: { readonly tenant: Tenant; readonly type: SampleType; readonly now: Date },
): Promise<Sample> {
  const { tenant, type, now } = input;
  const sample = sampleOf(type, tenant.accountId, now);
  if (familyOf(type) === 'kyb.*') return sample;
  const same = await selectNewestObject(tx, tenant, [type]);
  if (same !== undefined) return { ...sample, ...same };
  const kin = await selectNewestObject(tx, tenant, typesOf(familyOf(type)));
  const real = kin?.object ?? {};
  const object = kin === undefined ? { ...sample.object } : inState(real, sample.object);
  for (const [name, family] of Object.entries(RELATED)) {
    if (typeof object[name] !== 'string' || object[name] === real[name]) continue;
    const related = await selectNewestObject(tx, tenant, typesOf(family));
    object[name] = related?.objectId ?? object[name];
  }
  return { ...sample, object, objectId: kin?.objectId ?? sample.objectId };
}

/** Sends an event to every endpoint that subscribes to it, and changes nothing else. */
export async function triggerEvent(
  ctx: { readonly db: Database; readonly wakeups: Wakeups },
  request: { readonly tenant: Tenant; readonly type: SampleType; readonly now: Date },
): Promise<Answer> {
  const { tenant, type, now } = request;
  const { body, deliveries } = await ctx.db.transaction(async (tx) => {
    const sample = await findSample(tx, request);
    const stamp = await stampOrder(tx, tenant, now, 1);
    const deliveries = await appendEvents(tx, [{ tenant, type, stamp, ...sample }]);
    const at = { objectId: sample.objectId, created: stamp.created };
    return { body: present(await selectNewestBody(tx, tenant, at), 'triggered event'), deliveries };
  });
  if (deliveries > 0) ctx.wakeups.send('deliveries');
  return { status: 201, body };
}
