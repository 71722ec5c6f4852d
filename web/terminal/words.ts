import type { Intent } from '../data/device.ts';
import { takesPasses } from './machine.ts';
import type { Outcome, Phase, Remark } from './phases.ts';
import type { NoPass, Unread } from './reader/credential.ts';

/** Every sentence of the terminal, in one place. Names that scripts rely on: behavior.md 21. */
export const WORDS = {
  outcome: {
    paid: 'Paid',
    declined: 'Declined',
    canceled: 'Canceled',
    expired: 'Expired',
  } satisfies Record<Outcome, string>,
  checking: 'Checking…',
  checkingHint: 'It is not known yet whether the customer has paid. Do not charge again.',
  includedHint: {
    time: 'It is on the chain. A sum like this waits a moment longer until it is certain.',
    safe: 'It is on the chain. A sum like this waits until its block is safe: some minutes.',
    finalized: 'It is on the chain. A sum like this waits until its block is final.',
  },
  confirming: 'Waiting for the customer to confirm',
  confirmingHint: 'The customer is asked on their own phone.',
  offline: 'Offline',
  offlineHint: 'There is no connection. The amount is kept; nothing is charged until it is back.',
  offlineTapHint:
    'There is no connection. What became of the payment is asked as soon as it is back.',
  notSent: 'Not sent',
  notSentHint: 'There was no connection. Nobody was charged.',
  unreadable:
    'That could not be read. Hold one card alone, flat and still. Bank cards and tickets do not ' +
    'pay here. Nothing was sent.',
  leftEarly: 'The card was taken away too early. Hold it there until it sounds. Nothing was sent.',
  notSigned: 'This card cannot pay now. Nothing was sent.',
  holdAtBack: 'Hold the card flat against the back of this device, and keep it there.',
  holdAtTop: 'Hold the card at the top of this iPhone, and keep it there.',
  keepCard: 'Keep the card there',
  keepCardHint: 'It is signing the payment.',
  takeAway: 'You can take it away now.',
  alreadyPaid: 'Already paid',
  alreadyRead: 'A pass is being checked already. Nothing more was sent.',
  tipFirst: 'The tip comes first. Nothing was sent.',
  noPassNeeded: 'No pass is needed now. Nothing was sent.',
  opening: 'Starting the payment',
  openingHint: 'Nobody can be charged yet.',
  canceling: 'Canceling',
  keyEnded: 'This device is not paired any more',
  keyEndedHint: 'Its key has ended. Ask for a new pairing code in the dashboard and pair it again.',
  amountTooLarge: 'At most 1,000,000.00 USDC.',
  displayAlone: 'Waiting for the till. Switch on “Customer display” in its settings.',
  displayConfirm: 'Confirm on your phone',
  elsewhere: 'The till is open in another window',
  elsewhereHint: 'One device takes one payment at a time.',
} as const;

export const OUTCOME_LOOKS: Readonly<Record<Outcome, 'good' | 'bad' | 'warn' | 'plain'>> = {
  paid: 'good',
  declined: 'bad',
  canceled: 'plain',
  expired: 'warn',
};

/** Why a payment ended without money, for the cashier. */
export function endHint(outcome: Outcome, intent: Intent): string {
  if (outcome === 'expired') {
    return intent.tapped_at === null
      ? 'Nobody presented a pass in time.'
      : 'A pass was presented, but nothing was paid in time.';
  }
  return 'Nobody was charged.';
}

/** What to say after a decline: the service's words for customers, never those for developers. */
export function declineWords({ last_payment_error: error }: Intent): string {
  return error?.customer_message || 'Nobody was charged.';
}

/** What to say of what was held against the till and is no pass. `own`: what its own tag says. */
export function unreadWords(read: Unread, own: string | null): string {
  switch (read.is) {
    case 'no_pass':
      return noPassWords(read.why);
    case 'unreadable':
      return WORDS.unreadable;
    case 'left_early':
      return WORDS.leftEarly;
    case 'not_signed':
      return read.message ?? WORDS.notSigned;
    case 'tag':
      return tagWords(read.address, own);
  }
}

function tagWords(address: string, own: string | null): string {
  // An address of the shop's own network may differ in all but its last part; a chip adds to it.
  const read = tokenOf(new URL(address).pathname);
  const isOwn = own !== null && read === tokenOf(own);
  return isOwn
    ? 'That is this till’s own tag. It is for the phones of customers. Nothing was sent.'
    : 'That tag is of another till, or its address was replaced. Nothing was sent.';
}

function noPassWords(why: NoPass | undefined): string {
  switch (why) {
    case undefined:
      return 'That was no pass. Nothing was sent.';
    case 'phone_without_pass':
      return 'There is no pass for this shop on the phone. Nothing was sent.';
    case 'locked_phone':
      return 'Unlock the phone, choose the pass and hold it here again.';
    case 'foreign_card':
      return 'This card does not pay here. Bank cards and tickets are not read.';
    case 'other_layout':
      return (
        'This reader types with another keyboard layout. Set the reader to the layout of this ' +
        'device. Nothing was sent.'
      );
    case 'two_cards':
      return 'Two cards at once. Hold only one of them here.';
  }
}

function tokenOf(address: string): string {
  return address.slice(address.lastIndexOf('/'));
}

/** What to say of a pass that was read while no pass is taken. */
export function strayWords(phase: Phase): string {
  switch (phase.at) {
    case 'result':
      return phase.outcome === 'paid' ? WORDS.alreadyPaid : WORDS.noPassNeeded;
    case 'tapping':
    case 'following':
      return WORDS.alreadyRead;
    case 'open':
      return takesPasses(phase) ? WORDS.noPassNeeded : WORDS.tipFirst;
    default:
      return WORDS.noPassNeeded;
  }
}

export function remarkWords({ kind, message }: Remark): { title: string; hint: string } {
  if (kind === 'not_sent') {
    return { title: WORDS.notSent, hint: message ?? WORDS.notSentHint };
  }
  return { title: 'Not possible', hint: message ?? 'Nobody was charged.' };
}

/** `1:05`. */
export function formatLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
