import type { ChipSignature, Credential, Intent } from '../data/device.ts';
import type { Split } from './split.ts';

/** A payment that was asked for. Its key stays the same however often it is sent. */
export interface Create {
  readonly key: string;
  readonly amount: bigint;
  readonly splitGroup: string | null;
  readonly tipping: readonly number[] | null;
  /** Who is at the till; null: nobody was named. */
  readonly cashier: string | null;
}

/** A pass that was presented. Kept only until it is known what became of it. */
export type Tap = {
  readonly key: string;
  readonly tip: bigint | null;
} & ({ readonly credential: Credential } | { readonly signed: ChipSignature });

/** What went wrong without anything having been charged. */
export interface Remark {
  readonly kind: 'not_sent' | 'refused';
  /** The service's own words, where it said some. */
  readonly message: string | null;
}

interface Timed {
  /** When this phase began: answers to questions from before it say nothing about it. */
  readonly since: number;
}

export interface Keypad extends Timed {
  readonly at: 'keypad';
  readonly remark: Remark | null;
}

/** The service is being asked to open a payment. Nobody can be charged yet. */
export interface Creating extends Timed {
  readonly at: 'creating';
  readonly create: Create;
  readonly sends: number;
}

/** A pass may be presented, or the payment canceled. */
export interface Open extends Timed {
  readonly at: 'open';
  readonly intent: Intent;
  /** null: the customer has not been asked yet, where the payment takes tips. */
  readonly tip: bigint | null;
  /** The pass before this one was declined. */
  readonly declined: boolean;
  readonly remark: Remark | null;
}

/** A tap was or may have been sent: only its own answer, or the end of the intent, ends this. */
export interface Tapping extends Timed {
  readonly at: 'tapping';
  readonly intent: Intent;
  readonly tap: Tap;
  readonly sends: number;
}

/** The service knows of a tap. It can be canceled only while the customer is asked to confirm. */
export interface Following extends Timed {
  readonly at: 'following';
  readonly intent: Intent;
  readonly tip: bigint | null;
}

export interface Canceling extends Timed {
  readonly at: 'canceling';
  readonly intent: Intent;
  /** Kept for a cancel that comes too late. */
  readonly tip: bigint | null;
  /** Back to the keypad when it is done, without showing it. */
  readonly quietly: boolean;
}

export type Outcome = 'paid' | 'declined' | 'canceled' | 'expired';

export interface Result extends Timed {
  readonly at: 'result';
  readonly outcome: Outcome;
  readonly intent: Intent;
}

export type Phase = Keypad | Creating | Open | Tapping | Following | Canceling | Result;

export interface Till {
  readonly phase: Phase;
  /** What the cashier has typed; kept while another screen is shown. */
  readonly typed: string;
  readonly split: Split | null;
  /** A payment of which nobody knows whether it was opened: to be found and canceled first. */
  readonly orphan: Create | null;
}

export const NEW_TILL: Till = {
  phase: { at: 'keypad', remark: null, since: 0 },
  typed: '',
  split: null,
  orphan: null,
};
