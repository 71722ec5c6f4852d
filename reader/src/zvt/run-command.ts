import {
  type Conversation,
  type Effect,
  ending,
  type Given,
  type Phase,
  quiet,
  type Stepped,
} from './conversation-state.ts';
import { isCurrency, type Money, priceOf } from './price-of-amount.ts';
import type { Ask, Command } from './read-command.ts';
import * as frames from './reply-frames.ts';
import * as stored from './stored-results.ts';
import { RESULT } from './stored-results.ts';

/**
 * Carries out an acknowledged command. The results of all earlier sales and refunds must be known.
 */
export function carryOut(state: Conversation, command: Command, given: Given): Stepped {
  switch (command.type) {
    case 'authorization':
      return authorize(state, command, given);
    case 'reversal':
      return reverse(state, command, given);
    case 'refund':
      return refundSale(state, command, given);
    case 'repeat_receipt':
      return quiet(repeatLast(state));
    case 'end_of_day': {
      const phase = { status: 'asking', since: given.now, about: { type: 'totals' } } as const;
      const { closed: since, register } = state.stored;
      const effect: Effect = { type: 'totals', since, currency: register.currency };
      return { next: { ...state, phase }, effects: [effect] };
    }
    default:
      return quiet(ending(state, frames.abort(RESULT.protocolError)));
  }
}

function authorize(
  state: Conversation,
  { ask }: Command & { type: 'authorization' },
  { now, id }: Given,
): Stepped {
  const { register } = state.stored;
  const money = stored.moneyOf({ ask, register });
  const others = ask.mayName.filter((currency) => currency !== register.currency);
  if (!isCurrency(money.currency) || others.length > 0) {
    return quiet(ending(state, frames.wrongCurrency(register)));
  }
  if (priceOf(money) === null) return quiet(ending(state, frames.abort(RESULT.notPossible)));
  const earlier = isConfirmed(state, ask, now) ? null : stored.earlierSale(state.stored, ask, now);
  if (earlier === 'same') return quiet(reportSale(state, { ofAuthorization: true }));
  if (earlier !== null) return quiet(doubt(state, { ...ask, ...money }, earlier, now));
  const known = stored.withSale(state.stored, ask, { id, now });
  const effects: Effect[] = [
    { type: 'save', stored: known },
    { type: 'sell', sale: known.sale },
  ];
  const next = { ...state, stored: known, phase: selling(now), shown: null, doubted: null };
  return { next, effects };
}

/** Time limit to ask again for a sale that was refused because it may have been paid before. */
const CONFIRM_MS = 60_000;

/** True if the register asks again for the sale that was refused. */
function isConfirmed(state: Conversation, ask: Ask, now: number): boolean {
  const { doubted } = state;
  const { register } = state.stored;
  if (doubted === null || now - doubted.at > CONFIRM_MS) return false;
  const { number, ...money } = doubted;
  return number === ask.number && stored.isSameMoney(money, stored.moneyOf({ ask, register }));
}

/** Refuses a request with a text for the cashier, who knows whether it is a new sale. */
export function doubt(
  state: Conversation,
  { number, amount, currency }: Money & { readonly number: string | null },
  earlier: stored.EarlierSale,
  now: number,
): Conversation {
  const { trace, sale, last } = state.stored;
  const isLast = last === 'sale' && sale?.status === 'paid' && sale.paid.at === earlier.paid_at;
  const text = frames.paidBeforeText(earlier, { now: new Date(now), isLast });
  const refusal = { code: RESULT.notPossible, trace, text };
  const end = [frames.refusedSale(refusal, state), frames.abort(RESULT.notPossible)];
  return { ...ending(state, ...end), doubted: { number, amount, currency, at: now } };
}

/** The phase of a sale until the network answers. */
export function selling(since: number): Phase {
  return { status: 'selling', since, unknownSince: since, shows: frames.SHOWN.pleaseWait };
}

