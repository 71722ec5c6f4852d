import type { IdKey } from '#core/ids.ts';
import type { ProcessKeys } from '#core/process-keys.ts';
import type { ProcessContext } from '#db/process-context.ts';
import type { Chain } from '#settlement/chain/chain.ts';

/**
 * The context of a process that queries the chains. Use cases that both the API and the workers run
 * (payouts, settlement wallets, recovery) take it as a parameter.
 */
export interface ChainContext extends ProcessContext {
  readonly chains: readonly Chain[];
  readonly keys: ProcessKeys;
  /** Settings that build the URLs of pages: receipts, tags, links in emails. */
  readonly pages: { readonly idKey: IdKey; readonly webUrl: () => string };
}
