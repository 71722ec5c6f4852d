import type { Money } from './price-of-amount.ts';
import type { Command, Paper } from './read-command.ts';
import type { Terminal, Totals } from './reply-frames.ts';
import {
  type Closed,
  isUnknownSale,
  type Refund,
  type RefundNews,
  type Sale,
  type SaleNews,
  type Stored,
} from './stored-results.ts';
import type { Frame } from './zvt-frames.ts';

/**
 * The conversation with one register: a pure state machine. `step` maps an observation to the next
 * state and to effects, which `server.ts` carries out in their order.
 *
 * | phase | meaning | ends with |
 * |---|---|---|
 * | `away` | no register is connected | a connection |
 * | `idle` | the register may send a command | a command |
 * | `earlier` | a command waits for an earlier sale or refund | its result, time-out |
 * | `selling` | the sale runs; intermediate status is sent | its result, time-out |
 * | `refunding` | a reversal or refund runs | its result, time-out |
 * | `asking` | totals, a receipt or a line check is requested | the answer, time-out |
 * | `result` | a result that was stored before it was sent | an acknowledgment |
 * | `ending` | the last frames, each after the previous acknowledgment | the last one |
 *
 * Money rules: a sale is stored before it is requested; the network learns of a sale only through
 * the effect `sell`, which only a stored sale can cause; a result is stored before it is reported;
 * while a result is unknown, neither a status information nor a completion is sent; when a register
 * disconnects, its unpaid sale is canceled; only a peer address that has registered moves money.
 */
export type Phase =
  | { readonly status: 'away' | 'idle' | 'ending' }
  | { readonly status: 'earlier'; readonly since: number; readonly command: Command }
  | {
      readonly status: 'selling';
      readonly since: number;
      /** Time at which the result became unknown; `null` while the customer may still pay. */
      readonly unknownSince: number | null;
      readonly shows: number;
    }
  | { readonly status: 'refunding'; readonly since: number; readonly isRejection: boolean }
  | { readonly status: 'asking'; readonly since: number; readonly about: About }
  | {
      readonly status: 'result';
      readonly of: 'sale' | 'refund' | 'report';
      readonly frame: Frame;
      /** The frame to send after the result is acknowledged and the receipts are printed. */
      readonly end: Frame;
      readonly lines: readonly string[] | 'receipt' | null;
      readonly mayReject: boolean;
      readonly repeats: number;
      /** Time at which the register wants the result again; `null` if it has not asked for that. */
      readonly againAt: number | null;
      /** Set in an end of day: the sales that it closes once it is acknowledged. */
      readonly closes?: Closed;
    };

export type About =
  | { readonly type: 'totals' | 'line' }
  | { readonly type: 'receipt'; readonly end: Frame };

export interface Settings extends Terminal {
  readonly timeoutMs: number;
  /** The six digits that registration, reversal and refund must carry; `null` for any digits. */
  readonly password: string | null;
}

export interface Conversation extends Settings {
  readonly stored: Stored;
  /** The address of the connected register, and those that registered since the reader started. */
  readonly peer: string | null;
  readonly registered: readonly string[];
  /**
   * Time at which the register came back on a new connection while its sale waited for a result or
   * for the acknowledgment of one, until it has asked for that sale or for something else.
   */
  readonly cameBackAt: number | null;
  /** The request that was refused because it may be for an earlier sale, and when. */
  readonly doubted: (Money & { readonly number: string | null; readonly at: number }) | null;
  readonly phase: Phase;
  /** The frame that the register has not acknowledged yet. */
  readonly sent: { readonly frame: Frame; readonly at: number } | null;
  readonly queue: readonly Frame[];
  /** The last intermediate status that was sent, and when. */
  readonly shown: { readonly code: number; readonly at: number } | null;
}

export type Observation =
  /** The first frame of a new connection, which has not replaced the previous one yet. */
  | { readonly type: 'connected'; readonly peer: string; readonly frame: Frame }
  | { readonly type: 'cut' | 'tick' }
  | { readonly type: 'frame'; readonly frame: Frame }
  | { readonly type: 'sale'; readonly key: string; readonly news: SaleNews }
  | { readonly type: 'refund'; readonly key: string; readonly news: RefundNews }
  | { readonly type: 'totals'; readonly totals: Totals | null }
  | { readonly type: 'line'; readonly isReached: boolean }
  | { readonly type: 'receipt'; readonly lines: readonly string[] | null };

export type Effect =
  | { readonly type: 'send'; readonly frame: Frame }
  /** The new connection replaces the previous one. */
  | { readonly type: 'seat' }
  /** Answers the new connection, and ends it. The previous one stays. */
  | { readonly type: 'turn_away'; readonly frame: Frame }
  | { readonly type: 'save'; readonly stored: Stored }
  | { readonly type: 'sell'; readonly sale: Sale }
  /** Cancels the sale if it is not paid. */
  | { readonly type: 'cancel'; readonly key: string }
  | { readonly type: 'refund'; readonly refund: Refund }
  | { readonly type: 'totals'; readonly since: Closed | null; readonly currency: number }
  | { readonly type: 'line' | 'hang_up' }
  | ({ readonly type: 'receipt'; readonly url: string } & Paper);

export interface Stepped {
  readonly next: Conversation;
  readonly effects: readonly Effect[];
}

/** A step's inputs: the time and an unused id. */
export interface Given {
  readonly now: number;
  readonly id: string;
}

export function quiet(next: Conversation): Stepped {
  return { next, effects: [] };
}

/** Cancels the stored sale unless its result is known. */
export function cancelUnknown({ sale }: Stored): readonly Effect[] {
  return sale !== null && isUnknownSale(sale) ? [{ type: 'cancel', key: sale.key }] : [];
}

/** Ends the command by sending these frames after those that already wait to be sent. */
export function ending(state: Conversation, ...last: readonly Frame[]): Conversation {
  return { ...state, phase: { status: 'ending' }, queue: [...state.queue, ...last] };
}
