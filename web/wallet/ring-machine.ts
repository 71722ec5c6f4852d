import type { Answer } from '../data/api.ts';
import type { Confirmation } from '../data/payer.ts';
import { refusalText } from '../data/refusal-text.ts';
import { t } from '../ui/text/t.ts';

/**
 * How a question ended. `canceled`: by the shop. `gone`: it is no longer asked, and this window did
 * not answer it. `refused`: this window's yes came too late.
 */
export type RingOutcome =
  | 'paid'
  | 'rejected'
  | 'declined'
  | 'expired'
  | 'canceled'
  | 'gone'
  | 'refused';

/** One question of the service: may this be paid? */
export type Ring =
  | {
      readonly at: 'asked';
      readonly confirmation: Confirmation;
      /** Why the answer that was given has not been taken. */
      readonly remark: string | null;
    }
  | {
      readonly at: 'answering';
      readonly confirmation: Confirmation;
      readonly yes: boolean;
      /** How often the answer has left this device. */
      readonly sends: number;
      /** The service has taken the yes, and the chain is at it. */
      readonly isTaken: boolean;
    }
  | {
      readonly at: 'ended';
      readonly confirmation: Confirmation;
      readonly outcome: RingOutcome;
      /** The service's words, where it refused the answer. */
      readonly message: string | null;
    };

/** In the order in which they were asked; the first one is shown. */
export type Rings = readonly Ring[];

type Answering = Extract<Ring, { at: 'answering' }>;

export type RingEvent =
  | { readonly type: 'listed'; readonly confirmations: readonly Confirmation[] }
  /** The service's clock, in milliseconds. */
  | { readonly type: 'tick'; readonly now: number }
  | ({ readonly intent: string } & (
      | { readonly type: 'answer'; readonly yes: boolean }
      | { readonly type: 'sent' }
      | { readonly type: 'answered'; readonly answer: Answer<Confirmation> }
      /** What the service says of a question that ended without this window's answer. */
      | { readonly type: 'looked_up'; readonly confirmation: Confirmation }
      | { readonly type: 'closed' }
    ));

function asked(confirmation: Confirmation, remark: string | null = null): Ring {
  return { at: 'asked', confirmation, remark };
}

function ended(
  confirmation: Confirmation,
  outcome: RingOutcome,
  message: string | null = null,
): Ring {
  return { at: 'ended', confirmation, outcome, message };
}

/** Milliseconds until nobody can answer any more. */
export function leftMs({ expires_at: by }: Confirmation, now: number): number {
  return by === null ? 0 : Date.parse(by) - now;
}

/** A pass that is tapped again asks again, for the same payment. */
function isSame(a: Confirmation, b: Confirmation): boolean {
  return a.payment_intent === b.payment_intent && a.expires_at === b.expires_at;
}

function onListed(rings: Rings, list: readonly Confirmation[]): Rings {
  const fresh = list.filter((one) => !rings.some((ring) => isSame(ring.confirmation, one)));
  const kept = rings.flatMap((ring): Ring[] => {
    // Asked again: how it ended before does not matter any more.
    const { payment_intent: intent } = ring.confirmation;
    const isAskedAnew = fresh.some((one) => one.payment_intent === intent);
    if (isAskedAnew && ring.at !== 'answering') return [];
    const isStill = list.some((one) => isSame(one, ring.confirmation));
    return [ring.at === 'asked' && !isStill ? ended(ring.confirmation, 'gone') : ring];
  });
  const waiting = new Set(kept.map(({ confirmation }) => confirmation.payment_intent));
  return [
    ...kept,
    ...fresh.filter((one) => !waiting.has(one.payment_intent)).map((one) => asked(one)),
  ];
}

/** What the service says has become of it. */
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
    return sends > 1 ? ring : asked(confirmation, t('wallet.problem.not_sent'));
  const { status, error } = answer;
  // Nothing settles on this network for now: it is still asked.
  const isClosed = error.code === 'service_unavailable';
  if (isClosed && sends === 1) return asked(confirmation, refusalText(error));
  if (status >= 500 || status === 429) return ring;
  if (isTaken) return ended(confirmation, 'declined');
  // A yes is refused where nothing was and will be paid; a no, where somebody has said yes, too.
  // That there is no such question is said for programs, not for payers.
  const message = status === 404 ? null : refusalText(error);
  return ended(confirmation, yes ? 'refused' : 'gone', message);
}

type IntentEvent = Extract<RingEvent, { intent: string }>;

/** Whether it ended here without saying why: the service knows whether the shop canceled it. */
export function isUnexplained(ring: Ring): boolean {
  return ring.at === 'ended' && (ring.outcome === 'gone' || ring.outcome === 'refused');
}

/** @returns null: it leaves the list. */
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

/** The rings after an event. Pure; an event that does not fit changes nothing. */
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
