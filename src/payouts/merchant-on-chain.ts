import { selectMode } from '#accounts/account-queries.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { readMerchantBalance } from '#settlement/chain/balance.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import type { Hex } from '#settlement/requests.ts';

/** What a use case of this folder needs from the process. */
export interface PayoutDeps {
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly chains: readonly Chain[];
}

export function chainOf(chains: readonly Chain[], livemode: boolean): Chain {
  return present(
    chains.find((chain) => chain.config.livemode === livemode),
    'chain of the mode',
  );
}

export function notLive(): Refusal {
  return refuse(
    'account_not_live',
    'The account is not registered on the settlement contract of this network yet: go live first.',
  );
}

/** What the chain knows about the merchant. */
export interface MerchantOnChain {
  /** At {@link blockNumber}. */
  readonly available: bigint;
  readonly blockNumber: bigint;
  readonly wallet: Hex;
  readonly heldUntil: Date | null;
  readonly merchantNumber: bigint;
}

/** Balance and wallet as the chain knows them, read before anything is locked. */
export async function readOnChain(
  deps: Pick<PayoutDeps, 'db' | 'chains'>,
  tenant: Tenant,
): Promise<MerchantOnChain | Refusal> {
  const mode = await selectMode(deps.db, tenant);
  if (mode?.merchant_number == null) return notLive();
  const chain = chainOf(deps.chains, tenant.livemode);
  try {
    const balance = await readMerchantBalance(chain, mode.merchant_number);
    return { ...balance, merchantNumber: mode.merchant_number };
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
    return refuse('service_unavailable', 'The chain cannot be reached now. Nothing was done.');
  }
}
