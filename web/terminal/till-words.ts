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
  alreadyPaid: 'till.already_paid',
  alreadyRead: 'till.read.already_read',
  tipFirst: 'till.read.tip_first',
  noPassNeeded: 'till.read.no_pass_needed',
  amountTooLarge: 'till.amount_too_large',
  elsewhere: 'till.elsewhere',
  elsewhereHint: 'till.elsewhere_hint',
} as const satisfies Words;

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
