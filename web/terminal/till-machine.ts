import type { LineItem } from '#prices/sale-lines.ts';
import type { Answer } from '../data/api.ts';
import type { Intent } from '../data/device-api.ts';
import type { OfflineRequest } from '../data/offline-request.ts';
import { refusalText } from '../data/refusal-text.ts';
import { sumRules } from '../ui/format-price.ts';
import { writeSum } from '../ui/typed-sum.ts';
import type { Cart } from './cart.ts';
import { afterPart, nextPart, type Split } from './split-bill.ts';
import type {
  Accepted,
  Aside,
  Asking,
  Canceling,
  Create,
  Creating,
  Following,
  Open,
  Phase,
  Remark,
  Slip,
  Tap,
  Tapping,
  Till,
  Unpaid,
} from './till-phases.ts';

type OfflineSale = Pick<Asking, 'request' | 'lines' | 'presentment' | 'price'>;

/** Actions of the cashier, the customer or the service. `now` comes from a monotonic clock. */
export type TillEvent = { readonly now: number } & (
  | {
      readonly type: 'typed';
      readonly text: string;
      /** The till's currency; `undefined` while it is unknown. */
      readonly currency: string | null | undefined;
    }
  | { readonly type: 'split'; readonly split: Split | null }
  | {
      readonly type: 'cart';
      readonly cart: Cart | null;
      /** Changes beside the cart: what was put aside. */
      readonly aside?: Aside;
    }
  | { readonly type: 'charge'; readonly create: Create }
  | { readonly type: 'charge_offline'; readonly sale: OfflineSale }
  /** The till cannot sell offline now, or cannot make this sale offline. */
  | { readonly type: 'not_offline'; readonly message: string }
  /** A signed answer to this request was stored. */
  | { readonly type: 'accepted'; readonly request: OfflineRequest; readonly slip: Slip }
  | { readonly type: 'created'; readonly answer: Answer<Intent> }
  /** The service took too long to respond, or the cashier chose not to wait. */
  | { readonly type: 'gave_up' }
  /** The payment that the orphan's request has opened, which must be canceled; `null` if none. */
  | { readonly type: 'orphan_settled'; readonly id: string | null }
  /** The customer has not paid, and the till continues offline. */
  | { readonly type: 'leave' }
  /** An abandoned payment was canceled, or can no longer be canceled. */
  | { readonly type: 'left_settled'; readonly id: string }
  | { readonly type: 'found'; readonly intent: Intent }
  | { readonly type: 'tip'; readonly tip: bigint }
  | { readonly type: 'tap'; readonly tap: Tap }
  | { readonly type: 'tap_sent' }
  | { readonly type: 'tap_answered'; readonly key: string; readonly answer: Answer<Intent> }
  /** The response to a read of the intent that was sent at `askedAt`. */
  | { readonly type: 'seen'; readonly intent: Intent; readonly askedAt: number }
  | { readonly type: 'cancel' }
  | { readonly type: 'cancel_answered'; readonly answer: Answer<Intent> }
  | { readonly type: 'again' }
);

/** Refusals after which a request with the same key may still be in progress. */
const STILL_OPEN = new Set([
  'idempotency_request_in_progress',
  'internal_error',
  'request_timeout',
]);

/** True if the service has said that a request to open a payment opens none. */
export function openedNone(answer: Answer<Intent>): boolean {
  if (answer.is !== 'refused' || answer.status >= 500) return false;
  const isUnderWay = answer.error.code === 'idempotency_request_in_progress';
  return !isUnderWay && answer.status !== 401 && answer.status !== 429;
}

/**
 * Returns the remark to show if the request certainly had no effect; `null` if it may have had one.
 */
