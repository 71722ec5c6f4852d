import type { Wallet } from '../data/payer-api.ts';
import { formatAtoms } from '../ui/format-usdc.ts';
import { t } from '../ui/text/t.ts';

/** The state of this wallet's permission: ready to pay, or the missing step. */
export type WalletStatus = 'not_allowed' | 'expired' | 'used_up' | 'no_money' | 'ready';

/**
 * Returns `ready`, or the reason why a pass of this wallet cannot pay now.
 * @param now The service's time in milliseconds.
 */
export function walletStatusOf({ policy, allowance, balance }: Wallet, now: number): WalletStatus {
  if (policy === null) return 'not_allowed';
  if (Date.parse(policy.expires_at) <= now) return 'expired';
  if (allowance === 0) return 'not_allowed';
  if (allowance < policy.per_payment) return 'used_up';
  return balance === 0 ? 'no_money' : 'ready';
}

/** Formats a rate, for example `0.5 %`. */
export function formatRate(basisPoints: number): string {
  return t('wallet.percent', { number: basisPoints / 100 });
}

/** Number of digits up to which an amount fits a narrow phone in the largest font. */
const LARGE_DIGITS = 9;

/** Returns the CSS class for an amount on a line of its own. */
export function sumLength(atoms: bigint): 'sum-short' | 'sum-long' {
  return formatAtoms(atoms).length > LARGE_DIGITS ? 'sum-long' : 'sum-short';
}
