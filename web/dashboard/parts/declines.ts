import type { ListDeclinedPaymentIntentsQuery } from '../../data/types/dashboard.ts';

export type DeclineCode = ListDeclinedPaymentIntentsQuery['decline_code'];

/** What a decline is called where people read it; a code that is missing here does not compile. */
const WORDS: Readonly<Record<DeclineCode, string>> = {
  insufficient_funds: 'Not enough money',
  approval_insufficient: 'Not enough approved',
  limit_exceeded: 'Above the payer’s limit',
  risk_blocked: 'Blocked by a rule',
  payer_rejected: 'Rejected by the payer',
  confirmation_timeout: 'Not confirmed in time',
  settlement_failed: 'Could not be settled',
  authorization_refused: 'Wallet refused',
  pass_unknown: 'Unknown pass',
  pass_revoked: 'Revoked pass',
  pass_replayed: 'Card read twice',
  pass_code_expired: 'Code expired',
  pass_code_used: 'Code used before',
  agent_token_unknown: 'Unknown agent token',
  agent_token_expired: 'Agent token expired',
  agent_token_used: 'Agent token used before',
  agent_token_mismatch: 'Agent token for something else',
};

export const DECLINE_CODES = Object.keys(WORDS) as DeclineCode[];

/** Nothing without a decline. A code that this page does not know yet is shown as it is. */
export function declineWords(code: string | undefined): string {
  if (code === undefined) return '';
  return (WORDS as Readonly<Record<string, string>>)[code] ?? code.replaceAll('_', ' ');
}
