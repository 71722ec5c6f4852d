import {
  type Conversation,
  cancelUnknown,
  type Effect,
  ending,
  type Given,
  type Observation,
  type Phase,
  quiet,
  type Settings,
  type Stepped,
} from './conversation-state.ts';
import { CONTROL, type Command, inMinorUnits, readCommand, UNREGISTERED } from './read-command.ts';
import * as frames from './reply-frames.ts';
import { carryOut, doubt, reportRefund, reportSale, selling, startRefund } from './run-command.ts';
import * as stored from './stored-results.ts';
import { RESULT, type Stored } from './stored-results.ts';
import type { Frame } from './zvt-frames.ts';

/** A register's time-out for a command without intermediate status (T4 of PA00P016). */
export const REGISTER_TIMEOUT_MS = 180_000;
/**
 * A pending command is aborted with a system error this long before the register's time-out, but
 * not before half of it.
 */
const EARLIER_MS = 5_000;
/**
 * A register acknowledges within 5 s (T3). It gets twice that, because it may be showing a dialog.
 */
export const ACKNOWLEDGE_MS = 10_000;
/** Interval of repeating the intermediate status, which restarts the register's time-out. */
const SHOW_AGAIN_MS = 5_000;
/**
 * Pause before a result is sent again (2 to 4 s in the documentation), and the maximum number of
 * repeats.
 */
const AGAIN_MS = 2_000;
const MOST_REPEATS = 30;

export function newConversation(state: Stored, settings: Settings): Stepped {
  const nothing = { sent: null, queue: [], shown: null, cameBackAt: null, doubted: null };
  const phase = { status: 'away' } as const;
  const next = { ...settings, stored: state, phase, ...nothing, peer: null, registered: [] };
  // Looks up a sale or refund that was open when the reader stopped. Cancels an unpaid sale,
  // because its register has disconnected.
  const { sale, refund } = state;
  const selling: Effect[] =
    sale !== null && stored.isUnknownSale(sale)
      ? [
          { type: 'sell', sale },
          { type: 'cancel', key: sale.key },
        ]
      : [];
  const refunding: Effect[] = refundEffects(refund);
  return { next, effects: [...selling, ...refunding] };
}

/** Returns the effect that continues a refund, if the refund's result is unknown. */
function refundEffects(refund: stored.Refund | null): Effect[] {
  return refund !== null && stored.isUnknownRefund(refund) ? [{ type: 'refund', refund }] : [];
}

export function step(state: Conversation, observation: Observation, given: Given): Stepped {
  const stepped = observed(state, observation, given);
  return flushed(stepped, given.now);
}

function observed(state: Conversation, observation: Observation, given: Given): Stepped {
  switch (observation.type) {
    case 'connected':
      return onConnected(state, observation, given);
    case 'cut':
      return onCut(state);
    case 'frame':
      return onCommand(state, commandIn(state, observation.frame), given);
    case 'tick':
      return onTick(state, given);
    case 'sale':
      return onSale(state, observation, given);
    case 'refund':
      return onRefund(state, observation, given);
    case 'totals':
      return onTotals(state, observation.totals);
    case 'line':
      return onLine(state, observation.isReached);
    case 'receipt':
      return onReceipt(state, observation.lines);
  }
}

function commandIn({ stored: { register }, scales }: Conversation, frame: Frame): Command {
  return inMinorUnits(readCommand(frame), register, scales);
}

/**
 * Sends the next frame if the register has acknowledged the previous one. A result does not wait
 * for a status whose acknowledgment is overdue.
 */
function flushed({ next, effects }: Stepped, now: number): Stepped {
  const [frame, ...queue] = next.queue;
  const { sent } = next;
  const isWaiting = sent !== null && !(isStatus(sent) && now - sent.at > ACKNOWLEDGE_MS);
  if (frame === undefined || isWaiting || next.phase.status === 'away') return { next, effects };
  const { phase } = next;
  const isResult = phase.status === 'result' && phase.frame === frame;
  const updated =
    isResult && phase.of !== 'report'
      ? stored.withDelivery(next.stored, phase.of, 'sent')
      : next.stored;
  const saved: Effect[] = updated === next.stored ? [] : [{ type: 'save', stored: updated }];
  return {
    next: { ...next, stored: updated, queue, sent: { frame, at: now } },
    effects: [...effects, ...saved, { type: 'send', frame }],
  };
}

