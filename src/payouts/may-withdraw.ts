import { type Refusal, refuse } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import type { MerchantOnChain } from '#payouts/merchant-on-chain.ts';
import { selectKnownWallets } from '#payouts/merchant-wallet-queries.ts';
import { checkNotHeld } from '#payouts/payout-holds.ts';
import type { WithdrawRequest } from '#payouts/withdrawal-number.ts';
import { selectSpokenFor } from '#payouts/withdrawal-queries.ts';
import { selectKeptBack } from '#settlement/foreign-settlement-queries.ts';

/** Returns the refusal for the time during which the contract pays nothing to a new merchant. */
function heldByContract(until: Date): Refusal {
  const time = until.toISOString();
  return refuse('amount_too_large', `Nothing can be withdrawn before ${time}.`, 'amount');
}

/**
 * Refuses while another wallet is announced: the current wallet's key may have been stolen, so the
 * contract pays nothing out. The contract's state decides, but an announcement in the ledger counts
 * as removed only if the contract's state is from a later block.
 */
async function checkNoWalletAnnounced(
  tx: Tx,
  tenant: Tenant,
  { announced, merchantNumber, blockNumber }: MerchantOnChain,
): Promise<Refusal | null> {
  if (announced === null) {
    const { livemode } = tenant;
    const [known] = await selectKnownWallets(tx, { livemode, merchantNumbers: [merchantNumber] });
    if (known?.announced == null || (known.block_number ?? -1n) < blockNumber) return null;
  }
  return refuse(
    'unexpected_state',
    'Another settlement wallet was announced. Withdraw once it is in effect, or cancel ' +
      'that change first.',
  );
}

/** Returns the refusal for money settled with a network key that another party used. */
function heldForForeign(left: bigint): Refusal {
  return refuse(
    'payouts_held',
    'Part of the balance was settled with a network key that was used outside the service. ' +
      `That part is on hold until the operators decide. At most ${left > 0n ? left : 0n} ` +
      'atoms can be withdrawn now.',
    'amount',
  );
}

/** The account's row stays locked, so that the result remains valid. */
export async function checkMayWithdraw(
  tx: Tx,
  { tenant, amount }: Pick<WithdrawRequest, 'tenant' | 'amount'>,
  merchant: MerchantOnChain,
): Promise<Refusal | null> {
  const held = await checkNotHeld(tx, tenant.accountId);
  if (held !== null) return held;
  const announced = await checkNoWalletAnnounced(tx, tenant, merchant);
  if (announced !== null) return announced;
  if (merchant.heldUntil !== null) return heldByContract(merchant.heldUntil);
  const left = merchant.available - (await selectSpokenFor(tx, tenant, merchant.blockNumber));
  const keptBack = await selectKeptBack(tx, tenant);
  if (keptBack > 0n && amount > left - keptBack) return heldForForeign(left - keptBack);
  if (amount > left) {
    const shown = left > 0n ? left : 0n;
    return refuse('amount_too_large', `At most ${shown} atoms can be withdrawn now.`, 'amount');
  }
  return null;
}
