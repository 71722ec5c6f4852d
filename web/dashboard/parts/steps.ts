import type { Payment, PaymentIntent, Timeline } from '../../data/types/dashboard.ts';
import type { Tone } from '../../ui/status.tsx';

/** One thing that happened on the way of a payment; `link` names an object that it led to. */
export interface Step {
  readonly key: string;
  readonly at: string | null;
  readonly title: string;
  /** The event's type, behind the title: as programs know it, in every language. */
  readonly event?: string;
  readonly tone: Tone;
  readonly detail?: string;
  /** What programs are told of it. */
  readonly codes?: string;
  readonly link?: string;
}

const MINED = 'mined';
const SOURCES = { api: 'by your server', terminal: 'at the terminal' } as const;

function intentSteps(intent: PaymentIntent): Step[] {
  const { created, picked_up_at, tapped_at, last_payment_error: error, canceled_at } = intent;
  const steps: Step[] = [
    { key: 'created', at: created, title: `Created ${SOURCES[intent.source]}`, tone: 'info' },
  ];
  if (picked_up_at !== null) {
    steps.push({ key: 'shown', at: picked_up_at, title: 'Shown on the terminal', tone: 'info' });
  }
  if (tapped_at !== null) {
    steps.push({ key: 'tapped', at: tapped_at, title: 'Customer tapped', tone: 'info' });
  }
  if (error !== null) {
    const { created: at, message: detail, decline_code, reason_code } = error;
    const codes = `${decline_code} ${reason_code}`;
    steps.push({ key: 'declined', at, title: 'Declined', tone: 'bad', detail, codes });
  }
  if (canceled_at !== null) {
    const isExpired = intent.cancellation_reason === 'expired';
    const title = isExpired ? 'Expired: not paid in time' : 'Canceled';
    steps.push({ key: 'canceled', at: canceled_at, title, tone: 'plain' });
  }
  return steps;
}

type Settlement = Timeline['settlements'][number];

const WAITS = {
  time: 'a moment longer',
  safe: 'until its block is safe',
  finalized: 'until its block is final',
} as const;

const CERTAINTY = {
  included: 'Its block is included, and not yet safe.',
  safe: 'Its block is safe, and not yet final.',
  final: 'Its block is final.',
} as const;

/** How a webhook about it is getting on. */
const SERVER_TOLD = {
  pending: 'Your server has not been notified yet',
  succeeded: 'Your server was notified',
  failed: 'Your server could not be notified',
} as const;

function settlementSteps(settlement: Settlement, index: number): Step[] {
  const { status, decided_at, signed_at, times_sent, booked_at, final_at } = settlement;
  const { included_at, waits_for, certainty } = settlement;
  const key = (name: string) => `${name} ${index}`;
  const steps: Step[] = [
    { key: key('decided'), at: decided_at, title: 'Approved, waiting to be signed', tone: 'info' },
  ];
  if (signed_at !== null) {
    const detail = times_sent > 1 ? `Gas price raised: ${times_sent - 1} ×` : undefined;
    const title = 'Signed and sent to the chain';
    steps.push({
      key: key('signed'),
      at: signed_at,
      title,
      tone: 'info',
      ...(detail && { detail }),
    });
  }
  if (included_at !== null && waits_for !== null) {
    const title = `In a block; an amount this large waits ${WAITS[waits_for]}`;
    steps.push({ key: key('included'), at: included_at, title, tone: 'info' });
  }
  if (status === 'failed' && booked_at !== null) {
    steps.push({ key: key('failed'), at: booked_at, title: 'Not settled', tone: 'bad' });
  }
  if (status === 'succeeded' && booked_at !== null) {
    const how = certainty === null ? {} : { detail: CERTAINTY[certainty] };
    const title = 'In your ledger';
    steps.push({ key: key('booked'), at: booked_at, title, tone: 'good', ...how });
  }
  if (final_at !== null && status === 'succeeded') {
    const title = 'Final: the chain can no longer reverse it';
    steps.push({ key: key('final'), at: final_at, title, tone: 'good' });
  }
  return steps;
}

/** What programs get of it: events, by the names that they know, and their deliveries. */
export function toldOf({ events, deliveries }: Timeline): Step[] {
  const types = new Map(events.map(({ id, type }) => [id, type]));
  const TONES = { pending: 'info', succeeded: 'good', failed: 'bad' } as const;
  const steps = [
    ...events.map(({ id, type, created }): Step => {
      return { key: id, at: created, title: '', event: type, tone: 'plain', link: id };
    }),
    ...deliveries.map((delivery): Step => {
      const { id, event, status, attempt, response_status, updated } = delivery;
      const answer = response_status === null ? 'no response' : `response ${response_status}`;
      const title = `${SERVER_TOLD[status]}: `;
      const named = { title, event: types.get(event) ?? event };
      const detail = `Attempt ${attempt}, ${answer}`;
      const link = `${delivery.webhook_endpoint}/${id}`;
      return { key: id, at: updated, ...named, tone: TONES[status], detail, link };
    }),
  ];
  return steps.sort((one, other) => timeIn(one.at) - timeIn(other.at));
}

function paymentSteps({ settled_at, block_number }: Payment): Step[] {
  const detail = `Block ${block_number}`;
  return [{ key: MINED, at: settled_at, title: 'Paid on the chain', tone: 'good', detail }];
}

function timeIn(at: string | null): number {
  return at === null ? 0 : Date.parse(at);
}

/** What people and the chain did for an intent and its payment, in the order it happened. */
export function courseOf({
  intent,
  payment,
  timeline,
}: {
  readonly intent: PaymentIntent | undefined;
  readonly payment: Payment | undefined;
  readonly timeline: Timeline | undefined;
}): Step[] {
  const steps = [
    ...(intent === undefined ? [] : intentSteps(intent)),
    ...(timeline?.settlements.flatMap(settlementSteps) ?? []),
    ...(payment === undefined ? [] : paymentSteps(payment)),
  ];
  const signedAt = timeline?.settlements.at(-1)?.signed_at ?? intent?.tapped_at ?? null;
  // Blocks know whole seconds only: by its own time, one could stand before its cause.
  const timeOf = ({ key, at }: Step) =>
    key === MINED ? Math.max(timeIn(at), timeIn(signedAt)) : timeIn(at);
  // A stable order: of two at the same moment, the cause was named first.
  return steps.sort((one, other) => timeOf(one) - timeOf(other));
}
