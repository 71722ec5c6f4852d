import { lockOwnAccount, selectMode } from '#accounts/account-queries.ts';
import { kybRequired } from '#accounts/create-api-key.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { selectGoLive } from '#payouts/go-live-queries.ts';
import { checkNotHeld } from '#payouts/payout-holds.ts';

/** Whether the account may go live now. Locks its row. */
export async function checkMayGoLive(tx: Tx, tenant: Tenant): Promise<Refusal | null> {
  const account = await lockOwnAccount(tx, tenant.accountId);
  if (tenant.livemode && account.kyb_status !== 'approved') return kybRequired('Live payments');
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