function isStatus({ frame }: { readonly frame: Frame }): boolean {
  return frame.control === CONTROL.intermediateStatus;
}

/**
 * Decides whether a new connection replaces the previous one, which may not have closed yet, for
 * example because a cable was pulled.
 */
function onConnected(
  state: Conversation,
  { peer, frame }: Observation & { type: 'connected' },
  given: Given,
): Stepped {
  const command = commandIn(state, frame);
  const turnedAway = (answer: Frame, ...others: Effect[]): Stepped => ({
    next: state,
    effects: [...others, { type: 'turn_away', frame: answer }],
  });
  const refusal = refusalOf(state, command, peer);
  if (refusal !== null) return turnedAway(refusal);
  if (!mayTakeOver(state, command, peer)) {
    // A register that opens a connection per command aborts its sale on a second one.
    const isAbort = command.type === 'abort' && peer === state.peer;
    if (!isAbort || state.phase.status !== 'selling') return turnedAway(BUSY);
    return turnedAway(frames.ACKNOWLEDGED, ...cancelUnknown(state.stored));
  }
  const isBack = peer === state.peer && waitsForResult(state);
  const cut = onCut(state);
  const cameBackAt = isBack ? given.now : null;
  const idle: Phase = { status: 'idle' };
  const seated = { ...cut.next, peer, phase: idle, shown: null, cameBackAt };
  const begun = onCommand(seated, command, given);
  const canceled = isBack ? [] : cut.effects;
  return { next: begun.next, effects: [...canceled, { type: 'seat' }, ...begun.effects] };
}

function mayTakeOver(state: Conversation, { type }: Command, peer: string): boolean {
  const { phase, cameBackAt } = state;
  if (phase.status === 'away') return true;
  if (peer === state.peer) return type === 'registration' || mayBegin(state);
  return type === 'registration' && phase.status === 'idle' && cameBackAt === null;
}

/** True if the register waits for the result of a sale, or has not acknowledged it. */
function waitsForResult({ phase, stored: { sale } }: Conversation): boolean {
  if (phase.status === 'selling' || phase.status === 'earlier') return stored.isUnknownSale(sale);
  if (phase.status !== 'result' || phase.of !== 'sale') return false;
  return sale !== null && 'delivery' in sale && sale.delivery !== 'acknowledged';
}

function onCut(state: Conversation): Stepped {
  const away: Phase = { status: 'away' };
  const next = { ...state, phase: away, sent: null, queue: [], cameBackAt: null };
  return { next, effects: cancelUnknown(state.stored) };
}

function onCommand(state: Conversation, command: Command, given: Given): Stepped {
  if (state.phase.status === 'away') return quiet(state);
  if (command.type === 'acknowledged') return onAcknowledged(state, given);
  if (command.type === 'not_acknowledged') return onRefused(state, command.code, given);
  if (command.type === 'abort') return onAbort(state);
  if (mayBegin(state)) {
    return begin({ ...state, phase: { status: 'idle' }, sent: null, queue: [] }, command, given);
  }
  return { next: state, effects: [{ type: 'send', frame: BUSY }] };
}

const BUSY = frames.notAcknowledged(RESULT.pleaseWait);
const NOT_POSSIBLE = frames.notAcknowledged(RESULT.notPossible);
const NOT_REGISTERED = frames.notAcknowledged(RESULT.notRegistered);
const MOVES_MONEY: readonly Command['type'][] = ['authorization', 'reversal', 'refund'];

/** Returns the refusal of a command that this peer address must not give, or `null`. */
function refusalOf(state: Conversation, command: Command, peer: string | null): Frame | null {
  const { type } = command;
  if (type === 'unknown' || type === 'malformed') return NOT_POSSIBLE;
  const isWrong =
    'password' in command && (state.password ?? command.password) !== command.password;
  const isStranger = peer === null || !state.registered.includes(peer);
  return isWrong || (isStranger && MOVES_MONEY.includes(type)) ? NOT_REGISTERED : null;
}

