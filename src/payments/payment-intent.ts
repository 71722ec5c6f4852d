import { type Refusal, refuse } from '#core/answer.ts';
import { assertNever } from '#core/assert.ts';
import { addSeconds } from '#core/clock.ts';
import { type Decline, paymentError } from '#payments/decline-codes.ts';
import { type CancellationReason, inState, type PaymentIntent } from '#payments/intent-rows.ts';
import type { Attempt } from '#payments/payment-attempt.ts';

/** The payment of a settled attempt. */
interface Settled {
  readonly paymentId: string;
  readonly txHash: string;
  /** See {@link Attempt}. A rebuilt intent has no price in the shop's currency, so it has none. */
  readonly fees?: string;
}

/** Everything that can happen to an intent. Checks that need I/O were made before: see `pay.ts`. */
export type IntentCommand =
  /** A tap or confirm has passed all checks. The settlement starts. */
  | { readonly type: 'settle'; readonly attempt: Attempt }
  /** A tap or confirm has passed all checks, but the payer must approve it before `confirmBy`. */
  | { readonly type: 'ask_payer'; readonly attempt: Attempt; readonly confirmBy: Date }
  /** A tap or confirm has failed a check. `attempt` is left out if the credential is unknown. */
  | {
      readonly type: 'decline';
      readonly decline: Decline;
      readonly rule?: string;
      readonly attempt?: Attempt;
    }
  | { readonly type: 'approve' }
  /**
   * The payer rejects the payment, or approves it after it has become impossible for the reason
   * `decline`.
   */
  | { readonly type: 'reject'; readonly decline?: Decline; readonly rule?: string }
  /** The settlement contract has settled the attempt in progress. */
  | ({ readonly type: 'settled' } & Settled)
  /**
   * The chain has settled an attempt that the service had declined. Money has moved, so the attempt
   * counts as paid.
   */
  | ({ readonly type: 'settled_after_decline'; readonly attempt: Attempt } & Settled)
  /** The chain reports that no money was moved. */
  | { readonly type: 'not_settled'; readonly decline: Decline; readonly rule?: string }
  | { readonly type: 'cancel' }
  /**
   * After a data loss: the contract has settled the intent, but the database has lost the details.
   */
  | ({ readonly type: 'rebuild'; readonly attempt: Attempt } & Settled)
  /**
   * After a data loss: the intent was unpaid before it, and a later cancellation may have been
   * lost.
   */
  | { readonly type: 'give_up' }
  /** An open intent may have expired, or a confirmation may have timed out. */
  | { readonly type: 'time_passed' };

export type IntentEventType =
  | 'payment_intent.requires_action'
  | 'payment_intent.processing'
  | 'payment_intent.succeeded'
  | 'payment_intent.canceled'
  | 'payment_intent.payment_failed';

export interface Step {
  readonly intent: PaymentIntent;
  readonly event: IntentEventType;
}

/** No steps if nothing changes and no event is sent, as when canceling twice. */
export type Transition = readonly Step[] | Refusal;

function unexpectedState(intent: PaymentIntent, expected: string): Refusal {
  if (intent.status === 'canceled' && intent.cancellation_reason === 'expired') {
    return refuse(
      'payment_intent_unexpected_state',
      `The payment intent expired at ${intent.canceled_at.toISOString()} and cannot be ` +
        `${expected}. Create another one.`,
    );
  }
  const advice = {
    processing: ' Refund the payment instead once it has succeeded.',
    succeeded: ' Refund the payment instead.',
    canceled: '',
    requires_action: '',
    requires_payment_method: '',
  }[intent.status];
  return refuse(
    'payment_intent_unexpected_state',
    `The payment intent has the status ${intent.status} and cannot be ${expected}.${advice}`,
  );
}

function unpayable(
  intent: Exclude<PaymentIntent, { readonly status: 'requires_payment_method' }>,
): Refusal {
  if (intent.status === 'requires_action') {
    return unexpectedState(intent, 'paid again while it waits for its payer’s confirmation');
  }
  return unexpectedState(intent, intent.status === 'processing' ? 'paid again' : 'paid');
}

/** Returns the intent's attempt; `null` if the intent is open or canceled. */
export function attemptOf(intent: PaymentIntent): Attempt | null {
  const { status } = intent;
  return status === 'requires_payment_method' || status === 'canceled' ? null : intent.attempt;
}