function knownUndone(answer: Exclude<Answer<Intent>, { is: 'done' }>): Remark | null {
  if (answer.is === 'unknown') return null;
  if (answer.is === 'not_sent') return { kind: 'not_sent', message: null };
  const { code } = answer.error;
  if (STILL_OPEN.has(code)) return null;
  if (code === 'manager_required') return { kind: 'needs_manager', message: null };
  const kind = code === 'service_unavailable' ? 'not_sent' : 'refused';
  return { kind, message: refusalText(answer.error) };
}

function keypad(now: number, remark: Remark | null = null): Phase {
  return { at: 'keypad', remark, since: now };
}

/** Values carried over from the previous phase. */
interface Before {
  readonly tip?: bigint | null;
  readonly declined?: boolean;
}

/** Returns the phase that the intent's own state requires. */
function phaseOf(intent: Intent, now: number, before: Before = {}): Phase {
  const tip = before.tip ?? null;
  switch (intent.status) {
    case 'succeeded':
      return { at: 'result', outcome: 'paid', intent, since: now };
    case 'canceled': {
      const ended = intent.cancellation_reason === 'expired' ? 'expired' : 'canceled';
      const outcome = before.declined === true && ended === 'expired' ? 'declined' : ended;
      return { at: 'result', outcome, intent, since: now };
    }
    case 'requires_payment_method': {
      const declined = before.declined === true || intent.last_payment_error !== null;
      return { at: 'open', intent, tip, declined, remark: null, since: now };
    }
    default:
      // The status is `processing`, `requires_action`, or one that was added later.
      return { at: 'following', intent, tip, since: now };
  }
}

/** A part of a split bill counts once, as soon as the till knows that it was paid. */
function enter(till: Till, phase: Phase): Till {
  const isPaid = phase.at === 'result' && phase.outcome === 'paid';
  if (!isPaid || till.phase.at === 'result') return { ...till, phase };
  const { intent } = phase;
  const isCart = intent.source === 'terminal' && isOfCart(intent.line_items, till.cart);
  if (isCart) return { ...till, phase, ...nextCart(till) };
  const typed = intent.source === 'terminal' ? '' : till.typed;
  const isPart = till.split !== null && intent.split_group === till.split.group;
  if (till.split === null || !isPart) return { ...till, phase, typed };
  const split = afterPart(till.split, partOf(intent, till.split));
  return { ...till, phase, split, typed: proposed(split) };
}

/** After a part of a cart, its rest comes back. */
function nextCart({ rest = null }: Till): Pick<Till, 'cart' | 'rest'> {
  return { cart: rest, rest: null };
}

type Lines = readonly Pick<LineItem, 'name' | 'unit_amount'>[] | null;

/** True for the lines of the cart. A typed sum may be a line, too, and leaves the cart as it is. */
function isOfCart(lines: Lines, cart: Cart | null): boolean {
  if (lines === null || lines.length !== cart?.lines.length) return false;
  return cart.lines.every(({ name, unit_amount: price }, index) => {
    return name === lines[index]?.name && price === lines[index].unit_amount;
  });
}

/** Returns the amount that a payment has contributed to a bill, in the bill's currency. */
function partOf({ amount, presentment }: Intent, { currency }: Split): bigint {
  return BigInt(presentment !== null && currency !== null ? presentment.amount : amount);
}

/** Returns the text that the keypad proposes for the rest of a bill. */
function proposed(split: Split | null): string {
  return split === null ? '' : writeSum(nextPart(split), sumRules(split.currency));
}

function onCreated(till: Till, phase: Creating, answer: Answer<Intent>, now: number): Till {
  if (answer.is === 'done') return enter(till, phaseOf(answer.value, now));
  const undone = knownUndone(answer);
  if (undone === null) return till;
  const { managerCode, byManager } = phase.create;
  const isWrongCode =
    undone.kind === 'needs_manager' && (managerCode != null || byManager === true);
  const remark: Remark = isWrongCode ? { ...undone, kind: 'code_invalid' } : undone;
  // An earlier request without a response may still have opened a payment.
  const orphan = phase.sends > 1 ? phase.create : null;
  if (answer.is === 'not_sent' && orphan !== null) return till;
  const stopped = { ...till, phase: keypad(now, remark) };
  return orphan === null ? { ...stopped, orphan } : withOrphan(stopped, orphan);
}

