import { lockOwnAccount, selectMode } from '#accounts/account-queries.ts';
import { kybRequired } from '#accounts/create-api-key.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { selectGoLive } from '#payouts/go-live-queries.ts';
import { checkNotHeld } from '#payouts/payout-holds.ts';
import { selectMembers } from '#people/membership-queries.ts';
import { hasRole } from '#people/roles.ts';

/** Whoever can make keys and move money signs in with more than a password. */
async function checkTeamHasFactors(tx: Tx, accountId: string): Promise<Refusal | null> {
  const members = await selectMembers(tx, accountId);
  const without = members.filter((row) => hasRole(row.role, 'admin') && !row.two_factor);
  if (without.length === 0) return null;
  return refuse(
    'unexpected_state',
    'Owners and admins need a second factor before the account takes real money. Without one: ' +
      `${without.map(({ email }) => email).join(', ')}.`,
  );
}

/** Whether the account may go live now. Locks its row. */
export async function checkMayGoLive(tx: Tx, tenant: Tenant): Promise<Refusal | null> {
  const account = await lockOwnAccount(tx, tenant.accountId);
  if (tenant.livemode && account.kyb_status !== 'approved') return kybRequired('Live payments');
  const open = tenant.livemode ? await checkTeamHasFactors(tx, tenant.accountId) : null;
  if (open !== null) return open;
  const held = await checkNotHeld(tx, tenant.accountId);
  if (held !== null) return held;
  const mode = await selectMode(tx, tenant);
  const before = await selectGoLive(tx, tenant);
  if (mode?.live_at != null) {
    return refuse('unexpected_state', 'The account is already live on this network.');
  }
  if (before?.status === 'pending') {
    return refuse('unexpected_state', 'Going live is under way: the chain has not answered yet.');
  }
  return null;
}