/**
 * True if a new command may begin. If one arrives in place of an acknowledgment, the previous
 * command ends unacknowledged.
 */
function mayBegin({ phase, queue }: Conversation): boolean {
  if (phase.status === 'idle' || phase.status === 'result') return true;
  return phase.status === 'ending' && queue.length === 0;
}

function begin(state: Conversation, command: Command, given: Given): Stepped {
  const refusal = refusalOf(state, command, state.peer);
  if (refusal !== null) return { next: state, effects: [{ type: 'send', frame: refusal }] };
  const acknowledge: Effect = { type: 'send', frame: frames.ACKNOWLEDGED };
  switch (command.type) {
    case 'registration': {
      const { register } = command;
      if (!command.known) {
        const end = frames.wrongCurrency(state.stored.register);
        return { next: ending(state, end), effects: [acknowledge] };
      }
      const known = { ...state.stored, register };
      const end = frames.registered(register, state.terminal);
      const effects: Effect[] = [{ type: 'save', stored: known }, acknowledge];
      const registered = [...new Set([...state.registered, state.peer ?? ''])];
      return { next: ending({ ...state, stored: known, registered }, end), effects };
    }
    case 'log_off': {
      const { currency } = state.stored.register;
      const known = { ...state.stored, register: { ...UNREGISTERED, currency } };
      return {
        next: { ...state, stored: known },
        effects: [{ type: 'save', stored: known }, acknowledge],
      };
    }
    case 'status_enquiry':
      return { next: ending(state, frames.READY), effects: [acknowledge] };
    case 'initialisation':
      return { next: ending(state, frames.COMPLETED), effects: [acknowledge] };
    case 'unscaled':
      return { next: ending(state, ...frames.unscaled(command, state)), effects: [acknowledge] };
    case 'diagnosis': {
      const phase = { status: 'asking', since: given.now, about: { type: 'line' } } as const;
      return { next: { ...state, phase }, effects: [acknowledge, { type: 'line' }] };
    }
    case 'authorization':
    case 'reversal':
    case 'refund':
    case 'repeat_receipt':
    case 'end_of_day':
      return beginMoney(state, command, given);
    default:
      return { next: state, effects: [{ type: 'send', frame: NOT_POSSIBLE }] };
  }
}

/** True if a command depends on an earlier result that is still unknown. */
function mustWait({ sale, refund, last }: Stored, { type }: Command): boolean {
  if (stored.isUnknownSale(sale)) return true;
  const isOfRefund =
    type === 'reversal' || type === 'refund' || (type === 'repeat_receipt' && last === 'refund');
  return isOfRefund && stored.isUnknownRefund(refund);
}

/** If an earlier sale or refund is unknown, the command waits. */
function beginMoney(before: Conversation, command: Command, given: Given): Stepped {
  const { now } = given;
  const acknowledge: Effect = { type: 'send', frame: frames.ACKNOWLEDGED };
  const state = { ...before, cameBackAt: null };
  const earlier: Phase = { status: 'earlier', since: now, command };
  if (mustWait(state.stored, command)) {
    if (before.cameBackAt === null || command.type === 'repeat_receipt') {
      return { next: { ...state, phase: earlier }, effects: [acknowledge] };
    }
    if (command.type === 'authorization' && stored.isSameAsk(state.stored, command.ask)) {
      return { next: { ...state, phase: selling(now) }, effects: [acknowledge] };
    }
    // The register wants something else, so the earlier sale must not be paid any more.
    const effects = [acknowledge, ...cancelUnknown(state.stored)];
    return { next: { ...state, phase: earlier }, effects };
  }
  const { next, effects } = carryOut(state, command, given);
  // Stores the state before the register learns that its command was accepted.
  const isSave = ({ type }: Effect) => type === 'save';
  const saves = effects.filter(isSave);
  const others = effects.filter((effect) => !isSave(effect));
  return { next, effects: [...saves, acknowledge, ...others] };
}

