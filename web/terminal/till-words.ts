import type { Intent } from '../data/device-api.ts';
import { declineText } from '../data/refusal-text.ts';
import { type TextKey, t } from '../ui/text/t.ts';
import type { NoPass, Unread } from './reader/read-credential.ts';
import { takesPasses } from './till-machine.ts';
import type { Outcome, Phase, Remark } from './till-phases.ts';

/** A tree of text keys. */
interface Words {
  readonly [name: string]: TextKey | Readonly<Record<string, TextKey>>;
}

/**
 * Texts shared by several parts of the terminal. Scripts rely on some of the names: behavior.md 21.
 */
export const WORDS = {
  outcome: {
    paid: 'till.outcome.paid',
    declined: 'till.outcome.declined',
    canceled: 'till.outcome.canceled',
    expired: 'till.outcome.expired',
  } satisfies Record<Outcome, TextKey>,
  checking: 'till.checking',
  checkingHint: 'till.checking_hint',
  includedHint: {
    time: 'till.included_hint.time',
    safe: 'till.included_hint.safe',
    finalized: 'till.included_hint.finalized',
  },
  confirming: 'till.confirming',
  confirmingHint: 'till.confirming_hint',
  offline: 'till.offline',
  offlineHints: {
    idle: 'till.offline_hints.idle',
    tap: 'till.offline_hints.tap',
  },
  noAnswer: 'till.no_answer',
  noAnswerHints: {
    idle: 'till.no_answer_hints.idle',
    tap: 'till.no_answer_hints.tap',
  },
  notSent: 'till.not_sent',
  notSentHint: 'till.not_sent_hint',
  unreadable: 'till.read.unreadable',
  leftEarly: 'till.read.left_early',
  notSigned: 'till.read.not_signed',
  holdAtBack: 'till.read.hold_at_back',
  holdAtTop: 'till.read.hold_at_top',
  keepCard: 'till.keep_card',
  keepCardHint: 'till.keep_card_hint',
  takeAway: 'till.take_away',
  alreadyPaid: 'till.already_paid',
  alreadyRead: 'till.read.already_read',
  tipFirst: 'till.read.tip_first',
  noPassNeeded: 'till.read.no_pass_needed',
  opening: 'till.opening',
  openingHint: 'till.opening_hint',
  canceling: 'till.canceling',
  cancelingHint: 'till.canceling_hint',
  keyEnded: 'till.key_ended',
  keyEndedHint: 'till.key_ended_hint',
  amountTooLarge: 'till.amount_too_large',
  displayAlone: 'till.display_alone',
  displayConfirm: 'till.display_confirm',
  elsewhere: 'till.elsewhere',
  elsewhereHint: 'till.elsewhere_hint',
} as const satisfies Words;

export const OUTCOME_LOOKS: Readonly<Record<Outcome, 'good' | 'bad' | 'warn' | 'plain'>> = {
  paid: 'good',
  declined: 'bad',
  canceled: 'plain',
  expired: 'warn',
};

/** Tells the cashier why a payment ended without a charge. */
export function endHint(outcome: Outcome, intent: Intent): string {
  if (outcome === 'expired') {
    return intent.tapped_at === null ? t('till.expired.no_pass') : t('till.expired.not_paid');
  }
  return t('till.nothing_charged');
}

/** Returns the decline's text for customers, never the one for developers. */
export function customerDecline({
  last_payment_error: error,
}: Pick<Intent, 'last_payment_error'>): string {
  return error === null ? t('till.nothing_charged') : declineText(error);
}

/**
 * Texts for the cashier, who does not own the wallet, by decline code or by a more specific reason
 * code.
 */
