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
  checkingHint: 'We don’t know yet whether the customer has paid. Do not charge again.',
  includedHint: {
    time: 'The payment is on the chain. An amount this large takes a moment longer to be certain.',
    safe: 'The payment is on the chain. An amount this large waits a few minutes until it is safe.',
    finalized: 'The payment is on the chain. An amount this large waits until its block is final.',
  },
  confirming: 'Waiting for the customer to confirm',
  confirmingHint: 'The customer has been asked on their phone.',
  offline: 'Offline',
  offlineHints: {
    idle: 'There is no connection. The amount is kept; nothing is charged until it is back.',
    tap: 'There is no connection. The till checks the payment as soon as it is back.',
  },
  noAnswer: 'The service is not answering',
  noAnswerHints: {
    idle: 'The connection works. The amount is kept; the till tries again every few seconds.',
    tap: 'The connection works. The till checks the payment as soon as the service answers.',
  },
  notSent: 'Not sent',
  notSentHint: 'There was no connection. Nothing was charged.',
  unreadable:
    'That could not be read. Hold a single card flat and still. Bank cards and tickets are not ' +
    'accepted. Nothing was charged.',
  leftEarly:
    'The card was taken away too early. Hold it until you hear the sound. Nothing was charged.',
  notSigned: 'This card cannot pay now. Nothing was charged.',
  holdAtBack: 'Hold the card flat against the back of this device, and keep it there.',
  holdAtTop: 'Hold the card at the top of this iPhone, and keep it there.',
  keepCard: 'Keep the card there',
  keepCardHint: 'It is signing the payment.',
  takeAway: 'You can take the pass away now.',
  alreadyPaid: 'Already paid',
  alreadyRead: 'A pass is already being checked. This one was ignored.',
  tipFirst: 'The customer chooses a tip first. Nothing was charged.',
  noPassNeeded: 'No pass is needed now. Nothing was charged.',
  opening: 'Starting the payment',
  openingHint: 'Nothing has been charged yet.',
  canceling: 'Canceling',
  cancelingHint: 'If the customer has just confirmed, the payment goes through.',
  keyEnded: 'This device is no longer paired',
  keyEndedHint:
    'Its key is no longer valid. Get a new pairing code in the dashboard and pair it again.',
  amountTooLarge: 'At most 1,000,000.00 USDC.',
  displayAlone: 'Waiting for the till. Turn on “Customer display” in its settings.',
  displayConfirm: 'Confirm on your phone',
  camera: {
    refused: 'The camera cannot be used. Allow it in the browser’s settings, then try again.',
    no_decoder: 'The code reader could not be loaded. Check the connection, then try again.',
    stopped: 'The camera stopped. Another app may be using it.',
  },
  elsewhere: 'The till is open in another window',
  elsewhereHint: 'One device takes one payment at a time.',
} as const;

/** Why a camera reads no codes: no permission or device, our decoder, or its picture has ended. */
export type CameraProblem = keyof typeof WORDS.camera;

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
      ? 'No pass was presented in time.'
      : 'A pass was presented, but nothing was paid in time.';
  }
  return 'Nothing was charged.';
}

const NOT_CHARGED = 'Nothing was charged.';

/** To the customer after a decline: the service's words for customers, never for developers. */
export function customerDecline({ last_payment_error: error }: Intent): string {
  return error?.customer_message || NOT_CHARGED;
}

/** To the cashier, who does not own the wallet: by decline code or, more exactly, reason code. */
const CASHIER_DECLINES: Readonly<Record<string, string>> = {
  pass_unknown: 'This pass is not known here. Ask for another one.',
  pass_revoked: 'The customer has switched this pass off. Ask for another one.',
  pass_replayed: 'The card could not be read. Ask the customer to hold it there once more.',
  pass_code_expired: 'The code has expired. Ask the customer to show a new one.',
  pass_code_used: 'The code was used before. Ask the customer to show a new one.',
  insufficient_funds: 'The customer’s wallet does not hold enough money.',
  approval_insufficient:
    'The customer’s wallet does not allow this payment. They can raise it in their wallet app.',
  limit_exceeded:
    'The payment is above the customer’s own limit. They can change it in their wallet app.',
  risk_blocked: 'This payment cannot be taken. Ask for another way to pay.',
  payer_rejected: 'The customer rejected this payment.',
  confirmation_timeout: 'The customer did not confirm in time. Ask for the pass once more.',
  authorization_refused: 'The customer’s wallet could not pay this. Try again.',
  agent_token_unknown: 'The customer’s assistant is not allowed to pay this.',
  agent_token_expired: 'The permission of the customer’s assistant has expired.',
  agent_token_used: 'The permission of the customer’s assistant was used before.',
  agent_token_mismatch: 'The customer’s assistant may only pay another shop or amount.',
  settlement_failed: 'The payment did not go through. Try again.',
  CEILING_REACHED: 'The network takes no more payments this hour. Ask for another way to pay.',
  HOME_CELL_AWAY: 'This pass cannot be checked at the moment. Ask for another way to pay.',
};

export function cashierDecline({ last_payment_error: error }: Intent): string {
  const own = CASHIER_DECLINES[error?.reason_code ?? ''];
  const words = own ?? CASHIER_DECLINES[error?.decline_code ?? ''];
  return words === undefined ? NOT_CHARGED : `${words} ${NOT_CHARGED}`;
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
    ? 'That is this till’s own tag, which is for customers’ phones. Nothing was charged.'
    : 'That tag belongs to another till, or its address was replaced. Nothing was charged.';
}

function noPassWords(why: NoPass | undefined): string {
  switch (why) {
    case undefined:
      return 'That isn’t a pass. Nothing was charged.';
    case 'phone_without_pass':
      return 'The phone has no pass for this shop. Nothing was charged.';
    case 'locked_phone':
      return 'Unlock the phone, choose the pass and hold it here again.';
    case 'foreign_card':
      return 'This card is not accepted here. Bank cards and tickets are not read.';
    case 'other_layout':
      return (
        'This reader types with another keyboard layout. Set the reader to this device’s layout. ' +
        'Nothing was charged.'
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
  return { title: 'Not possible', hint: message ?? 'Nothing was charged.' };
}

/** `1:05`. */
export function formatLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
