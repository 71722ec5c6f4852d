import { lockOwnAccount, selectMode } from '#accounts/account-queries.ts';
import type { Actor } from '#audit/audit.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { checkNotHeld } from '#payouts/payout-holds.ts';
import { selectWalletChange } from '#payouts/wallet-change-queries.ts';
import { checkOwnersSettled } from '#people/hold-after-owner-change.ts';
import type { Hex } from '#settlement/chain-requests.ts';

export interface WalletChangeRef {
  readonly tenant: Tenant;
  readonly actor: Actor;
  readonly now: Date;
}

/** Locks the account's row. */
export async function checkMayChange(
  tx: Tx,
  ref: WalletChangeRef,
  wallet: Hex,
): Promise<string | Refusal> {
  const { tenant, now } = ref;
  const { accountId } = tenant;
  await lockOwnAccount(tx, accountId);
  const early =
    (await checkNotHeld(tx, accountId)) ?? (await checkOwnersSettled(tx, { accountId, now }));
  if (early !== null) return early;
  const second = await checkNoneAnnounced(tx, tenant);
  if (second !== null) return second;
  const previous = (await selectMode(tx, tenant))?.settlement_wallet ?? '';
  if (previous.toLowerCase() === wallet.toLowerCase()) {
    return refuse('parameter_invalid', 'This is already the settlement wallet.', 'wallet');
  }
  return previous;
}

/**
 * Refuses if a wallet is already announced, because the contract holds one announcement at a time.
 */
export async function checkNoneAnnounced(sql: Sql, tenant: Tenant): Promise<Refusal | null> {
  const open = await selectWalletChange(sql, tenant);
  return open?.status === 'pending' || open?.status === 'announced' ? otherAnnounced() : null;
}

export function otherAnnounced(): Refusal {
  return refuse(
    'unexpected_state',
    'Another wallet was already announced. Cancel that change first.',
  );
}
