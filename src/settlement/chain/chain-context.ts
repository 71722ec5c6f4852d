import type { IdKey } from '#core/ids.ts';
import type { ProcessKeys } from '#core/process-keys.ts';
import type { ProcessContext } from '#db/process-context.ts';
import type { Chain } from '#settlement/chain/chain.ts';

/**
 * The context of a process that queries the chains. The use cases that both the API and the workers
 * run take it: payouts, settlement wallets, recovery.
 */
export interface ChainContext extends ProcessContext {
  readonly chains: readonly Chain[];
  readonly keys: ProcessKeys;
  /** Settings that build the URLs of pages: receipts, tags, links in emails. */
  readonly pages: { readonly idKey: IdKey; readonly webUrl: () => string };
}
