import { type Refusal, refuse } from '#core/answer.ts';
import { assertNever } from '#core/assert.ts';
import { addSeconds } from '#core/clock.ts';
import type { Tenant } from '#core/mode.ts';
import type { Atoms } from '#core/money.ts';
import type { Traced } from '#core/tracing.ts';
import { type Decline, type PaymentError, paymentError } from '#payments/decline-codes.ts';
import type { Attempt, Tipping } from '#payments/payment-attempt.ts';
import type { Quote } from '#prices/quote-price.ts';
import type { SaleLines } from '#prices/sale-lines.ts';

export type { Attempt, Tipping };

/**
 * The offline sale for which an intent was created, and when the till accepted it, by the till's
 * clock.
 */
export interface AcceptedOffline {
  readonly id: string;
  /** ISO 8601. */
  readonly acceptedAt: string;
}

export const CANCELLATION_REASONS = ['requested_by_merchant', 'expired', 'recovered'] as const;
export type CancellationReason = (typeof CANCELLATION_REASONS)[number];

/** The data of an intent in any status. */
interface IntentFacts extends Traced {
  readonly id: string;
  /** The intent's bit in the contract's replay guard; `null` for intents of an earlier release. */
  readonly settlementNumber: bigint | null;
  /**
   * The merchant number on the contract. Set if the intent was read in order to be paid, and its
   * account is live.
   */
  readonly merchantNumber?: bigint;
  /** True if the database lost the intent and recovery rebuilt it from the chain. */
  readonly recovered: boolean;
  readonly tenant: Tenant;
  readonly position: bigint;
  /** The time of creation by the account's clock, like all event times in this file. */
  readonly created: Date;
  /**
   * Lead of the account's clock over the service's clock, which `expiresAt` and `confirmBy` use.
   */
  readonly aheadSeconds: number;
  readonly amount: Atoms;
  /**
   * The price in the shop's currency from which the amount was computed; `null` for a sale in USDC.
   */
  readonly presentment: Quote | null;
  /** The items of the sale; `null` if it was created without lines. */
  readonly lines: SaleLines | null;
  /** The tips to offer; `null` if tips are not allowed. */
  readonly tipping: Tipping | null;
  readonly terminalId: string;
  /** The terminal's location when the intent was created; `null` if it had none. */
  readonly locationId: string | null;
  readonly orderId: string;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly source: 'api' | 'terminal';
  /** Set only if a till accepted the sale offline. */
  readonly offline?: AcceptedOffline | null;
  readonly splitGroup: string | null;
  /** The user who was signed in at the till; `null` if there was none. */
  readonly cashierId: string | null;
  readonly expiresAt: Date;
  readonly pickedUpAt: Date | null;
  readonly tappedAt: Date | null;
  readonly lastPaymentError: PaymentError | null;
}

export type IntentState =
  | { readonly status: 'requires_payment_method' }
  | { readonly status: 'requires_action'; readonly attempt: Attempt; readonly confirmBy: Date }
  | { readonly status: 'processing'; readonly attempt: Attempt }
  | {
      readonly status: 'succeeded';
      readonly attempt: Attempt;
      readonly paymentId: string;
      readonly txHash: string;
    }
  | {
      readonly status: 'canceled';
      readonly canceledAt: Date;
      readonly cancellationReason: CancellationReason;
      /**
       * The attempt that was waiting for confirmation when the intent was canceled, so that the
       * payer's wallet can show the result.
       */
      readonly asked?: Attempt;
    };

export type PaymentIntent = IntentFacts & IntentState;
/**
 * The part of an intent that responses show: everything except its position in the account's order.
 */
export type ShownIntent = Omit<IntentFacts, 'position'> & IntentState;
export type IntentStatus = IntentState['status'];

export const INTENT_STATUSES = [
  'requires_payment_method',
  'requires_action',
  'processing',
  'succeeded',
  'canceled',
] as const satisfies readonly IntentStatus[];

/** Everything that can happen to an intent. Checks that need I/O were made before: see `pay.ts`. */
export type IntentCommand =
  /** A tap or confirm has passed all checks. The settlement starts. */
  | { readonly type: 'settle'; readonly attempt: Attempt }
  /** A tap or confirm has passed all checks, but the payer must approve it before `confirmBy`. */
  | { readonly type: 'ask_payer'; readonly attempt: Attempt; readonly confirmBy: Date }
  /** A tap or confirm has failed a check. */
  | { readonly type: 'decline'; readonly decline: Decline; readonly rule?: string }
  | { readonly type: 'approve' }
  /**
   * The payer rejects the payment, or approves it after it has become impossible for the reason
   * `decline`.
   */
  | { readonly type: 'reject'; readonly decline?: Decline; readonly rule?: string }
  /** The settlement contract has settled the attempt in progress. */
  | { readonly type: 'settled'; readonly paymentId: string; readonly txHash: string }
  /**
   * The chain has settled an attempt that the service had declined. Money has moved, so the attempt
   * counts as paid.
   */
  | {
      readonly type: 'settled_after_decline';
      readonly attempt: Attempt;
      readonly paymentId: string;
      readonly txHash: string;
    }
  /** The chain reports that no money was moved. */
  | { readonly type: 'not_settled'; readonly decline: Decline; readonly rule?: string }
  | { readonly type: 'cancel' }
  /**
   * After a data loss: the contract has settled the intent, but the database has lost the details.
   */
  | {
      readonly type: 'rebuild';
      readonly attempt: Attempt;
      readonly paymentId: string;
      readonly txHash: string;
    }
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

