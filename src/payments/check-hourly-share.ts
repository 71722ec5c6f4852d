import type { Refusal } from '#core/answer.ts';
import { type Tenant, tenantOf } from '#core/mode.ts';
import { lockOrders, tenantKey } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import { chargeOf } from '#payments/tip-limits.ts';
import { shareIsUsed } from '#settlement/hourly-ceiling-and-shares.ts';
import { selectUses } from '#settlement/hourly-ceiling-queries.ts';
import type { Readiness } from '#settlement/network-readiness.ts';

/**
 * Returns the refusal if settling this many more atoms exceeds the account's share of this hour;
 * otherwise `null`.
 */
export type CheckShare = (tenant: Tenant, atoms: bigint) => Refusal | null;

/** An amount that an account is about to settle, in atoms. */
export interface ShareRequest {
  readonly tenant: Tenant;
  readonly atoms: bigint;
}

/**
 * If more than a quarter of an account's share is used, its payments are decided one batch at a
 * time. Below that, the few concurrent batches cannot exceed the share together.
 */
const ONE_BY_ONE_FROM = 4n;

/**
 * Reads how much is left of these accounts' shares of the contract's hourly ceiling. Accounts that
 * may use the whole ceiling are skipped, because the contract checks it. Near the end of a share,
 * locks the accounts, so that no two batches use the same remainder; payments lock them later
 * anyway. Call it after all other locks and with every account of the transaction, because it locks
 * them in a fixed order.
 */
export async function readShares(
  tx: Tx,
  readiness: Readiness,
  requests: readonly ShareRequest[],
): Promise<CheckShare> {
  const limited = limitedOf(readiness, requests);
  if (limited.length === 0) return () => null;
  const uses = await selectUses(tx, limited);
  const near = limited.some(
    ({ share, atoms }, index) => ((uses[index] ?? 0n) + atoms) * ONE_BY_ONE_FROM > share,
  );
  if (near) await lockOrders(tx, tenantsOf(requests));
  const final = near ? await selectUses(tx, limited) : uses;
  const left = new Map(
    limited.map(({ tenant, share }, index) => [tenantKey(tenant), share - (final[index] ?? 0n)]),
  );
  return (tenant, atoms) => {
    const room = left.get(tenantKey(tenant));
    return room !== undefined && atoms > room ? shareIsUsed(tenant) : null;
  };
}

function tenantsOf(requests: readonly ShareRequest[]): Tenant[] {
  return [...new Map(requests.map(({ tenant }) => [tenantKey(tenant), tenant])).values()];
}

/** Returns the accounts that have a limited share, each with the sum of its requested amounts. */
function limitedOf(readiness: Readiness, requests: readonly ShareRequest[]) {
  const sums = new Map<string, ShareRequest & { readonly share: bigint }>();
  for (const { tenant, atoms } of requests) {
    const share = readiness.shareOf(tenant);
    if (share === null) continue;
    const key = tenantKey(tenant);
    sums.set(key, { tenant, share, atoms: (sums.get(key)?.atoms ?? 0n) + atoms });
  }
  return [...sums.values()];
}

/**
 * Returns the refusal if a payment that its payer has approved exceeds the account's hourly share;
 * otherwise `null`.
 */
export async function checkHourShare(
  tx: Tx,
  readiness: Readiness,
  intent: PaymentIntent & { readonly status: 'requires_action' },
): Promise<Refusal | null> {
  const tenant = tenantOf(intent);
  const atoms = chargeOf(intent);
  const shareLeft = await readShares(tx, readiness, [{ tenant, atoms }]);
  return shareLeft(tenant, atoms);
}
