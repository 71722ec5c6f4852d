import { formatMoney } from '../../ui/format-price.ts';
import { type TextKey, t } from '../../ui/text/t.ts';
import type { HeldSale } from './held-sales.ts';
import type { MostSum, NotAccepted, OfflineProblem } from './till-offline-limits.ts';

/** Returns the text for the reason why the till cannot sell offline, with the limit. */
export function problemWords(problem: OfflineProblem | Extract<NotAccepted, string>): string {
  if (typeof problem === 'string') return t(`till.offline_sale.problem.${problem}`);
  switch (problem.is) {
    case 'per_payment':
    case 'per_card_per_day':
    case 'total':
      return t(`till.offline_sale.problem.${problem.is}`, {
        sum: formatMoney(BigInt(problem.most.units), problem.most.currency),
      });
    case 'count':
    case 'hours':
      return t(`till.offline_sale.problem.${problem.is}`, { most: problem.most });
    default:
      return t(`till.offline_sale.problem.${problem.is}`);
  }
}

/** Says up to which sum the till sells offline, or why it cannot. */
export function outlookWords(next: MostSum | OfflineProblem): string {
  if ('units' in next) {
    const { units, currency } = next;
    return t('till.offline_sale.sells', { sum: formatMoney(BigInt(units), currency) });
  }
  const isUsedUp = next.is === 'count' || next.is === 'total' || next.is === 'per_payment';
  return isUsedUp ? t('till.offline_sale.used_up') : problemWords(next);
}

const REASONS: Readonly<Record<string, TextKey>> = {
  insufficient_funds: 'till.offline_sale.reason.insufficient_funds',
  authorization_expired: 'till.offline_sale.reason.authorization_expired',
  authorization_used: 'till.offline_sale.reason.authorization_used',
  authorization_invalid: 'till.offline_sale.reason.authorization_invalid',
  rates_changed: 'till.offline_sale.reason.rates_changed',
  blocked: 'till.offline_sale.reason.blocked',
  limit_exceeded: 'till.offline_sale.reason.limit_exceeded',
  wallet_refuses: 'till.offline_sale.reason.wallet_refuses',
};

/** Returns the text for a bounce reason; a general one for an unknown reason. */
export function bounceWords(reason: string): string {
  return t(REASONS[reason] ?? 'till.offline_sale.reason.other');
}

export function stateLook({ state }: HeldSale) {
  const tones = {
    waits: 'warn',
    processing: 'info',
    succeeded: 'good',
    bounced: 'bad',
    unread: 'bad',
    paid_online: 'info',
  } as const;
  return { tone: tones[state.is], word: t(`till.offline_sale.list.${state.is}`) };
}
