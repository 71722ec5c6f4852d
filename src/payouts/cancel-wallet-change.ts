import { lockOwnAccount, selectMode } from '#accounts/account-queries.ts';
import { recordEntry } from '#audit/audit.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { networkOf } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import type { WalletChangeRef } from '#payouts/may-change-wallet.ts';
import { notLive, type PayoutDeps } from '#payouts/merchant-on-chain.ts';
import {
  hasRequestedCancel,
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
  const result = await deps.db.transaction((tx) => cancelAnnounced(tx, ref));
  if (!isRefusal(result)) deps.wakeups.send('chain-requests', networkOf(ref.tenant.livemode));
  return result;
}

/** The same in the caller's transaction. Asked for twice, it is done once. */
export async function cancelAnnounced(
  tx: Tx,
  ref: WalletChangeRef,
): Promise<WalletChangeRow | Refusal> {
  const { tenant, actor, now } = ref;
  const { accountId, livemode } = tenant;
  await lockOwnAccount(tx, accountId);
  const merchantNumber = (await selectMode(tx, tenant))?.merchant_number ?? null;
  if (merchantNumber === null) return notLive();
  const newest = await selectWalletChange(tx, tenant);
  const row = newest === undefined ? undefined : await lockWalletChange(tx, newest.id);
  if (row?.status !== 'announced') {
    return refuse('unexpected_state', 'No wallet is announced, so there is nothing to cancel.');
  }
  if (await hasRequestedCancel(tx, row.id)) return row;
  const payload = { step: 'cancel', merchantNumber: merchantNumber.toString() } as const;
  const subjectId = `${row.id}:cancel`;
  await requestOnChain(tx, { livemode, kind: 'wallet_change', subjectId, payload, now });
  await recordEntry(tx, {
    trail: accountId,
    actor,
    action: 'settlement_wallet.cancel_requested',
    objectId: row.id,
    livemode,
    before: { wallet: row.wallet },
    after: { wallet: row.previous_wallet },
    now,
  });
  return row;
}