const CASHIER_DECLINES: Readonly<Record<string, TextKey>> = {
  pass_unknown: 'till.decline.pass_unknown',
  pass_revoked: 'till.decline.pass_revoked',
  pass_replayed: 'till.decline.pass_replayed',
  pass_code_expired: 'till.decline.pass_code_expired',
  pass_code_used: 'till.decline.pass_code_used',
  insufficient_funds: 'till.decline.insufficient_funds',
  approval_insufficient: 'till.decline.approval_insufficient',
  limit_exceeded: 'till.decline.limit_exceeded',
  risk_blocked: 'till.decline.risk_blocked',
  payer_rejected: 'till.decline.payer_rejected',
  confirmation_timeout: 'till.decline.confirmation_timeout',
  authorization_refused: 'till.decline.authorization_refused',
  agent_token_unknown: 'till.decline.agent_token_unknown',
  agent_token_expired: 'till.decline.agent_token_expired',
  agent_token_used: 'till.decline.agent_token_used',
  agent_token_mismatch: 'till.decline.agent_token_mismatch',
  settlement_failed: 'till.decline.settlement_failed',
  CEILING_REACHED: 'till.decline.ceiling_reached',
  HOME_CELL_AWAY: 'till.decline.home_cell_away',
};

export function cashierDecline({ last_payment_error: error }: Intent): string {
  const own = CASHIER_DECLINES[error?.reason_code ?? ''];
  const words = own ?? CASHIER_DECLINES[error?.decline_code ?? ''];
  const end = t('till.nothing_charged');
  return words === undefined ? end : `${t(words)} ${end}`;
}

/** Returns the text for an item that is not a pass. `own` is the URL of this till's tag. */
export function unreadWords(read: Unread, own: string | null): string {
  switch (read.is) {
    case 'no_pass':
      return noPassWords(read.why);
    case 'unreadable':
      return t(WORDS.unreadable);
    case 'left_early':
      return t(WORDS.leftEarly);
    case 'not_signed':
      return read.message ?? t(WORDS.notSigned);
    case 'tag':
      return tagWords(read.address, own);
  }
}

function tagWords(address: string, own: string | null): string {
  // Compares only the last path segment: the same tag may use another host, and a chip adds
  // parameters.
  const read = tokenOf(new URL(address).pathname);
  const isOwn = own !== null && read === tokenOf(own);
  return isOwn ? t('till.read.own_tag') : t('till.read.other_tag');
}

function noPassWords(why: NoPass | undefined): string {
  switch (why) {
    case undefined:
      return t('till.read.no_pass');
    case 'phone_without_pass':
      return t('till.read.no_pass_on_phone');
    case 'locked_phone':
      return t('till.read.locked_phone');
    case 'foreign_card':
      return t('till.read.not_accepted');
    case 'other_layout':
      return t('till.read.keyboard_layout');
    case 'two_cards':
      return t('till.read.two_cards');
  }
}

function tokenOf(address: string): string {
  return address.slice(address.lastIndexOf('/'));
}

/** Returns the text for a pass that was read while no payment waits. */
export function strayWords(phase: Phase): string {
  switch (phase.at) {
    case 'result':
      return phase.outcome === 'paid' ? t(WORDS.alreadyPaid) : t(WORDS.noPassNeeded);
    case 'tapping':
    case 'following':
      return t(WORDS.alreadyRead);
    case 'open':
      return takesPasses(phase) ? t(WORDS.noPassNeeded) : t(WORDS.tipFirst);
    default:
      return t(WORDS.noPassNeeded);
  }
}

export function remarkWords({ kind, message }: Remark): { title: string; hint: string } {
  if (kind === 'not_sent') {
    return { title: t(WORDS.notSent), hint: message ?? t(WORDS.notSentHint) };
  }
  if (kind === 'needs_manager') {
    return { title: t('till.not_possible'), hint: t('till.cart.needs_manager') };
  }
  if (kind === 'code_invalid') {
    return { title: t('till.not_possible'), hint: t('till.cart.code_invalid') };
  }
  return { title: t('till.not_possible'), hint: message ?? t('till.nothing_charged') };
}
