import Type from 'typebox';
import {
  type AttemptRow,
  selectDeliveriesOf,
  selectEventsOf,
  selectSettlementAttempts,
  type TimelineDeliveryRow,
} from '#apis/dashboard/payments/timeline-queries.ts';
import { addMs } from '#core/clock.ts';
import { tenantOf } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import { idOf, nullable, objectType, oneOf, Timestamp } from '#http/schema.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import { byAccountClock } from '#payments/payment-intent.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { finalityOf } from '#settlement/chain/read/final-block.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';

/**
 * Maximum number of events. An intent has a handful; repeated taps by a merchant's server may add
 * more.
 */
const MOST_EVENTS = 100;
/** Time after an intent's end in which events are looked for. All of them follow within moments. */
const AFTER_END_MS = 10 * 60_000;

const Attempt = Type.Object({
  status: oneOf(
    ['queued', 'submitted', 'succeeded', 'failed'] as const,
    'The status of the attempt.',
  ),
  decided_at: Timestamp,
  deadline: nullable(Timestamp),
  signed_at: nullable(Timestamp),
  times_sent: Type.Integer({
    minimum: 0,
    description: 'How many times it was signed again, with a higher fee.',
  }),
  included_at: nullable(Timestamp),
  waits_for: nullable(
    oneOf(
      ['time', 'safe', 'finalized'] as const,
      'The condition that a large amount waited for once it was in a block (`included_at`); null ' +
        'for all others.',
    ),
  ),
  block_number: nullable(Type.Integer({ description: 'The block that holds it.' })),
  certainty: nullable(
    oneOf(
      ['included', 'safe', 'final'] as const,
      'The finality of its block; `null` if it is in none, or if no node responds.',
    ),
  ),
  booked_at: nullable(Timestamp),
  final_at: nullable(Timestamp),
});

const Delivery = Type.Object({
  id: idOf('wdl_', 'webhook delivery'),
  webhook_endpoint: idOf('we_', 'webhook endpoint'),
  event: idOf('evt_', 'event'),
  status: oneOf(['pending', 'succeeded', 'failed'] as const, 'The status of the delivery.'),
  attempt: Type.Integer({ description: 'The number of attempts.' }),
  response_status: nullable(Type.Integer({ description: 'HTTP status of the last response.' })),
  updated: Timestamp,
});

export const TimelineSchema = Type.Object(
  {
    object: objectType('timeline'),
    payment_intent: idOf('pi_', 'payment intent'),
    settlements: Type.Array(Attempt, { description: 'Attempts to settle it, oldest first.' }),
    events: Type.Array(
      Type.Object({
        id: idOf('evt_', 'event'),
        type: Type.String({ description: 'The type of the event.' }),
        created: Timestamp,
      }),
      { description: 'Events of the intent and its payment that are still stored, oldest first.' },
    ),
    deliveries: Type.Array(Delivery, { description: 'The deliveries of these events.' }),
  },
  { title: 'Timeline', description: 'The history of a payment intent beyond its own fields.' },
);

function attemptView({ applied_at, block_number, ...row }: AttemptRow, finality: Finality | null) {
  const block = block_number === null ? null : Number(block_number);
  const certainty =
    block_number === null ? null : certaintyOf(block_number, row.final_at, finality);
  return { ...row, block_number: block, certainty, booked_at: applied_at };
}

type Finality = Awaited<ReturnType<typeof finalityOf>>;

function certaintyOf(block: bigint, finalAt: Date | null, finality: Finality | null) {
  if (finalAt !== null) return 'final';
  if (finality === null) return null;
  if (block <= finality.finalized) return 'final';
  return block <= finality.safe ? 'safe' : 'included';
}

/**
 * Time for which the chain's finality is cached, because many people may view their payments at the
 * same time.
 */
const FINALITY_AGE_MS = 5_000;

/**
 * Reads the safe and the final block, but only if an attempt is in a block and not final yet.
 * Otherwise, and if no node responds, returns `null`.
 */
async function readFinality(
  chain: Chain | undefined,
  attempts: readonly AttemptRow[],
): Promise<Finality | null> {
  const isOpen = attempts.some((one) => one.block_number !== null && one.final_at === null);
  if (chain === undefined || !isOpen) return null;
  try {
    return await chain.remember('finality', FINALITY_AGE_MS, async () => {
      return finalityOf(chain, (await chain.newest()).number);
    });
  } catch (error) {
    if (error instanceof RpcUnavailable) return null;
    throw error;
  }
}

function deliveryView({ endpoint_id, event_id, ...row }: TimelineDeliveryRow) {
  return { ...row, webhook_endpoint: endpoint_id, event: event_id };
}

/** Returns the latest time at which the intent can have events: now, while it is open. */
function endOf(intent: PaymentIntent, now: Date): Date {
  const isOver = intent.status === 'succeeded' || intent.status === 'canceled';
  const expiry = byAccountClock(intent, intent.expires_at).getTime();
  const last = Math.max(expiry, intent.tapped_at?.getTime() ?? 0);
  return isOver ? addMs(new Date(last), AFTER_END_MS) : byAccountClock(intent, now);
}

/** Reads those parts of an intent's history that are not in its own fields. */
export async function readTimeline(
  { db, chains }: { readonly db: Sql; readonly chains: readonly Chain[] },
  intent: PaymentIntent,
  now: Date,
) {
  const tenant = tenantOf(intent);
  const objects = [intent.id, ...(intent.status === 'succeeded' ? [intent.payment_id] : [])];
  const span = { from: intent.created, to: endOf(intent, now), limit: MOST_EVENTS };
  const [attempts, events] = await Promise.all([
    selectSettlementAttempts(db, {
      intentId: intent.id,
      livemode: tenant.livemode,
      number: intent.settlement_number,
    }),
    selectEventsOf(db, tenant, { ...span, objects }),
  ]);
  const chain = chains.find(({ config }) => config.livemode === tenant.livemode);
  const finality = await readFinality(chain, attempts);
  const deliveries = await selectDeliveriesOf(db, tenant, events);
  const view = {
    object: 'timeline',
    payment_intent: intent.id,
    settlements: attempts.map((attempt) => attemptView(attempt, finality)),
    events: events.map(({ id, type, created }) => ({ id, type, created })),
    deliveries: deliveries.map(deliveryView),
  };
  return { view, attempts, deliveries };
}
