import { lockOwnAccount, selectMode } from '#accounts/account-queries.ts';
import { recordEntry } from '#audit/audit.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { networkOf } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { followWallets } from '#payouts/follow-wallets.ts';
import type { WalletChangeRef } from '#payouts/may-change-wallet.ts';
import { chainOf, notLive, readEverywhere } from '#payouts/merchant-on-chain.ts';
import {
  hasRequestedCancel,
  lockOpenWalletChanges,
  selectWalletChange,
  type WalletChangeRow,
} from '#payouts/wallet-change-queries.ts';
import type { ChainContext } from '#settlement/chain/chain-context.ts';
import { requestOnChain } from '#settlement/chain-requests.ts';

/**
 * Cancels an announced wallet, even if another party announced it. Reads the contract's state
 * first; the result follows within seconds. If no node responds, cancels the announcements in the
 * rows. Canceling an announcement that is already canceled succeeds.
 */
export async function cancelWalletChange(
  ctx: ChainContext,
  ref: WalletChangeRef,
): Promise<Refusal | null> {
  const before = await selectWalletChange(ctx.db, ref.tenant);
  const merchants = await readEverywhere(ctx.db, ctx.chains, ref.tenant);
  if (!isRefusal(merchants)) {
    const chain = chainOf(ctx.chains, ref.tenant.livemode);
    await followWallets(ctx, chain, merchants);
  }
  const result = await ctx.db.transaction((tx) => cancelAnnounced(tx, ref));
  if (isRefusal(result)) {
    const now = await selectWalletChange(ctx.db, ref.tenant);
    const wasStopped = before?.status === 'announced' && now?.status === 'canceled';
    return wasStopped ? null : result;
  }
  ctx.wakeups.send('chain-requests', networkOf(ref.tenant.livemode));
  return null;
}

/**
 * Cancels the announcements in the rows, in the caller's transaction. A repeated request takes
 * effect once.
 */
export async function cancelAnnounced(
  tx: Tx,
  ref: WalletChangeRef,
): Promise<readonly WalletChangeRow[] | Refusal> {
  const { tenant } = ref;
  await lockOwnAccount(tx, tenant.accountId);
  const present = (await selectMode(tx, tenant))?.merchant_number ?? null;
  if (present === null) return notLive();
  const open = await lockOpenWalletChanges(tx, tenant);
  const announced = open.filter((row) => row.status === 'announced');
  if (announced.length === 0) {
    return refuse('unexpected_state', 'No wallet is announced, so there is nothing to cancel.');
  }
  for (const row of announced) await cancelOne(tx, ref, row, row.merchant_number ?? present);
  return announced;
}

async function cancelOne(
  tx: Tx,
  { tenant, actor, now }: WalletChangeRef,
  row: WalletChangeRow,
  merchantNumber: bigint,
): Promise<void> {
  if (await hasRequestedCancel(tx, row.id)) return;
  const { accountId, livemode } = tenant;
  const payload = { step: 'cancel', merchantNumber: merchantNumber.toString() } as const;
  const subjectId = `${row.id}:cancel`;
  await requestOnChain(tx, { livemode, kind: 'wallet_change', subjectId, payload, now });
  await recordEntry(tx, {
    auditLog: accountId,
    actor,
    action: 'settlement_wallet.cancel_requested',
    objectId: row.id,
    livemode,
    before: { wallet: row.wallet },
    after: { wallet: row.previous_wallet },
    now,
  });
}