function reverse(
  state: Conversation,
  { receipt, amount }: Command & { type: 'reversal' },
  given: Given,
): Stepped {
  const { sale } = state.stored;
  const notPossible = () => quiet(ending(state, frames.abort(RESULT.notPossible)));
  const isLast = sale?.status === 'paid' && (receipt === null || receipt === sale.paid.receipt);
  if (!isLast) {
    if (receipt === null) return notPossible();
    const request = { of: { receipt, price: amount }, money: null, original_trace: null };
    return refundOnce(state, request, given);
  }
  // A reversal returns a whole sale, so a different amount means a different sale.
  if (amount !== null && amount !== sale.amount) return notPossible();
  const of = { payment: sale.paid.payment };
  const input = { of, money: null, original_trace: sale.trace };
  const isAgain = stored.mustRepeatRefund(state.stored, input, given.now);
  if (sale.paid.reversed && !isAgain) return notPossible();
  return refundOnce(state, input, given);
}

/** Starts a refund, or reports the previous one again if the register does not know its result. */
function refundOnce(state: Conversation, input: Starting['asked'], given: Given): Stepped {
  if (stored.mustRepeatRefund(state.stored, input, given.now)) {
    return quiet(reportRefund(state, { ofRepeat: false }));
  }
  return startRefund(state, { asked: input, isRejection: false }, given);
}

function refundSale(
  state: Conversation,
  { receipt, money }: Command & { type: 'refund' },
  given: Given,
): Stepped {
  // Refuses the refund, because without a receipt number it is unclear which sale to refund.
  if (receipt === null || money === null) {
    return quiet(ending(state, frames.abort(RESULT.notPossible)));
  }
  const input = { of: { receipt, price: null }, money, original_trace: null };
  return refundOnce(state, input, given);
}

interface Starting {
  readonly asked: Pick<stored.Refund, 'of' | 'money' | 'original_trace'>;
  readonly isRejection: boolean;
}

export function startRefund(
  state: Conversation,
  { asked, isRejection }: Starting,
  { now, id }: Given,
): Stepped {
  const known = stored.withRefund(stored.withRefundedSale(state.stored, asked.of), asked, id);
  const phase = { status: 'refunding', since: now, isRejection } as const;
  const effects: Effect[] = [
    { type: 'save', stored: known },
    { type: 'refund', refund: known.refund },
  ];
  return { next: { ...state, stored: known, phase, shown: null }, effects };
}

function repeatLast(state: Conversation): Conversation {
  const { last } = state.stored;
  if (last === 'sale') return reportSale(state, { ofAuthorization: false });
  if (last === 'refund') return reportRefund(state, { ofRepeat: true });
  return ending(state, frames.abort(RESULT.notPossible));
}

/** Reports the stored sale. Its result must be known. */
export function reportSale(
  state: Conversation,
  { ofAuthorization }: { readonly ofAuthorization: boolean },
): Conversation {
  const { sale, register } = state.stored;
  if (sale?.status !== 'paid' && sale?.status !== 'not_paid') return state;
  const isPaid = sale.status === 'paid';
  if (isPaid && ofAuthorization && sale.paid.reversed) {
    return ending(state, frames.abort(RESULT.aborted));
  }
  const frame = frames.saleResult(sale, state);
  const phase: Phase = {
    status: 'result',
    of: 'sale',
    frame,
    end: isPaid || !ofAuthorization ? frames.COMPLETED : frames.abort(sale.code),
    lines: isPaid && register.printsReceipts ? 'receipt' : null,
    mayReject: isPaid && ofAuthorization,
    repeats: 0,
    againAt: null,
  };
  return { ...state, phase, queue: [...state.queue, frame] };
}

export function reportRefund(
  state: Conversation,
  { ofRepeat }: { readonly ofRepeat: boolean },
): Conversation {
  const { refund, register } = state.stored;
  if (refund?.status !== 'done' && refund?.status !== 'refused') return state;
  const isDone = refund.status === 'done';
  const frame = frames.refundResult(refund, state);
  const phase: Phase = {
    status: 'result',
    of: 'refund',
    frame,
    end: isDone || ofRepeat ? frames.COMPLETED : frames.abort(refund.code),
    lines: isDone && register.printsReceipts ? 'receipt' : null,
    mayReject: false,
    repeats: 0,
    againAt: null,
  };
  return { ...state, phase, queue: [...state.queue, frame] };
}
