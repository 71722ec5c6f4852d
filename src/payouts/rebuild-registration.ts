import { recordEntry } from '#audit/audit.ts';
import type { Tenant } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { selectNamedWallets, updateLive } from '#payouts/go-live-queries.ts';
import type { Hex } from '#settlement/requests.ts';

/** A registration on a contract that the ledger lacks. */
export interface LostRegistration {
  readonly tenant: Tenant;
  readonly merchantNumber: bigint;
  readonly wallet: Hex;
}

/**
 * Puts an account on the contract that registered it in the lost period. Every intent that the
 * ledger still has was created before that, so it settles on the earlier contract. In live mode a
 * wallet from the chain is accepted only if the owner had named it to this service before, because
 * a stolen registrar's key could also make a registration.
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