/** An intent after one step, and the event of that step. */
export interface Step {
  readonly intent: PaymentIntent;
  readonly event: IntentEventType;
}

/** No steps if nothing changes and no event is sent, as when canceling twice. */
export type Transition = readonly Step[] | Refusal;

function factsOf(intent: PaymentIntent): IntentFacts {
  const { id, settlementNumber, recovered, tenant, position, created, amount, tipping } = intent;
  const { presentment, lines, aheadSeconds, terminalId, orderId } = intent;
  const { metadata, source, splitGroup, expiresAt, pickedUpAt, tappedAt } = intent;
  const { lastPaymentError, description, locationId, cashierId, offline = null } = intent;
  return {
    id,
    settlementNumber,
    recovered,
    tenant,
    position,
    created,
    aheadSeconds,
    amount,
    presentment,
    lines,
    tipping,
    terminalId,
    locationId,
    orderId,
    description,
    metadata,
    source,
    offline,
    splitGroup,
    cashierId,
    expiresAt,
    pickedUpAt,
    tappedAt,
    lastPaymentError,
  };
}

function unexpectedState(intent: PaymentIntent, wanted: string): Refusal {
  if (intent.status === 'canceled' && intent.cancellationReason === 'expired') {
    return refuse(
      'payment_intent_unexpected_state',
      `The payment intent expired at ${intent.canceledAt.toISOString()} and cannot be ${wanted}. ` +
        'Create another one.',
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
    `The payment intent has the status ${intent.status} and cannot be ${wanted}.${advice}`,
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

/** Converts a time of the service's clock to the account's clock. */
export function byAccountClock(intent: Pick<PaymentIntent, 'aheadSeconds'>, at: Date): Date {
  return addSeconds(at, intent.aheadSeconds);
}

function cancel(intent: PaymentIntent, cancellationReason: CancellationReason, at: Date): Step {
  const canceledAt = byAccountClock(intent, at);
  const asked = intent.status === 'requires_action' ? { asked: intent.attempt } : {};
  const state = { status: 'canceled', canceledAt, cancellationReason, ...asked } as const;
  return { intent: { ...factsOf(intent), ...state }, event: 'payment_intent.canceled' };
}

/**
 * Reopens the intent for another tap. Cancels it instead if it has expired, or if it is an offline
 * sale, because its customer has left.
 */
function declineSteps(
  intent: PaymentIntent,
  decline: Decline,
  at: Date,
  rule?: string,
): readonly Step[] {
  const error = paymentError(decline, byAccountClock(intent, at), rule);
  const facts = { ...factsOf(intent), lastPaymentError: error };
  const open: PaymentIntent = { ...facts, status: 'requires_payment_method' };
  const failed: Step = { intent: open, event: 'payment_intent.payment_failed' };
  const isOver = at >= intent.expiresAt || open.offline != null;
  return isOver ? [failed, cancel(open, 'expired', at)] : [failed];
}

function startSettlement(intent: PaymentIntent, attempt: Attempt): Step {
  return {
    intent: { ...factsOf(intent), status: 'processing', attempt },
    event: 'payment_intent.processing',
  };
}

/** Marks the intent as succeeded, even if it was canceled, because the payer has paid. */
function succeed(
  intent: PaymentIntent,
  attempt: Attempt,
  { paymentId, txHash }: { readonly paymentId: string; readonly txHash: string },
): readonly Step[] {
  const facts = { ...factsOf(intent), lastPaymentError: null };
  const paid: PaymentIntent = { ...facts, status: 'succeeded', attempt, paymentId, txHash };
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
      const { attempt, confirmBy } = command;
      const next = { ...factsOf(intent), status: 'requires_action', attempt, confirmBy } as const;
      return [{ intent: next, event: 'payment_intent.requires_action' }];
    }
    case 'decline':
      return declineSteps(intent, command.decline, now, command.rule);
    case 'cancel':
      return [cancel(intent, 'requested_by_merchant', now)];
    case 'give_up':
      return [cancel(intent, 'recovered', now)];
    case 'rebuild':
    case 'settled_after_decline':
      return succeed(intent, command.attempt, command);
    case 'time_passed':
      return now >= intent.expiresAt ? [cancel(intent, 'expired', intent.expiresAt)] : [];
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
      return declineSteps(intent, command.decline ?? 'payer_rejected', now, command.rule);
    case 'cancel':
      return [cancel(intent, 'requested_by_merchant', now)];
    case 'give_up':
      return [cancel(intent, 'recovered', now)];
    case 'rebuild':
    case 'settled_after_decline':
      return succeed(intent, command.attempt, command);
    case 'time_passed':
      return now >= intent.confirmBy
        ? declineSteps(intent, 'confirmation_timeout', intent.confirmBy)
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
      return declineSteps(intent, command.decline, now, command.rule);
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
