import type { Intent } from '../data/device.ts';
import { tipPercentages } from './machine.ts';
import type { Outcome, Phase } from './phases.ts';

/**
 * The content of the customer display. The window has no device key and sends no requests: it
 * receives everything from the till through a BroadcastChannel, which only windows of this origin
 * in this browser can read. It sends nothing back but the customer's tip.
 */
export type Shown =
  | { readonly at: 'idle' }
  | {
      readonly at: 'tip';
      /**
       * The intent that the tip is for, so that a late choice cannot apply to the next customer.
       */
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

/** Why the last tap was declined. The display shows it in its own language. */
type Decline = Intent['last_payment_error'];

export interface DisplayState {
  readonly merchant: string;
  readonly shown: Shown;
}

/**
 * Messages between windows: a display asks for the state, and a till sends it and announces when it
 * closes.
 */
export type DisplayMessage =
  | { readonly type: 'hello' }
  | { readonly type: 'state'; readonly state: DisplayState }
  | { readonly type: 'bye' }
  /** The tip that the customer chose: the only choice that a display sends. */
  | { readonly type: 'tip'; readonly intent: string; readonly tip: bigint };

/** True if the till, whose current state is `shown`, accepts the customer's choice. */
export function takesTip(shown: Shown, { intent, tip }: { intent: string; tip: bigint }): boolean {
  return shown.at === 'tip' && shown.intent === intent && tip >= 0n && tip <= shown.atoms;
}

/** @returns `null` if the browser lacks BroadcastChannel. */
export function openChannel(): BroadcastChannel | null {
  return typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('tapline display');
}

/** What the customer display shows in each phase of the till. */
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
