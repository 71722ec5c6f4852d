import { type TextKey, t } from '../ui/text/t.ts';

const DECLINES: Readonly<Record<string, TextKey>> = {
  insufficient_funds: 'wallet.confirm.decline.insufficient_funds',
  approval_insufficient: 'wallet.confirm.decline.approval_insufficient',
  limit_exceeded: 'wallet.confirm.decline.limit_exceeded',
  pass_revoked: 'wallet.confirm.decline.pass_revoked',
  settlement_failed: 'wallet.confirm.decline.settlement_failed',
};

/** Returns the reason for a decline in words. */
export function declineHint(code: string | null): string {
  return t(DECLINES[code ?? ''] ?? 'wallet.confirm.end_hint.declined');
}
