import type { Json } from '#core/canonical-json.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import type { WithdrawalRow } from '#payouts/withdrawal-queries.ts';

/**
 * The reasons why a withdrawal failed, in words. Nothing moved: the amount is still in the merchant
 * balance.
 */
export const WITHDRAWAL_FAILURES: { readonly [code: string]: string } = {
  insufficient_balance: 'The merchant balance on the contract does not cover the withdrawal.',
  wallet_changed:
    'Another settlement wallet was registered before this was paid. Nothing was moved. Withdraw ' +
    'again if the wallet is the one that you want.',
  transfer_blocked:
    'For 24 hours the settlement contract would have paid out more in one hour than it may. ' +
    'Nothing was moved. Withdraw less at a time, or with the settlement wallet itself.',
  transaction_reverted: 'The settlement contract refused the withdrawal. Nothing was moved.',
};

/** Renders the withdrawal as `balance.withdrawal_paid` carries it. */
export function withdrawalObject(row: WithdrawalRow): { [key: string]: Json } {
  return {
    id: row.id,
    object: 'withdrawal',
    livemode: row.livemode,
    network: networkOf(row.livemode),
    amount: toJsonAtoms(row.amount),
    currency: 'usdc',
    wallet: row.wallet,
    status: row.status,
    failure_code: row.failure_code,
    failure_message: row.failure_code && (WITHDRAWAL_FAILURES[row.failure_code] ?? null),
    tx_hash: row.tx_hash,
    automatic: row.period !== null,
    period: row.period,
    created: row.created.toISOString(),
    updated: row.updated.toISOString(),
    ...(row.recovered ? { recovered: true } : {}),
  };
}
