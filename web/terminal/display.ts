import type { Intent } from '../data/device.ts';
import { tipPercentages } from './machine.ts';
import type { Outcome, Phase } from './phases.ts';

/**
 * What the customer's window shows. It has no device key and asks the service nothing: the till
 * tells it everything, over a channel that only windows of this site in this browser hear. It tells
 * the till the customer's tip, and nothing else.
 */
export type Shown =
  | { readonly at: 'idle' }
  | {
      readonly at: 'tip';
      /** Whose tip: a choice that comes late is no choice for the next customer. */
      readonly intent: string;
      readonly atoms: bigint;
      readonly percentages: readonly number[];
    }
  | { readonly at: 'checking' | 'confirming'; readonly atoms: bigint }
  | {
      readonly at: 'pay';
      readonly atoms: bigint;
      readonly tip: bigint;
      readonly url: string | null;
      readonly isDeclined: boolean;
      readonly decline: Decline;
    }
  | {
      readonly at: 'result';
      readonly atoms: bigint;
      readonly outcome: Outcome;
      readonly decline: Decline;
    };

/** Why the last tap was declined, for the display to say in its own language. */
type Decline = Intent['last_payment_error'];

export interface DisplayState {
  readonly merchant: string;
  readonly shown: Shown;
}

/** What windows say to each other: a display asks, a till tells, and says when it goes. */
export type DisplayMessage =
  | { readonly type: 'hello' }
  | { readonly type: 'state'; readonly state: DisplayState }
  | { readonly type: 'bye' }
  /** What the customer has chosen there: all that a display ever asks for. */
  | { readonly type: 'tip'; readonly intent: string; readonly tip: bigint };

/** Whether the till, which shows this, takes the customer's choice. */
export function takesTip(shown: Shown, { intent, tip }: { intent: string; tip: bigint }): boolean {
  return shown.at === 'tip' && shown.intent === intent && tip >= 0n && tip <= shown.atoms;
}

/** null: this browser has none. */
export function openChannel(): BroadcastChannel | null {
  return typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('tapline display');
}

/** What faces the customer in each phase of the till. */
export function shownOf(phase: Phase): Shown {
  switch (phase.at) {
    case 'keypad':
    case 'creating':
    case 'canceling':
      return { at: 'idle' };
    case 'open': {
      const { intent, tip, declined: isDeclined } = phase;
      const sale = BigInt(intent.amount);
      const percentages = tipPercentages(intent);
      if (tip === null && percentages !== null) {
        return { at: 'tip', intent: intent.id, atoms: sale, percentages };
      }
      const url = intent.payment_url;
      const decline = intent.last_payment_error;
      return { at: 'pay', atoms: sale + (tip ?? 0n), tip: tip ?? 0n, url, isDeclined, decline };
    }
    case 'tapping':
      return { at: 'checking', atoms: BigInt(phase.intent.amount) + (phase.tap.tip ?? 0n) };
    case 'following': {
      const asks = phase.intent.status === 'requires_action';
      const atoms = BigInt(phase.intent.amount) + (phase.tip ?? 0n);
      return { at: asks ? 'confirming' : 'checking', atoms };
    }
    case 'result': {
      const { intent, outcome } = phase;
      const atoms = BigInt(intent.amount) + BigInt(intent.tip ?? 0);
      return { at: 'result', atoms, outcome, decline: intent.last_payment_error };
    }
  }
}
