import type { Answer } from '../data/api.ts';
import type { Confirmation } from '../data/payer-api.ts';
import { refusalText } from '../data/refusal-text.ts';
import { t } from '../ui/text/t.ts';

/**
 * How a confirmation ended. `canceled`: the shop canceled it. `gone`: it ended without an answer
 * from this window. `refused`: this window approved too late.
 */
export type RingOutcome =
  | 'paid'
  | 'rejected'
  | 'declined'
  | 'expired'
  | 'canceled'
  | 'gone'
  | 'refused';

/** One confirmation request of the service. */
export type Ring =
  | {
      readonly at: 'asked';
      readonly confirmation: Confirmation;
      /** The reason why the user's answer was not accepted. */
      readonly remark: string | null;
    }
  | {
      readonly at: 'answering';
      readonly confirmation: Confirmation;
      readonly yes: boolean;
      /** The number of times that the answer was sent. */
      readonly sends: number;
      /** True once the service has accepted the approval; the payment is then settling. */
      readonly isTaken: boolean;
    }
  | {
      readonly at: 'ended';
      readonly confirmation: Confirmation;
      readonly outcome: RingOutcome;
      /** The service's message, if it refused the answer. */
      readonly message: string | null;
    };

/** In order of arrival. The first one is shown. */
export type Rings = readonly Ring[];

type Answering = Extract<Ring, { at: 'answering' }>;

export type RingEvent =
  | { readonly type: 'listed'; readonly confirmations: readonly Confirmation[] }
  /** The service's time in milliseconds. */
  | { readonly type: 'tick'; readonly now: number }
  | ({ readonly intent: string } & (
      | { readonly type: 'answer'; readonly yes: boolean }
      | { readonly type: 'sent' }
      | { readonly type: 'answered'; readonly answer: Answer<Confirmation> }
      /** The service's state of a confirmation that ended without an answer from this window. */
      | { readonly type: 'looked_up'; readonly confirmation: Confirmation }
      | { readonly type: 'closed' }
    ));

function ringing(confirmation: Confirmation, remark: string | null = null): Ring {
  return { at: 'asked', confirmation, remark };
}

function ended(
  confirmation: Confirmation,
  outcome: RingOutcome,
  message: string | null = null,
): Ring {
  return { at: 'ended', confirmation, outcome, message };
}

/** Returns the milliseconds until the confirmation expires. */
export function leftMs({ expires_at: by }: Confirmation, now: number): number {
  return by === null ? 0 : Date.parse(by) - now;
}

/**
 * True for the same confirmation. Tapping the pass again creates a new one for the same payment.
 */
function isSame(a: Confirmation, b: Confirmation): boolean {
  return a.payment_intent === b.payment_intent && a.expires_at === b.expires_at;
}

function onListed(rings: Rings, list: readonly Confirmation[]): Rings {
  const fresh = list.filter((one) => !rings.some((ring) => isSame(ring.confirmation, one)));
  const kept = rings.flatMap((ring): Ring[] => {
    // A new request replaces the earlier result.
    const { payment_intent: intent } = ring.confirmation;
    const isAskedAnew = fresh.some((one) => one.payment_intent === intent);
    if (isAskedAnew && ring.at !== 'answering') return [];
    const isStill = list.some((one) => isSame(one, ring.confirmation));
    return [ring.at === 'asked' && !isStill ? ended(ring.confirmation, 'gone') : ring];
  });
  const waiting = new Set(kept.map(({ confirmation }) => confirmation.payment_intent));
  return [
    ...kept,
    ...fresh.filter((one) => !waiting.has(one.payment_intent)).map((one) => ringing(one)),
  ];
}

/** Returns the state that follows from the service's response to an answer. */
function ofAnswer(ring: Answering, said: Confirmation): Ring {
  const { confirmation } = ring;
  switch (said.status) {
    case 'succeeded':
      return ended({ ...confirmation, payment: said.payment }, 'paid');
    case 'processing':
    case 'requires_action':
      return { ...ring, isTaken: true };
    default:
      if (!ring.yes || said.decline_code === 'payer_rejected')
        return ended(confirmation, 'rejected');
      if (said.decline_code === 'confirmation_timeout') return ended(confirmation, 'expired');
      return ended({ ...confirmation, decline_code: said.decline_code }, 'declined');
  }
}

function onAnswered(ring: Answering, answer: Answer<Confirmation>): Ring {
  const { confirmation, yes, sends, isTaken } = ring;
  if (answer.is === 'done') return ofAnswer(ring, answer.value);
  if (answer.is === 'unknown') return ring;
  if (answer.is === 'not_sent')
    return sends > 1 ? ring : ringing(confirmation, t('wallet.problem.not_sent'));
  const { status, error } = answer;
  // The service cannot take the answer now, for example because settlement is paused, so the
  // confirmation stays open.
  const isClosed = error.code === 'service_unavailable';
  if (isClosed && sends === 1) return ringing(confirmation, refusalText(error));
  if (status >= 500 || status === 429) return ring;
  if (isTaken) return ended(confirmation, 'declined');
  // Approving fails if the payment can no longer be made; declining fails if it was already
  // approved. The 404 message addresses developers, so it is not shown.
  const message = status === 404 ? null : refusalText(error);
  return ended(confirmation, yes ? 'refused' : 'gone', message);
}

type IntentEvent = Extract<RingEvent, { intent: string }>;

/**
 * True if the ring ended for an unknown reason. The service knows whether the shop canceled the
 * payment.
 */
export function isUnexplained(ring: Ring): boolean {
  return ring.at === 'ended' && (ring.outcome === 'gone' || ring.outcome === 'refused');
}

/** Returns the state after an event; `null` removes it from the list. */
function nextRing(ring: Ring, event: IntentEvent): Ring | null {
  const { confirmation } = ring;
  switch (event.type) {
    case 'answer':
      return ring.at === 'asked'
        ? { at: 'answering', confirmation, yes: event.yes, sends: 0, isTaken: false }
        : ring;
    case 'sent':
      return ring.at === 'answering' ? { ...ring, sends: ring.sends + 1 } : ring;
    case 'answered':
      return ring.at === 'answering' ? onAnswered(ring, event.answer) : ring;
    case 'looked_up':
      return isUnexplained(ring) && event.confirmation.status === 'canceled'
        ? ended(confirmation, 'canceled')
        : ring;
    case 'closed':
      return ring.at === 'ended' ? null : ring;
  }
}

/**
 * Returns the confirmations after an event. A pure function; events that do not fit the state are
 * ignored.
 */
export function nextRings(rings: Rings, event: RingEvent): Rings {
  switch (event.type) {
    case 'listed':
      return onListed(rings, event.confirmations);
    case 'tick':
      return rings.map((ring) =>
        ring.at === 'asked' && leftMs(ring.confirmation, event.now) <= 0
          ? ended(ring.confirmation, 'expired')
          : ring,
      );
    default:
      return rings.flatMap((ring) =>
        ring.confirmation.payment_intent === event.intent ? (nextRing(ring, event) ?? []) : [ring],
      );
  }
}