/** Records a payment that may be open, because the response to its request was lost. */
function withOrphan(till: Till, orphan: Create): Till {
  const { amount, currency } = orphan;
  const price = currency === null ? null : { currency, amount: Number(amount) };
  return { ...till, orphan, unpaid: { replaces: { create: orphan }, amount, price } };
}

/** Abandons a payment. It can still be paid until the service has canceled it. */
function onLeave(till: Till, { id, amount, presentment: price }: Intent, now: number): Till {
  const unpaid = { replaces: { id }, amount: BigInt(amount), price };
  return { ...till, phase: keypad(now), left: [...(till.left ?? []), id], unpaid };
}

/** Changes which payments may be open. Once none is, the next sale replaces none. */
function nowOpen(till: Till): Till {
  return till.orphan === null && till.left?.length === 0 ? { ...till, unpaid: null } : till;
}

/** True if an unpaid payment has the price of the sale, or its atoms if that is in USDC. */
function isFor(unpaid: Unpaid, { request, price = null }: OfflineSale): boolean {
  if (price === null) return unpaid.price == null && unpaid.amount === request.amount;
  return unpaid.price?.currency === price.currency && unpaid.price.amount === price.amount;
}

/** Requests an offline sale. It replaces the unpaid payment if that has the same amount. */
function onChargeOffline(till: Till, sale: OfflineSale, now: number): Till {
  // Another amount means another customer, whose sale must not depend on that payment.
  const unpaid = till.unpaid != null && isFor(till.unpaid, sale) ? till.unpaid : null;
  const replaces = unpaid?.replaces ?? null;
  return { ...till, unpaid, phase: { at: 'asking', ...sale, replaces, since: now } };
}

function onTapAnswered(till: Till, phase: Tapping, answer: Answer<Intent>, now: number): Till {
  const { intent, tap, sends } = phase;
  const { tip } = tap;
  if (answer.is === 'done') return enter(till, phaseOf(answer.value, now, { tip }));
  if (answer.is === 'refused' && answer.error.code === 'payment_intent_unexpected_state') {
    // This tap had no effect, because another tap was first or the intent has ended. The intent
    // shows which of these happened.
    return { ...till, phase: { at: 'following', intent, tip, since: now } };
  }
  const remark = knownUndone(answer);
  // An earlier send of the same tap may have arrived, whatever this response says.
  if (remark === null || sends > 1) return till;
  const open: Open = { at: 'open', intent, tip, declined: false, remark, since: now };
  return { ...till, phase: open };
}

type Watched = Open | Tapping | Following | Canceling;

function isWatched(phase: Phase): phase is Watched {
  return 'intent' in phase && phase.at !== 'result';
}

/** True if this state of the intent ends a tap that has no response yet. */
function endsTap({ status }: Intent): boolean {
  return status === 'succeeded' || status === 'canceled';
}

function onSeen(till: Till, phase: Watched, intent: Intent, now: number): Till {
  if (phase.at === 'tapping') {
    if (endsTap(intent)) return enter(till, phaseOf(intent, now));
    return { ...till, phase: { ...phase, intent } };
  }
  if (phase.at === 'canceling') {
    if (intent.status === 'requires_payment_method' || asksCustomer(intent)) return till;
    return canceled(till, phase, intent, now);
  }
  if (phase.at === 'open' && intent.status === 'requires_payment_method') {
    const before = phase.intent.last_payment_error?.created;
    const isNew = intent.last_payment_error?.created !== before;
    return { ...till, phase: { ...phase, intent, declined: phase.declined || isNew } };
  }
  return enter(till, phaseOf(intent, now, phase));
}

