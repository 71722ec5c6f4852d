import type { Intent } from '../data/device-api.ts';
import { declineText } from '../data/refusal-text.ts';
import { type TextKey, t } from '../ui/text/t.ts';
import type { Outcome } from './till-phases.ts';

/** Texts of results, apart from the other words of the till because they load with a payment. */

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