function onAcknowledged(state: Conversation, { now }: Given): Stepped {
  const { phase, sent } = state;
  if (sent === null) return quiet(state);
  const next = { ...state, sent: null };
  if (phase.status === 'ending' && next.queue.length === 0) {
    const idle: Conversation = { ...next, phase: { status: 'idle' } };
    return quiet(state.cameBackAt === null ? idle : reportBack(idle));
  }
  if (phase.status === 'result' && sent.frame === phase.frame) {
    return onResultAcknowledged(next, phase, now);
  }
  return quiet(next);
}

function onResultAcknowledged(
  state: Conversation,
  phase: Phase & { status: 'result' },
  now: number,
): Stepped {
  const known =
    phase.of === 'report'
      ? stored.withClosed(state.stored, phase.closes ?? null)
      : stored.withDelivery(state.stored, phase.of, 'acknowledged');
  const effects: Effect[] = known === state.stored ? [] : [{ type: 'save', stored: known }];
  const next = { ...state, stored: known };
  const { register } = known;
  if (phase.lines === 'receipt') {
    const url = receiptUrlOf(known, phase.of);
    if (url !== null) {
      const about = { type: 'receipt', end: phase.end } as const;
      const asking = { status: 'asking', since: now, about } as const;
      const { width, charset } = register;
      const effect: Effect = { type: 'receipt', url, width, charset };
      return { next: { ...next, phase: asking }, effects: [...effects, effect] };
    }
  }
  const lines = phase.lines === 'receipt' || phase.lines === null ? [] : phase.lines;
  const printed = lines.length === 0 ? [] : frames.printFrames(lines, { register, kind: 'report' });
  return { next: ending(next, ...printed, phase.end), effects };
}

function receiptUrlOf({ sale, refund }: Stored, kind: Kind): string | null {
  if (kind === 'sale') return sale?.status === 'paid' ? sale.paid.receipt_url : null;
  return refund?.status === 'done' ? refund.done.receipt_url : null;
}

type Kind = (Phase & { status: 'result' })['of'];

/** Handles a register's refusal of the last frame. */
function onRefused(state: Conversation, code: number, given: Given): Stepped {
  const { phase, sent } = state;
  if (sent === null) return quiet(state);
  const isResult = phase.status === 'result' && sent.frame === phase.frame;
  if (!isResult) return onAcknowledged(state, given);
  if (code === RESULT.pleaseWait && phase.repeats < MOST_REPEATS) {
    const again = { ...phase, repeats: phase.repeats + 1, againAt: given.now + AGAIN_MS };
    return quiet({ ...state, sent: null, phase: again });
  }
  const { sale, refund } = state.stored;
  if (code !== RESULT.goodsNotIssued || !phase.mayReject || sale?.status !== 'paid') {
    // The result stays unacknowledged, so the next request for an equal amount gets it first.
    return { next: state, effects: [{ type: 'hang_up' }] };
  }
  if (stored.isUnknownRefund(refund)) {
    // A new refund would replace the unknown one. The sale stays unacknowledged, so it is reported
    // again.
    return quiet(ending({ ...state, sent: null }, frames.abort(RESULT.systemError)));
  }
  const known = stored.withDelivery(state.stored, 'sale', 'acknowledged');
  const of = { payment: sale.paid.payment };
  const input = { of, money: null, original_trace: sale.trace };
  const next = { ...state, stored: known, sent: null };
  return startRefund(next, { asked: input, isRejection: true }, given);
}

/**
 * Handles the register's abort of a command. A payment that is already in progress is still
 * reported.
 */
function onAbort(state: Conversation): Stepped {
  const { phase } = state;
  const acknowledge: Effect = { type: 'send', frame: frames.ACKNOWLEDGED };
  switch (phase.status) {
    case 'selling':
      return { next: state, effects: [acknowledge, ...cancelUnknown(state.stored)] };
    case 'earlier': {
      const next = ending(state, frames.abort(RESULT.aborted));
      return { next, effects: [acknowledge, ...cancelUnknown(state.stored)] };
    }
    case 'refunding':
      return { next: state, effects: [{ type: 'send', frame: NOT_POSSIBLE }] };
    default:
      return { next: state, effects: [acknowledge, ...cancelUnknown(state.stored)] };
  }
}

