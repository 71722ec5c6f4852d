import type { Sql } from '#db/database.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import type { Received } from '#testkit/network/webhook-receiver.ts';
import type { Invariant } from '#testkit/simulation/invariants/invariant.ts';

/** The kinds of objects in events, and the fields that must be the same in the API. */
const LISTS = {
  payment_intent: {
    path: '/payment_intents',
    fields: ['status', 'amount', 'payment', 'tx_hash', 'cancellation_reason'],
  },
  payment: { path: '/payments', fields: ['status', 'amount', 'amount_refunded', 'tx_hash'] },
  refund: { path: '/refunds', fields: ['status', 'amount', 'payment', 'tx_hash'] },
} as const;

type Shown = Readonly<Record<string, unknown>>;

interface Event {
  readonly id: string;
  readonly sequence: number;
  readonly data: { readonly object: Shown };
}

/**
 * Statuses that a loss of data does not undo: an object that events showed in one of them must
 * exist in the API.
 */
const ENDED = new Set(['succeeded', 'partially_refunded', 'refunded']);

/**
 * Returns what a webhook receiver that follows docs/guides/webhooks.md knows. It ignores events
 * whose id it has seen, and events whose `sequence` is lower than the last one for the same object.
 */
export function viewOf(received: readonly Received[]): ReadonlyMap<string, Shown> {
  const known = new Set<string>();
  const newest = new Map<string, number>();
  const view = new Map<string, Shown>();
  for (const { body } of received) {
    const event = JSON.parse(body.toString()) as Event;
    if (known.has(event.id)) continue;
    known.add(event.id);
    const { object } = event.data;
    const id = String(object.id);
    if (event.sequence < (newest.get(id) ?? Number.NEGATIVE_INFINITY)) continue;
    newest.set(id, event.sequence);
    view.set(id, object);
  }
  return view;
}

async function readList(merchant: Caller, path: string): Promise<Shown[]> {
  const results: Shown[] = [];
  let cursor = '';
  do {
    const { body } = await merchant.get(`${path}?limit=100${cursor}`);
    results.push(...(body.data as Shown[]));
    const next = body.next_cursor;
    cursor = typeof next === 'string' ? `&cursor=${encodeURIComponent(next)}` : '';
  } while (cursor !== '');
  return results;
}

function differences(kind: keyof typeof LISTS, shown: Shown, held: Shown): string[] {
  return LISTS[kind].fields.flatMap((field) => {
    const [told, is] = [held[field], shown[field]].map((value) => JSON.stringify(value));
    return told === is ? [] : [`${shown.id}: ${field} is ${is}, the receiver holds ${told}`];
  });
}

/** A webhook receiver, and the API with which it must agree. */
export interface Follower {
  readonly merchant: Caller;
  readonly received: readonly Received[];
}

/** Compares what the receiver knows with the API. */
async function compareView({ merchant, received }: Follower): Promise<string[]> {
  const view = viewOf(received);
  const broken: string[] = [];
  const listed = new Set<string>();
  for (const kind of Object.keys(LISTS) as (keyof typeof LISTS)[]) {
    for (const shown of await readList(merchant, LISTS[kind].path)) {
      const id = String(shown.id);
      listed.add(id);
      const held = view.get(id);
      if (held === undefined) broken.push(`${id} was never told to the receiver`);
      else broken.push(...differences(kind, shown, held));
    }
  }
  for (const [id, { object, status }] of view) {
    if (!(String(object) in LISTS) || listed.has(id) || !ENDED.has(String(status))) continue;
    broken.push(`${id} is ${status} for the receiver, and the API does not have it`);
  }
  return broken;
}

/** Webhook endpoints that were enabled during the whole history. */
export interface Deliveries {
  readonly db: Sql;
  readonly endpoints: readonly {
    readonly id: string;
    /** Ids of the events that the endpoint's receiver acknowledged with a 2xx status. */
    readonly accepted: ReadonlySet<string>;
  }[];
}

/** Checks that every event since the creation of an endpoint has a delivery. */
async function checkDeliveries({ db, endpoints }: Deliveries): Promise<string[]> {
  const broken: string[] = [];
  for (const { id, accepted } of endpoints) {
    const [endpoint] = await db.query('select id from webhook_endpoints where id = $1', [id]);
    // No delivery can be missing for an endpoint that was deleted, so report its absence instead.
    if (endpoint === undefined) broken.push(`${id} is gone`);
    const missing = await db.query<{ id: string }>(
      `select v.id from events v join webhook_endpoints e
         on e.account_id = v.account_id and e.livemode = v.livemode and v.created > e.created
       where e.id = $1 and v.type <> 'ping'
         and e.enabled_events && array['*', v.type, split_part(v.type, '.', 1) || '.*']
       except select event_id from webhook_deliveries
       where endpoint_id = $1 and status = 'succeeded'`,
      [id],
    );
    const delivered = await db.query<{ event_id: string }>(
      `select event_id from webhook_deliveries where endpoint_id = $1 and status = 'succeeded'`,
      [id],
    );
    const unheard = delivered.filter(({ event_id }) => !accepted.has(event_id));
    if (missing.length > 0) broken.push(`${id} lacks ${missing.length} events, ${missing[0]?.id}`);
    if (unheard.length > 0) {
      broken.push(`${id} has ${unheard.length} successes that its receiver never answered`);
    }
  }
  return broken;
}

export const DELIVERY_INVARIANTS: readonly Invariant<Deliveries>[] = [
  { promise: 'every event reaches every endpoint, whose receiver answers', check: checkDeliveries },
];

export const FOLLOWER_INVARIANTS: readonly Invariant<Follower>[] = [
  {
    promise: 'a receiver that follows the guide has the same objects as the API',
    check: compareView,
  },
];
