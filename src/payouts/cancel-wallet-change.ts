import { lockOwnAccount } from '#accounts/account-queries.ts';
import { recordEntry } from '#audit/audit.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { networkOf } from '#core/mode.ts';
import type { WalletChangeRef } from '#payouts/may-change-wallet.ts';
import type { PayoutDeps } from '#payouts/merchant-on-chain.ts';
import { merchantNumberOf } from '#payouts/wallet-change-consent.ts';
import {
  lockWalletChange,
  selectWalletChange,
  type WalletChangeRow,
} from '#payouts/wallet-change-queries.ts';
import { requestOnChain } from '#settlement/requests.ts';

/** Stops an announced wallet; the chain answers within seconds. */
export async function cancelWalletChange(
  deps: Pick<PayoutDeps, 'db' | 'wakeups'>,
  ref: WalletChangeRef,
): Promise<WalletChangeRow | Refusal> {
  const { tenant, actor, now } = ref;
  const merchantNumber = await merchantNumberOf(deps, tenant);
  if (isRefusal(merchantNumber)) return merchantNumber;
  const result = await deps.db.transaction<WalletChangeRow | Refusal>(async (tx) => {
    await lockOwnAccount(tx, tenant.accountId);
    const newest = await selectWalletChange(tx, tenant);
    const row = newest === undefined ? undefined : await lockWalletChange(tx, newest.id);
    if (row?.status !== 'announced') {
      return refuse('unexpected_state', 'No wallet is announced, so there is nothing to cancel.');
    }
    const { livemode } = tenant;
    const payload = { step: 'cancel', merchantNumber: merchantNumber.toString() } as const;
    const subjectId = `${row.id}:cancel`;
    await requestOnChain(tx, { livemode, kind: 'wallet_change', subjectId, payload, now });
    await recordEntry(tx, {
      trail: tenant.accountId,
      actor,
      action: 'settlement_wallet.cancel_requested',
      objectId: row.id,
      livemode,
      before: { wallet: row.wallet },
      after: { wallet: row.previous_wallet },
      now,
    });
    return row;
  });
  deps.wakeups.send('chain-requests', networkOf(tenant.livemode));
  return result;
}
