import { declineText } from '../data/refusal-text.ts';
import type { Payment, PaymentIntent, Timeline } from '../data/types/dashboard.ts';
import type { Tone } from '../ui/status.tsx';
import { t } from '../ui/text/t.ts';

/** One step in the timeline of a payment. `link` is the id of an object that it created. */
export interface Step {
  readonly key: string;
  readonly at: string | null;
  readonly title: string;
  /** The event type behind the title, the same in every language. */
  readonly event?: string;
  readonly tone: Tone;
  readonly detail?: string;
  /** Codes that the API reports for this step. */
  readonly codes?: string;
  readonly link?: string;
}

const MINED = 'mined';
function intentSteps(intent: PaymentIntent): Step[] {
  const { created, picked_up_at, tapped_at, last_payment_error: error, canceled_at } = intent;
  const steps: Step[] = [
    {
      key: 'created',
      at: created,
      title: t(`dashboard.steps.created.${intent.source}`),
      tone: 'info',
    },
  ];
  if (picked_up_at !== null) {
    steps.push({
      key: 'shown',
      at: picked_up_at,
      title: t('dashboard.steps.shown_on_the_terminal.heading'),
      tone: 'info',
    });
  }
  if (tapped_at !== null) {
    steps.push({
      key: 'tapped',
      at: tapped_at,
      title: t('dashboard.steps.customer_tapped.heading'),
      tone: 'info',
    });
  }
  if (error !== null) {
    const { created: at, message, decline_code, reason_code } = error;
    const detail = declineText({ decline_code, customer_message: message });
    const codes = `${decline_code} ${reason_code}`;
    steps.push({
      key: 'declined',
      at,
      title: t('dashboard.steps.declined.heading'),
      tone: 'bad',
      detail,
      codes,
    });
  }
  if (canceled_at !== null) {
    const isExpired = intent.cancellation_reason === 'expired';
    const title = t(isExpired ? 'dashboard.steps.expired' : 'dashboard.status.canceled');
    steps.push({ key: 'canceled', at: canceled_at, title, tone: 'plain' });
  }
  return steps;
}

type Settlement = Timeline['settlements'][number];

function settlementSteps(settlement: Settlement, index: number): Step[] {
  const { status, decided_at, signed_at, times_sent, booked_at, final_at } = settlement;
  const { included_at, waits_for, certainty } = settlement;
  const key = (name: string) => `${name} ${index}`;
  const steps: Step[] = [
    {
      key: key('decided'),
      at: decided_at,
      title: t('dashboard.steps.approved'),
      tone: 'info',
    },
  ];
  if (signed_at !== null) {
    const detail =
      times_sent > 1 ? t('dashboard.steps.gas_raised', { times: times_sent - 1 }) : undefined;
    const title = t('dashboard.steps.signed');
    steps.push({
      key: key('signed'),
      at: signed_at,
      title,
      tone: 'info',
      ...(detail && { detail }),
    });
  }
  if (included_at !== null && waits_for !== null) {
    const title = t(`dashboard.steps.included.${waits_for}`);
    steps.push({ key: key('included'), at: included_at, title, tone: 'info' });
  }
  if (status === 'failed' && booked_at !== null) {
    steps.push({
      key: key('failed'),
      at: booked_at,
      title: t('dashboard.steps.not_settled.heading'),
      tone: 'bad',
    });
  }
  if (status === 'succeeded' && booked_at !== null) {
    const how = certainty === null ? {} : { detail: t(`dashboard.steps.certainty.${certainty}`) };
    const title = t('dashboard.steps.in_your_ledger');
    steps.push({ key: key('booked'), at: booked_at, title, tone: 'good', ...how });
  }
  if (final_at !== null && status === 'succeeded') {
    const title = t('dashboard.steps.final');
    steps.push({ key: key('final'), at: final_at, title, tone: 'good' });
  }
  return steps;
}

/** Returns the steps for developers: the events and their deliveries, in chronological order. */
export function deliverySteps({ events, deliveries }: Timeline): Step[] {
  const types = new Map(events.map(({ id, type }) => [id, type]));
  const TONES = { pending: 'info', succeeded: 'good', failed: 'bad' } as const;
  const steps = [
    ...events.map(({ id, type, created }): Step => {
      return { key: id, at: created, title: '', event: type, tone: 'plain', link: id };
    }),
    ...deliveries.map((delivery): Step => {
      const { id, event, status, attempt, response_status, updated } = delivery;
      const title = t(`dashboard.steps.notified.${status}`);
      const named = { title, event: types.get(event) ?? event };
      const detail =
        response_status === null
          ? t('dashboard.steps.attempt.silent', { attempt })
          : t('dashboard.steps.attempt.answered', { attempt, status: response_status });
      const link = `${delivery.webhook_endpoint}/${id}`;
      return { key: id, at: updated, ...named, tone: TONES[status], detail, link };
    }),
  ];
  return steps.sort((one, other) => timeIn(one.at) - timeIn(other.at));
}

function paymentSteps({ settled_at, block_number }: Payment): Step[] {
  const detail = t('dashboard.steps.block', { number: block_number });
  return [
    {
      key: MINED,
      at: settled_at,
      title: t('dashboard.steps.paid_on_the_chain.heading'),
      tone: 'good',
      detail,
    },
  ];
}

function timeIn(at: string | null): number {
  return at === null ? 0 : Date.parse(at);
}

/** Returns the steps of an intent, its settlements and its payment, in chronological order. */
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
  // Block times are whole seconds, so a block could be sorted before its cause.
  const timeOf = ({ key, at }: Step) =>
    key === MINED ? Math.max(timeIn(at), timeIn(signedAt)) : timeIn(at);
  // The sort is stable: at equal times, the cause comes first.
  return steps.sort((one, other) => timeOf(one) - timeOf(other));
}
