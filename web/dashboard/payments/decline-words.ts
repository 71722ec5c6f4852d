import { named } from '#i18n/bidi-isolates.ts';
import type { ListDeclinedPaymentIntentsQuery } from '../../data/types/dashboard.ts';
import { t } from '../../ui/text/t.ts';

export type DeclineCode = ListDeclinedPaymentIntentsQuery['decline_code'];

/** Typed so that a code that is missing here, or that has no text, fails to compile. */
const CODES: Readonly<Record<DeclineCode, true>> = {
  insufficient_funds: true,
  approval_insufficient: true,
  limit_exceeded: true,
  risk_blocked: true,
  payer_rejected: true,
  confirmation_timeout: true,
  settlement_failed: true,
  authorization_refused: true,
  pass_unknown: true,
  pass_revoked: true,
  pass_replayed: true,
  pass_code_expired: true,
  pass_code_used: true,
  agent_token_unknown: true,
  agent_token_expired: true,
  agent_token_used: true,
  agent_token_mismatch: true,
};

export const DECLINE_CODES = Object.keys(CODES) as DeclineCode[];

/**
 * Returns the text for a decline code, or an empty string if there is none. For an unknown code,
 * returns the code with spaces instead of underscores.
 */
export function declineWords(code: string | undefined): string {
  if (code === undefined) return '';
  const known = DECLINE_CODES.find((one) => one === code);
  return known === undefined ? named(code.replaceAll('_', ' ')) : t(`dashboard.declines.${known}`);
}
