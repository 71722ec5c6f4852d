import type { Answer } from '../data/api.ts';
import { declineText, refusalText } from '../data/refusal-text.ts';
import { t } from '../ui/text/t.ts';
import type { Intent, PayLink } from './pay-link.ts';

/**
 * The page's states and transitions, as pure functions. `use-payment.ts` calls wallets and the
 * service.
 */
export type Step =
  | { readonly at: 'loading' }
  | { readonly at: 'missing' }
  /** The service has not responded yet. */
  | { readonly at: 'unreachable' }
  | {
      readonly at: 'open';
      readonly link: PayLink;
      /** True while the wallet's own window is open. */
      readonly busy: boolean;
      /** The reason why nothing was sent, as text for the user. */
      readonly problem: string | null;
      /** The reason why the last try was declined, as text for the user. */
      readonly declined: string | null;
    }
  /** `mine` if this page sent, or may have sent, a signature and waits for the response. */
  | { readonly at: 'checking'; readonly link: PayLink; readonly mine: boolean }
  | {
      readonly at: 'ended';
      readonly link: PayLink;
      readonly outcome: Outcome;
      /** True if the payment ended through this page's signature. */
      readonly mine: boolean;
      readonly receipt: string | null;
    };

export type Outcome = 'paid' | 'canceled' | 'expired';

export type PayEvent =
  | { readonly type: 'read'; readonly answer: Answer<PayLink> }
  | { readonly type: 'began' }
  /** Nothing was sent. */
  | { readonly type: 'stopped'; readonly problem: string | null }
  | { readonly type: 'sent' }
  /**
   * A signature was sent before the page was reloaded. It is sent again until the service responds.
   */
  | { readonly type: 'resumed'; readonly link: PayLink }
  /** The response to a signature. After `unknown` the same signature is sent again. */
  | { readonly type: 'answered'; readonly answer: Answer<Intent> };

export const START: Step = { at: 'loading' };

function open(
  link: PayLink,
  { problem = null, declined = null }: { problem?: string | null; declined?: string | null } = {},
): Step {
  return { at: 'open', link, busy: false, problem, declined };
}

function ended(link: PayLink, reason: PayLink['cancellation_reason'], mine: boolean): Step {
  const outcome = reason === 'expired' ? 'expired' : 'canceled';
  return { at: 'ended', link, outcome, mine, receipt: null };
}

function ofLink(step: Step, link: PayLink): Step {
  switch (link.status) {
    case 'requires_payment_method':
      // Ignore a response older than this page's signature: it must not end the wait.
      if (step.at === 'checking' && step.mine) return step;
      if (step.at === 'open') return { ...step, link };
      return step.at === 'checking'
        ? open(link, { declined: t('pay.problem.not_paid') })
        : open(link);
    case 'succeeded':
      // Only the response to the signature contains the receipt, so keep waiting for it.
      if (step.at === 'checking' && step.mine) return step;
      return { at: 'ended', link, outcome: 'paid', mine: false, receipt: null };
    case 'canceled':
      return step.at === 'checking' && step.mine
        ? step
        : ended(link, link.cancellation_reason, false);
    default:
      if (step.at === 'open' && step.busy) return { ...step, link };
      return { at: 'checking', link, mine: step.at === 'checking' && step.mine };
  }
}

function onRead(step: Step, answer: Answer<PayLink>): Step {
  if (step.at === 'ended') return step;
  if (answer.is === 'done') return ofLink(step, answer.value);
  if (step.at !== 'loading' && step.at !== 'unreachable') return step;
  return answer.is === 'refused' && answer.status === 404
    ? { at: 'missing' }
    : { at: 'unreachable' };
}

function onAnswered(link: PayLink, answer: Answer<Intent>): Step {
  if (answer.is === 'unknown') return { at: 'checking', link, mine: true };
  if (answer.is === 'not_sent') return open(link, { problem: t('pay.problem.offline') });
  if (answer.is === 'refused') {
    // Another payer was first, or the payment has ended. The next poll of the link shows which of
    // these happened.
    if (answer.error.code === 'payment_intent_unexpected_state') {
      return { at: 'checking', link, mine: false };
    }
    return open(link, { problem: refusalText(answer.error) });
  }
  const { status, last_payment_error: error, cancellation_reason: reason } = answer.value;
  if (status === 'succeeded') {
    const receipt = answer.value.receipt_url;
    return { at: 'ended', link, outcome: 'paid', mine: true, receipt };
  }
  if (status === 'requires_payment_method') {
    return open(link, { declined: error === null ? '' : declineText(error) });
  }
  if (status === 'canceled') return ended(link, reason, true);
  return { at: 'checking', link, mine: false };
}

export function next(step: Step, event: PayEvent): Step {
  switch (event.type) {
    case 'read':
      return onRead(step, event.answer);
    case 'began':
      if (step.at !== 'open' || step.busy) return step;
      return { ...step, busy: true, problem: null, declined: null };
    case 'stopped':
      return step.at === 'open' ? open(step.link, { problem: event.problem }) : step;
    case 'sent':
      return step.at === 'open' ? { at: 'checking', link: step.link, mine: true } : step;
    case 'resumed':
      return { at: 'checking', link: event.link, mine: true };
    case 'answered':
      if (step.at !== 'checking' || !step.mine) return step;
      return onAnswered(step.link, event.answer);
  }
}