function canceled(till: Till, phase: Canceling, intent: Intent, now: number): Till {
  if (phase.quietly && intent.status === 'canceled') return { ...till, phase: keypad(now) };
  return enter(till, phaseOf(intent, now));
}

function onCancelAnswered(till: Till, phase: Canceling, answer: Answer<Intent>, now: number): Till {
  if (answer.is === 'done') return canceled(till, phase, answer.value, now);
  const { intent, tip } = phase;
  if (answer.is !== 'refused') return till;
  if (answer.error.code === 'payment_intent_unexpected_state') {
    return { ...till, phase: { at: 'following', intent, tip, since: now } };
  }
  const remark = knownUndone(answer);
  if (remark === null) return till;
  const before = phaseOf(intent, now, { tip });
  return { ...till, phase: before.at === 'open' ? { ...before, declined: false, remark } : before };
}

export function asksCustomer({ status }: Intent): boolean {
  return status === 'requires_action';
}

/**
 * True if the payment may be canceled: no pass was sent, or the service waits for the payer's
 * confirmation.
 */
export function takesCancel(phase: Phase): phase is Open | Following {
  return phase.at === 'open' || (phase.at === 'following' && asksCustomer(phase.intent));
}

/**
 * True if a pass may be presented: the customer has answered the question for a tip, if there is
 * one.
 */
export function takesPasses(phase: Phase): phase is Open {
  return phase.at === 'open' && (phase.tip !== null || tipPercentages(phase.intent) === null);
}

/** True if no payment is in progress. */
export function isBetweenSales({ at }: Phase): boolean {
  return at === 'keypad' || at === 'result' || at === 'accepted';
}

/** True if the till may show another payment now: the phase has not requested one of its own. */
export function takesFound(phase: Phase): boolean {
  return phase.at === 'keypad' || (phase.at === 'creating' && phase.sends === 0);
}

/** Returns the tip percentages to offer, or `null` if the payment takes no tip. */
export function tipPercentages(intent: Intent): readonly number[] | null {
  return intent.tipping?.percentages ?? null;
}

/** Enters the result of an offline sale. A part of a split bill counts as paid. */
function onAccepted(before: Till, { lines, price }: Asking, slip: Slip, now: number): Till {
  const phase: Accepted = { at: 'accepted', slip, since: now };
  const till: Till = { ...before, unpaid: null };
  const { split } = till;
  if (isOfCart(lines?.lineItems ?? null, till.cart)) return { ...till, phase, ...nextCart(till) };
  if (split === null) return { ...till, phase, typed: '' };
  const isInShops = price != null && price.currency === split.currency;
  const rest = afterPart(split, isInShops ? BigInt(price.amount) : slip.amount);
  return { ...till, phase, split: rest, typed: proposed(rest) };
}

function onAgain(till: Till, now: number): Till {
  const { phase } = till;
  if (phase.at === 'accepted') return { ...till, phase: keypad(now) };
  if (phase.at === 'result') {
    const keepsTyped = phase.intent.source === 'api' || till.split !== null;
    return { ...till, phase: keypad(now), typed: keepsTyped ? till.typed : '' };
  }
  if (phase.at !== 'open' || !phase.declined) return till;
  const canceling: Canceling = {
    at: 'canceling',
    intent: phase.intent,
    tip: phase.tip,
    quietly: true,
    since: now,
  };
  return { ...till, phase: canceling };
}

/** True if the text was extended or shortened; false if it was replaced. */
function isEdited(before: string, after: string): boolean {
  return before !== '' && after !== '' && (after.startsWith(before) || before.startsWith(after));
}

function typedInto(till: Till, typed: string, currency: string | null | undefined): Till {
  const { typedIn: before, ...rest } = till;
  // If the currency is unknown, extending or shortening the amount keeps the currency in which it
  // was typed.
  const typedIn = currency === undefined && isEdited(till.typed, typed) ? before : currency;
  return typedIn === undefined ? { ...rest, typed } : { ...rest, typed, typedIn };
}

