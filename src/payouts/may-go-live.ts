import { lockOwnAccount, type ModeRow, selectMode } from '#accounts/account-queries.ts';
import { kybRequired } from '#accounts/create-api-key.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { selectGoLive } from '#payouts/go-live-queries.ts';
import { checkNotHeld } from '#payouts/payout-holds.ts';
import { selectMembers } from '#people/membership-queries.ts';
import { selectInheritedMembers } from '#people/organization-queries.ts';
import { hasRole } from '#people/role-order.ts';
import { contractVersionOf } from '#settlement/contract-versions.ts';
import { WORKER_GONE_MS } from '#settlement/network-readiness.ts';
import { allWorkersKnow } from '#settlement/readiness-queries.ts';

/** Refuses if a user who can create keys or move money signs in with only a password. */
async function checkTeamHasFactors(tx: Tx, accountId: string): Promise<Refusal | null> {
  const own = await selectMembers(tx, accountId);
  const members = [...own, ...(await selectInheritedMembers(tx, accountId))];
  const without = members.filter((row) => hasRole(row.role, 'admin') && !row.two_factor);
  if (without.length === 0) return null;
  return refuse(
    'unexpected_state',
    'Every owner and admin needs a second factor before the account can take real money. ' +
      `Without one: ${without.map(({ email }) => email).join(', ')}.`,
  );
}

export interface Joining {
  readonly contractVersion: number;
  readonly wallet: string;
}

/**
 * Checks a live account's move to the next contract. In live mode its wallet must stay the same: a
 * new wallet must wait for its delay (`change-wallet.ts`), and a move must not bypass that.
 */
function checkMove(
  mode: ModeRow,
  tenant: Tenant,
  { contractVersion, wallet }: Joining,
): Refusal | null {
  if (mode.merchant_number !== null && contractVersionOf(mode.merchant_number) >= contractVersion) {
    return refuse('unexpected_state', 'The account is already live on this network.');
  }
  const kept = mode.settlement_wallet;
  if (!tenant.livemode || kept?.toLowerCase() === wallet.toLowerCase()) return null;
  return refuse(
    'unexpected_state',
    `Moving to the next contract keeps the settlement wallet. Sign with ${kept}. You can ` +
      'change it before or after the move.',
  );
}

/** Checks that the account may go live, or move to the next contract, now. Locks its row. */
export async function checkMayGoLive(
  tx: Tx,
  tenant: Tenant,
  joining: Joining,
): Promise<Refusal | null> {
  const account = await lockOwnAccount(tx, tenant.accountId);
  if (tenant.livemode && account.kyb_status !== 'approved') return kybRequired('Live payments');
  const open = tenant.livemode ? await checkTeamHasFactors(tx, tenant.accountId) : null;
  if (open !== null) return open;
  const held = await checkNotHeld(tx, tenant.accountId);
  if (held !== null) return held;
  const mode = await selectMode(tx, tenant);
  const before = await selectGoLive(tx, tenant);
  const unmoved = mode?.live_at == null ? null : checkMove(mode, tenant, joining);
  if (unmoved !== null) return unmoved;
  const { livemode } = tenant;
  const { contractVersion } = joining;
  if (!(await allWorkersKnow(tx, { livemode, contractVersion, goneMs: WORKER_GONE_MS }))) {
    return refuse(
      'service_unavailable',
      'The network is switching to its new contract. Try again in a minute.',
    );
  }
  if (before?.status === 'pending') {
    return refuse(
      'unexpected_state',
      'Going live is already in progress. The chain has not confirmed it yet.',
    );
  }
  return null;
}
