import { selectMerchantNumbers } from '#accounts/account-queries.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { readMerchantAccount } from '#settlement/chain/read/merchant-balance.ts';
import type { WalletOnChain } from '#settlement/chain/read/merchant-wallets.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';

export function chainOf(chains: readonly Chain[], livemode: boolean): Chain {
  return present(
    chains.find((chain) => chain.config.livemode === livemode),
    'chain of the mode',
  );
}

export function notLive(): Refusal {
  return refuse(
    'account_not_live',
    "The account is not registered on this network's settlement contract yet. Go live first.",
  );
}

/** The merchant's data on the chain, all from one block. */
export interface MerchantOnChain extends WalletOnChain {
  readonly available: bigint;
  readonly heldUntil: Date | null;
  readonly asOf: Date;
}

/**
 * Returns the contract from which a withdrawal of this amount is paid: the oldest one with enough
 * balance, so that previous contracts are emptied; otherwise the one with the largest balance.
 */
export async function readPayable(
  db: Database,
  chains: readonly Chain[],
  { tenant, amount }: { readonly tenant: Tenant; readonly amount: bigint },
): Promise<MerchantOnChain | Refusal> {
  const merchants = await readEverywhere(db, chains, tenant);
  if (isRefusal(merchants)) return merchants;
  const most = merchants.reduce((best, one) => (one.available > best.available ? one : best));
  return merchants.find((one) => one.available >= amount && one.heldUntil === null) ?? most;
}

/** Returns the merchant's data on each contract that the account has joined, oldest first. */
export async function readEverywhere(
  db: Database,
  chains: readonly Chain[],
  tenant: Tenant,
): Promise<readonly MerchantOnChain[] | Refusal> {
  const numbers = await selectMerchantNumbers(db, tenant);
  if (numbers.length === 0) return notLive();
  const chain = chainOf(chains, tenant.livemode);
  try {
    return await Promise.all(
      numbers.map(async (merchantNumber) => {
        const account = await readMerchantAccount(chain, merchantNumber);
        return { ...account, merchantNumber };
      }),
    );
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
    return refuse(
      'service_unavailable',
      'The chain cannot be reached. Nothing was changed. Try again.',
    );
  }
}