function onSale(
  state: Conversation,
  { key, news }: Observation & { type: 'sale' },
  given: Given,
): Stepped {
  if (state.stored.sale?.key !== key) return quiet(state);
  const known = stored.withSaleNews(state.stored, news, given.now);
  const saved: Effect[] = known === state.stored ? [] : [{ type: 'save', stored: known }];
  const next = { ...state, stored: known };
  if (news.status === 'canceled_before' && known.sale !== null) {
    const pending = state.phase.status === 'selling' ? [] : cancelUnknown(known);
    return { next, effects: [...saved, { type: 'sell', sale: known.sale }, ...pending] };
  }
  if (stored.isUnknownSale(known.sale)) {
    return { next: withStatus(next, news, given), effects: saved };
  }
  if (news.status === 'paid_before' && state.phase.status === 'selling') {
    const earlier = { paid_at: news.paid.at, receipt: news.paid.receipt };
    return { next: doubt(next, state.stored.sale, earlier, given.now), effects: saved };
  }
  if (state.phase.status === 'selling') {
    return { next: reportSale(next, { ofAuthorization: true }), effects: saved };
  }
  if (state.phase.status === 'idle' && state.cameBackAt !== null) {
    return { next: reportBack(next), effects: saved };
  }
  return afterEarlier(next, saved, given);
}

/** Reports a known sale to the register that came back on another connection. */
function reportBack(state: Conversation): Conversation {
  if (stored.isUnknownSale(state.stored.sale)) return state;
  return reportSale({ ...state, cameBackAt: null }, { ofAuthorization: true });
}

/** Updates the status that the register shows during the sale. */
function withStatus(
  state: Conversation,
  { status }: stored.SaleNews,
  { now }: Given,
): Conversation {
  const { phase } = state;
  if (phase.status !== 'selling' || status === 'open' || status === 'canceled_before') return state;
  if (status === 'waiting') {
    return { ...state, phase: { ...phase, unknownSince: null, shows: frames.SHOWN.waiting } };
  }
  const { processing, pleaseWait } = frames.SHOWN;
  const shows = status === 'processing' ? processing : pleaseWait;
  return { ...state, phase: { ...phase, unknownSince: phase.unknownSince ?? now, shows } };
}

/** Continues a command that waited for an earlier result. */
function afterEarlier(state: Conversation, effects: readonly Effect[], given: Given): Stepped {
  const { phase } = state;
  if (phase.status !== 'earlier') return { next: state, effects };
  if (mustWait(state.stored, phase.command)) return { next: state, effects };
  const carried = carryOut({ ...state, phase: { status: 'idle' } }, phase.command, given);
  return { next: carried.next, effects: [...effects, ...carried.effects] };
}

function onRefund(
  state: Conversation,
  { key, news }: Observation & { type: 'refund' },
  given: Given,
): Stepped {
  const { refund } = state.stored;
  if (refund?.key !== key) return quiet(state);
  const known = stored.withRefundNews(state.stored, news, given.now);
  if (known === state.stored) return quiet(state);
  const saved: Effect[] = [{ type: 'save', stored: known }];
  const next = { ...state, stored: known };
  // Stores each step before the next one is requested.
  if (stored.isUnknownRefund(known.refund)) {
    return { next, effects: [...saved, ...refundEffects(known.refund)] };
  }
  const { phase } = state;
  if (phase.status !== 'refunding') return afterEarlier(next, saved, given);
  if (!phase.isRejection) {
    return { next: reportRefund(next, { ofRepeat: false }), effects: saved };
  }
  // The register rejected this sale, so it was refunded. Reports "aborted", or a system error if
  // the refund failed.
  const code = known.refund?.status === 'done' ? RESULT.aborted : RESULT.systemError;
  return { next: ending(next, frames.abort(code)), effects: saved };
}