/** Converts a time of the service's clock to the account's clock. */
export function byAccountClock(intent: Pick<PaymentIntent, 'ahead_seconds'>, at: Date): Date {
  return addSeconds(at, intent.ahead_seconds);
}

function cancel(intent: PaymentIntent, cancellation_reason: CancellationReason, at: Date): Step {
  const attempt = intent.status === 'requires_action' ? intent.attempt : null;
  const canceled_at = byAccountClock(intent, at);
  const state = { status: 'canceled', canceled_at, cancellation_reason, attempt } as const;
  return { intent: inState(intent, state), event: 'payment_intent.canceled' };
}

interface Declined {
  readonly decline: Decline;
  readonly rule?: string;
  /** Default: the intent's. */
  readonly attempt?: Attempt | null;
}

/**
 * Reopens the intent for another tap. Cancels it instead if it has expired, or if it is an offline
 * sale, because its customer has left.
 */
function declineSteps(
  intent: PaymentIntent,
  { decline, rule, attempt = attemptOf(intent) }: Declined,
  at: Date,
): readonly Step[] {
  const last_payment_error = paymentError(decline, byAccountClock(intent, at), rule);
  // A person's wallet shows the declines of its own codes and passes, not those of an agent.
  const isAgent = attempt?.credential.type === 'agent_token';
  const declined_payer_id = isAgent ? null : (attempt?.payerId ?? null);
  const facts = { ...intent, last_payment_error, declined_payer_id };
  const open = inState(facts, { status: 'requires_payment_method' });
  const failed: Step = { intent: open, event: 'payment_intent.payment_failed' };
  const isOver = at >= intent.expires_at || open.offline !== null;
  return isOver ? [failed, cancel(open, 'expired', at)] : [failed];
}

function startSettlement(intent: PaymentIntent, attempt: Attempt): Step {
  const next = inState(intent, { status: 'processing', attempt });
  return { intent: next, event: 'payment_intent.processing' };
}

/** Marks the intent as succeeded, even if it was canceled, because the payer has paid. */
function succeed(
  intent: PaymentIntent,
  attempt: Attempt,
  { paymentId, txHash, fees }: Settled,
): readonly Step[] {
  const settled = fees === undefined ? attempt : { ...attempt, fees };
  const paid = inState(
    { ...intent, last_payment_error: null, declined_payer_id: null },
    { status: 'succeeded', attempt: settled, payment_id: paymentId, tx_hash: txHash },
  );
  return [{ intent: paid, event: 'payment_intent.succeeded' }];
}

function whenOpen(
  intent: PaymentIntent & { status: 'requires_payment_method' },
  command: IntentCommand,
  now: Date,
): Transition {
  switch (command.type) {
    case 'settle':
      return [startSettlement(intent, command.attempt)];
    case 'ask_payer': {
      const { attempt, confirmBy: confirm_by } = command;
      const next = inState(intent, { status: 'requires_action', attempt, confirm_by });
      return [{ intent: next, event: 'payment_intent.requires_action' }];
    }
    case 'decline':
      return declineSteps(intent, command, now);
    case 'cancel':
      return [cancel(intent, 'requested_by_merchant', now)];
    case 'give_up':
      return [cancel(intent, 'recovered', now)];
    case 'rebuild':
    case 'settled_after_decline':
      return succeed(intent, command.attempt, command);
    case 'time_passed':
      return now >= intent.expires_at ? [cancel(intent, 'expired', intent.expires_at)] : [];
    case 'approve':
    case 'reject':
      return unexpectedState(intent, 'confirmed by its payer');
    case 'settled':
    case 'not_settled':
      return unexpectedState(intent, 'settled');
    default:
      return assertNever(command);
  }
}

function whenAsked(
  intent: PaymentIntent & { status: 'requires_action' },
  command: IntentCommand,
  now: Date,
): Transition {
  switch (command.type) {
    case 'approve':
      return [startSettlement(intent, intent.attempt)];
    case 'reject':
      return declineSteps(intent, { decline: 'payer_rejected', ...command }, now);
    case 'cancel':
      return [cancel(intent, 'requested_by_merchant', now)];
    case 'give_up':
      return [cancel(intent, 'recovered', now)];
    case 'rebuild':
    case 'settled_after_decline':
      return succeed(intent, command.attempt, command);
    case 'time_passed':
      return now >= intent.confirm_by
        ? declineSteps(intent, { decline: 'confirmation_timeout' }, intent.confirm_by)
        : [];
    case 'settle':
    case 'ask_payer':
    case 'decline':
      return unpayable(intent);
    case 'settled':
    case 'not_settled':
      return unexpectedState(intent, 'settled');
    default:
      return assertNever(command);
  }
}

