import { hasText, type TextKey, t, textLanguage } from '../ui/text/t.ts';

/** Error codes for which the catalog has a text. The service's own messages are English. */
const TRANSLATED = [
  'account_disabled',
  'already_exists',
  'amount_too_large',
  'idempotency_request_in_progress',
  'not_configured',
  'order_id_in_use',
  'parameter_invalid',
  'payment_already_refunded',
  'payment_intent_unexpected_state',
  'payouts_held',
  'rate_limit_exceeded',
  'resource_missing',
  'service_unavailable',
  'sign_in_failed',
  'terminal_inactive',
  'unexpected_state',
  'version_conflict',
] as const;

/** Explains why the service refused a request, in the page's language. */
export function refusalText({
  code,
  message,
  isTranslated = false,
}: {
  readonly code: string;
  readonly message: string;
  readonly isTranslated?: boolean | undefined;
}): string {
  if (isTranslated || textLanguage() === 'en') return message;
  const translated = loaded(`refusal.${TRANSLATED.find((one) => one === code) ?? 'other'}`);
  return translated === null ? t('refusal.other', { code }) : t(translated);
}

/** Returns the key of a specific text, or `null` if there is none or it is not loaded yet. */
function loaded(key: TextKey): TextKey | null {
  return key.endsWith('.other') || !hasText(key) ? null : key;
}

const DECLINES = [
  'agent_token_expired',
  'agent_token_mismatch',
  'agent_token_unknown',
  'agent_token_used',
  'approval_insufficient',
  'authorization_refused',
  'confirmation_timeout',
  'insufficient_funds',
  'limit_exceeded',
  'pass_code_expired',
  'pass_code_used',
  'pass_replayed',
  'pass_revoked',
  'pass_unknown',
  'payer_rejected',
  'risk_blocked',
  'settlement_failed',
] as const;

interface Declined {
  readonly decline_code: string;
  readonly customer_message?: string;
}

/** Explains a decline to the customer. New codes may appear at any time. */
export function declineText({ decline_code, customer_message }: Declined): string {
  if (textLanguage() === 'en') return customer_message || t('decline.other');
  const declined = `decline.${DECLINES.find((one) => one === decline_code) ?? 'other'}` as const;
  return t(loaded(declined) ?? 'decline.other');
}