/**
 * Handles actions of the cashier and the customer. An action that the phase does not allow changes
 * nothing.
 */
function onAction(till: Till, event: TillEvent): Till {
  const { phase } = till;
  const { now } = event;
  switch (event.type) {
    case 'typed':
      return phase.at === 'keypad' ? typedInto(till, event.text, event.currency) : till;
    case 'split':
      return phase.at === 'keypad'
        ? { ...till, split: event.split, typed: proposed(event.split) }
        : till;
    case 'cart':
      return phase.at === 'keypad' ? { ...till, cart: event.cart, ...event.aside } : till;
    case 'charge':
      return phase.at === 'keypad'
        ? { ...till, phase: { at: 'creating', create: event.create, sends: 0, since: now } }
        : till;
    case 'gave_up': {
      if (phase.at !== 'creating') return till;
      const stopped = { ...till, phase: keypad(now, { kind: 'not_sent', message: null }) };
      return phase.sends > 0 ? withOrphan(stopped, phase.create) : stopped;
    }
    case 'tip':
      return phase.at === 'open' ? { ...till, phase: { ...phase, tip: event.tip } } : till;
    case 'tap': {
      if (!takesPasses(phase)) return till;
      const { intent } = phase;
      return { ...till, phase: { at: 'tapping', intent, tap: event.tap, sends: 0, since: now } };
    }
    case 'leave':
      return phase.at === 'canceling' ? onLeave(till, phase.intent, now) : till;
    case 'charge_offline':
      return phase.at === 'keypad' ? onChargeOffline(till, event.sale, now) : till;
    case 'not_offline':
      return phase.at === 'keypad'
        ? { ...till, phase: keypad(now, { kind: 'refused', message: event.message }) }
        : till;
    case 'accepted':
      // A late result of an earlier request must not end the current one.
      return phase.at === 'asking' && phase.request.salt === event.request.salt
        ? onAccepted(till, phase, event.slip, now)
        : till;
    case 'cancel': {
      if (phase.at === 'asking') return { ...till, phase: keypad(now) };
      if (!takesCancel(phase)) return till;
      const { intent, tip } = phase;
      return { ...till, phase: { at: 'canceling', intent, tip, quietly: false, since: now } };
    }
    case 'again':
      return onAgain(till, now);
    default:
      return till;
  }
}

/** Returns the till's state after an event. Pure; ignores events that do not fit the state. */
export function next(till: Till, event: TillEvent): Till {
  const { phase } = till;
  const { now } = event;
  switch (event.type) {
    case 'created':
      return phase.at === 'creating' ? onCreated(till, phase, event.answer, now) : till;
    case 'orphan_settled': {
      const left = [...(till.left ?? []), ...(event.id === null ? [] : [event.id])];
      return nowOpen({ ...till, orphan: null, left });
    }
    case 'left_settled':
      return nowOpen({ ...till, left: (till.left ?? []).filter((id) => id !== event.id) });
    case 'found':
      return takesFound(phase) ? enter(till, phaseOf(event.intent, now)) : till;
    case 'tap_sent':
      return phase.at === 'tapping' || phase.at === 'creating'
        ? { ...till, phase: { ...phase, sends: phase.sends + 1 } }
        : till;
    case 'tap_answered':
      return phase.at === 'tapping' && phase.tap.key === event.key
        ? onTapAnswered(till, phase, event.answer, now)
        : till;
    case 'seen': {
      if (!isWatched(phase) || phase.intent.id !== event.intent.id) return till;
      return event.askedAt < phase.since ? till : onSeen(till, phase, event.intent, now);
    }
    case 'cancel_answered':
      return phase.at === 'canceling' ? onCancelAnswered(till, phase, event.answer, now) : till;
    default:
      return onAction(till, event);
  }
}
