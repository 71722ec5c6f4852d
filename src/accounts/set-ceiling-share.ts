import { lockAccount } from '#accounts/account-queries.ts';
import { selectCeilingShare, updateCeilingShare } from '#accounts/ceiling-share-queries.ts';
import { type AccountRef, recordAccountChange } from '#audit/record-change.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import type { Tx } from '#db/database.ts';

/**
 * Sets the percentage of the contract's hourly ceiling that the account may use; `null` for the
 * default of all accounts. Every process applies it within a second.
 */
export async function setCeilingShare(
  tx: Tx,
  ref: AccountRef,
  change: { readonly share: number | null; readonly reason: string },
): Promise<Refusal | null> {
  const { accountId } = ref;
  if ((await lockAccount(tx, accountId)) === undefined) {
    return refuse('resource_missing', 'No such account.', 'account');
  }
  const before = await selectCeilingShare(tx, accountId);
  if (before === change.share) return null;
  await updateCeilingShare(tx, accountId, change.share);
  await recordAccountChange(tx, ref, {
    action: 'account.ceiling_share_changed',
    before: { share: before },
    after: { share: change.share, reason: change.reason },
  });
  return null;
}
