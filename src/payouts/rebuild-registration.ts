import { recordEntry } from '#audit/audit.ts';
import type { Tenant } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { selectNamedWallets, updateLive } from '#payouts/go-live-queries.ts';
import type { Hex } from '#settlement/chain-requests.ts';

/** A registration on a contract that is missing in the ledger. */
export interface LostRegistration {
  readonly tenant: Tenant;
  readonly merchantNumber: bigint;
  readonly wallet: Hex;
}

/**
 * Switches an account to the contract that registered it in the lost period. Every intent in the
 * ledger was created before that, so it settles on the earlier contract. In live mode, the wallet
 * on the chain is accepted only if the owner had named it to this service before, because a thief
 * with the registrar's key could also register one.
 * @returns true if the account is on that contract now.
 */
export async function rebuildRegistration(
  tx: Tx,
  { tenant, merchantNumber, wallet }: LostRegistration,
  now: Date,
): Promise<boolean> {
  const named = await selectNamedWallets(tx, tenant);
  if (tenant.livemode && !named.includes(wallet.toLowerCase())) return false;
  const number = merchantNumber.toString();
  await updateLive(tx, { tenant, merchantNumber: number, wallet, now });
  await recordEntry(tx, {
    auditLog: tenant.accountId,
    actor: { type: 'system', name: 'recovery' },
    action: 'go_live.recovered',
    objectId: tenant.accountId,
    livemode: tenant.livemode,
    before: null,
    after: { wallet },
    now,
  });
  return true;
}