function onTotals(state: Conversation, totals: frames.Totals | null): Stepped {
  const { phase } = state;
  if (phase.status !== 'asking' || phase.about.type !== 'totals') return quiet(state);
  if (totals === null) return quiet(ending(state, frames.abort(RESULT.noLine)));
  const frame = frames.totalsResult(totals, state.stored.trace, state);
  const result: Phase = {
    status: 'result',
    of: 'report',
    frame,
    end: frames.COMPLETED,
    lines: state.stored.register.printsReports ? totals.lines : null,
    mayReject: false,
    repeats: 0,
    againAt: null,
    closes: totals.closes,
  };
  return quiet({ ...state, phase: result, queue: [...state.queue, frame] });
}

function onLine(state: Conversation, isReached: boolean): Stepped {
  const { phase } = state;
  if (phase.status !== 'asking' || phase.about.type !== 'line') return quiet(state);
  return quiet(ending(state, isReached ? frames.COMPLETED : frames.abort(RESULT.noLine)));
}

function onReceipt(state: Conversation, lines: readonly string[] | null): Stepped {
  const { phase } = state;
  if (phase.status !== 'asking' || phase.about.type !== 'receipt') return quiet(state);
  const { register } = state.stored;
  const printed =
    lines === null || lines.length === 0
      ? []
      : frames.printFrames(lines, { register, kind: 'customer' });
  return quiet(ending(state, ...printed, phase.about.end));
}

function onTick(state: Conversation, given: Given): Stepped {
  const { phase, sent, cameBackAt } = state;
  const { now } = given;
  if (phase.status === 'away') return quiet(state);
  if (phase.status === 'idle' && cameBackAt !== null && now - cameBackAt >= state.timeoutMs) {
    // The register came back, and has not asked for its sale within its own time-out.
    return { next: { ...state, cameBackAt: null }, effects: cancelUnknown(state.stored) };
  }
  // A status is no result, so the register has its own time-out to acknowledge one.
  const limit = sent !== null && isStatus(sent) ? state.timeoutMs : ACKNOWLEDGE_MS;
  if (sent !== null && now - sent.at > limit) {
    return { next: state, effects: [{ type: 'hang_up' }] };
  }
  if (phase.status === 'result' && phase.againAt !== null && now >= phase.againAt) {
    const again = { ...phase, againAt: null };
    return quiet({ ...state, phase: again, queue: [...state.queue, phase.frame] });
  }
  if (isLate(state, now)) {
    // The result is still unknown, so this reports a system error. An unpaid sale is canceled,
    // because the register no longer waits for it.
    const next = ending({ ...state, queue: [] }, frames.abort(RESULT.systemError));
    return { next, effects: cancelUnknown(state.stored) };
  }
  return quiet(withIntermediateStatus(state, now));
}

/** True shortly before the register's time-out for the current command. */
function isLate({ phase, timeoutMs, stored: { register } }: Conversation, now: number): boolean {
  const limit = timeoutMs - Math.min(EARLIER_MS, timeoutMs / 2);
  switch (phase.status) {
    case 'selling': {
      // Each intermediate status restarts the register's time-out, so the time counts from when the
      // result became unknown. Without intermediate status, it counts from the command.
      const from = register.wantsStatus ? phase.unknownSince : phase.since;
      return from !== null && now - from >= limit;
    }
    case 'earlier':
    case 'refunding':
    case 'asking':
      return now - phase.since >= limit;
    default:
      return false;
  }
}

function withIntermediateStatus(state: Conversation, now: number): Conversation {
  const code = shownIn(state.phase);
  if (code === null || !state.stored.register.wantsStatus) return state;
  if (state.sent !== null || state.queue.length > 0) return state;
  const { shown } = state;
  if (shown !== null && shown.code === code && now - shown.at < SHOW_AGAIN_MS) return state;
  const queue = [frames.intermediateStatus(code)];
  return { ...state, shown: { code, at: now }, queue };
}

function shownIn(phase: Phase): number | null {
  switch (phase.status) {
    case 'selling':
      return phase.shows;
    case 'refunding':
      return frames.SHOWN.reversing;
    case 'earlier':
    case 'asking':
      return frames.SHOWN.pleaseWait;
    default:
      return null;
  }
}