function whenProcessing(
  intent: PaymentIntent & { status: 'processing' },
  command: IntentCommand,
  now: Date,
): Transition {
  switch (command.type) {
    case 'settled':
      return succeed(intent, intent.attempt, command);
    case 'settled_after_decline':
      // The result of the attempt in progress must be applied before the settlement of another
      // attempt.
      return unexpectedState(intent, 'settled by another attempt');
    case 'not_settled':
      return declineSteps(intent, command, now);
    case 'time_passed':
      return []; // A processing intent never expires: the chain decides.
    case 'cancel':
    case 'give_up':
      return unexpectedState(intent, 'canceled');
    case 'rebuild': // The caller has already ended the attempt in progress.
      return succeed(intent, command.attempt, command);
    case 'settle':
    case 'ask_payer':
    case 'decline':
      return unpayable(intent);
    case 'approve':
    case 'reject':
      return unexpectedState(intent, 'confirmed by its payer');
    default:
      return assertNever(command);
  }
}

function whenEnded(
  intent: PaymentIntent & { status: 'succeeded' | 'canceled' },
  command: IntentCommand,
): Transition {
  switch (command.type) {
    case 'time_passed':
      return [];
    case 'cancel':
    case 'give_up':
      return intent.status === 'canceled' ? [] : unexpectedState(intent, 'canceled');
    case 'rebuild':
    case 'settled_after_decline':
      if (intent.status === 'succeeded') return unexpectedState(intent, 'paid again');
      return succeed(intent, command.attempt, command);
    case 'settle':
    case 'ask_payer':
    case 'decline':
      return unpayable(intent);
    case 'approve':
    case 'reject':
      return unexpectedState(intent, 'confirmed by its payer');
    case 'settled':
    case 'not_settled':
      return unexpectedState(intent, 'settled');
    default:
      return assertNever(command);
  }
}

function step(intent: PaymentIntent, command: IntentCommand, now: Date): Transition {
  switch (intent.status) {
    case 'requires_payment_method':
      return whenOpen(intent, command, now);
    case 'requires_action':
      return whenAsked(intent, command, now);
    case 'processing':
      return whenProcessing(intent, command, now);
    case 'succeeded':
    case 'canceled':
      return whenEnded(intent, command);
    default:
      return assertNever(intent);
  }
}

function last(steps: readonly Step[], intent: PaymentIntent): PaymentIntent {
  return steps.at(-1)?.intent ?? intent;
}

/** Applies whatever has come due by `now`, such as an expiry. Never refuses. */
function passTime(intent: PaymentIntent, now: Date): readonly Step[] {
  const first = step(intent, { type: 'time_passed' }, now) as readonly Step[];
  if (first.length === 0) return first;
  // After a confirmation times out, the reopened intent may have expired as well.
  const second = step(last(first, intent), { type: 'time_passed' }, now) as readonly Step[];
  return [...first, ...second];
}

/**
 * Returns the steps for a command: first those that have come due by `now`, then the command's. If
 * the command is refused, what has come due is left to the expiry worker. For settlements on the
 * chain, the clock does not matter.
 */
export function transition(intent: PaymentIntent, command: IntentCommand, now: Date): Transition {
  if (command.type === 'rebuild' || command.type === 'settled_after_decline') {
    return step(intent, command, now);
  }
  const passed = passTime(intent, now);
  if (command.type === 'time_passed') return passed;
  const steps = step(last(passed, intent), command, now);
  return 'refused' in steps ? steps : [...passed, ...steps];
}

/**
 * Returns the intent as readers must see it at `now`, even if no worker has written what has come
 * due.
 */
export function asOf(intent: PaymentIntent, now: Date): PaymentIntent {
  return last(passTime(intent, now), intent);
}

/** Returns the reason why the intent cannot be charged at `now`; `null` if it can. */
export function canBePaid(intent: PaymentIntent, now: Date): Refusal | null {
  const current = asOf(intent, now);
  return current.status === 'requires_payment_method' ? null : unpayable(current);
}
