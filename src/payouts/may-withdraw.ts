import { type Refusal, refuse } from '#core/answer.ts';
import type { Tx } from '#db/database.ts';
import type { MerchantOnChain } from '#payouts/merchant-on-chain.ts';
import { checkNotHeld } from '#payouts/payout-holds.ts';
import type { WithdrawRequest } from '#payouts/withdrawal-number.ts';
import { selectSpokenFor } from '#payouts/withdrawal-queries.ts';

/** The contract pays nothing to a new merchant yet. */
function heldByContract(until: Date): Refusal {
  const time = until.toISOString();
  return refuse('amount_too_large', `Nothing can be withdrawn before ${time}.`, 'amount');
}

/** Whether so much can be withdrawn now. The account's row is locked, so this stays true. */
export async function checkMayWithdraw(
  tx: Tx,
  { tenant, amount }: Pick<WithdrawRequest, 'tenant' | 'amount'>,
  found: MerchantOnChain,
): Promise<Refusal | null> {
  const held = await checkNotHeld(tx, tenant.accountId);
  if (held !== null) return held;
  if (found.heldUntil !== null) return heldByContract(found.heldUntil);
  const left = found.available - (await selectSpokenFor(tx, tenant));
  if (amount > left) {
    const shown = left > 0n ? left : 0n;
    return refuse('amount_too_large', `At most ${shown} atoms can be withdrawn now.`, 'amount');
  }
  return null;
}
