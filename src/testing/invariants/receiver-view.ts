import type { Caller } from '#testing/api-client.ts';
import type { Received } from '#testing/webhook-receiver.ts';

/** Objects of events, and the fields that must agree with the API. */
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

/** Final states. A lost object may be missing until it has reached one. */
const ENDED = new Set(['succeeded', 'partially_refunded', 'refunded']);

/**
 * Returns the state of a merchant's server that follows docs/guides/webhooks.md: it ignores
 * repeated events by id, and those whose `sequence` is lower than the last one of their object.
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
  const found: Shown[] = [];
  let cursor = '';
  do {
    const { body } = await merchant.get(`${path}?limit=100${cursor}`);
    found.push(...(body.data as Shown[]));
    const next = body.next_cursor;
    cursor = typeof next === 'string' ? `&cursor=${encodeURIComponent(next)}` : '';
  } while (cursor !== '');
  return found;
}

function differences(kind: keyof typeof LISTS, shown: Shown, held: Shown): string[] {
  return LISTS[kind].fields.flatMap((field) => {
    const [told, is] = [held[field], shown[field]].map((value) => JSON.stringify(value));
    return told === is ? [] : [`${shown.id}: ${field} is ${is}, the receiver holds ${told}`];
  });
}

/** Compares a receiver's view with the API. @returns the differences; empty if they agree. */
export async function checkReceiver(
  merchant: Caller,
  received: readonly Received[],
): Promise<string[]> {
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
