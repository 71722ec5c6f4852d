import type { Json } from '#core/canonical-json.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import type { WithdrawalRow } from '#payouts/withdrawal-queries.ts';

/**
 * Texts of the reasons why a withdrawal failed. Nothing moved: the amount is still in the merchant
 * balance.
 */
export const WITHDRAWAL_FAILURES: { readonly [code: string]: string } = {
  insufficient_balance: 'The merchant balance on the contract does not cover the withdrawal.',
  wallet_changed:
    'The settlement wallet changed before this withdrawal was paid. Nothing was moved. If ' +
    'the new wallet is the right one, withdraw again.',
  transaction_reverted: 'The settlement contract refused the withdrawal. Nothing was moved.',
};

export function withdrawalObject(row: WithdrawalRow): { [key: string]: Json } {
  return {
    id: row.id,
    object: 'withdrawal',
    livemode: row.livemode,
    network: networkOf(row.livemode),
    amount: toJsonAtoms(row.amount),
    currency: 'usdc',
    shop_rate: row.shop_rate,
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
