import { named } from '#i18n/bidi-isolates.ts';
import type { ListDeclinedPaymentIntentsQuery } from '../../data/types/dashboard.ts';
import { type TextKey, t } from '../../ui/text/t.ts';

export type DeclineCode = ListDeclinedPaymentIntentsQuery['decline_code'];

/**
 * Typed so that a code that is missing here, or that has no text, fails to compile. Written out,
 * because whole keys are short in the built code.
 */
const WORDS: Readonly<Record<DeclineCode, TextKey>> = {
  insufficient_funds: 'dashboard.declines.insufficient_funds',
  approval_insufficient: 'dashboard.declines.approval_insufficient',
  limit_exceeded: 'dashboard.declines.limit_exceeded',
  risk_blocked: 'dashboard.declines.risk_blocked',
  payer_rejected: 'dashboard.declines.payer_rejected',
  confirmation_timeout: 'dashboard.declines.confirmation_timeout',
  settlement_failed: 'dashboard.declines.settlement_failed',
  authorization_refused: 'dashboard.declines.authorization_refused',
  pass_unknown: 'dashboard.declines.pass_unknown',
  pass_revoked: 'dashboard.declines.pass_revoked',
  pass_replayed: 'dashboard.declines.pass_replayed',
  pass_code_expired: 'dashboard.declines.pass_code_expired',
  pass_code_used: 'dashboard.declines.pass_code_used',
  agent_token_unknown: 'dashboard.declines.agent_token_unknown',
  agent_token_expired: 'dashboard.declines.agent_token_expired',
  agent_token_used: 'dashboard.declines.agent_token_used',
  agent_token_mismatch: 'dashboard.declines.agent_token_mismatch',
};

export const DECLINE_CODES = Object.keys(WORDS) as DeclineCode[];

/**
 * Returns the text for a decline code, or an empty string if there is none. For an unknown code,
 * returns the code with spaces instead of underscores.
 */
export function declineWords(code: string | undefined): string {
  if (code === undefined) return '';
  const known = DECLINE_CODES.find((one) => one === code);
  return known === undefined ? named(code.replaceAll('_', ' ')) : t(WORDS[known]);
}
