import type { IdKey } from '#core/ids.ts';
import type { ProcessKeys } from '#core/process-keys.ts';
import type { ProcessContext } from '#db/process-context.ts';
import type { Chain } from '#settlement/chain/chain.ts';

/**
 * The context of a process that queries the chains. Use cases that the API and the workers share
 * take it: payouts, settlement wallets, recovery.
 */
export interface ChainContext extends ProcessContext {
  readonly chains: readonly Chain[];
  readonly keys: ProcessKeys;
  /** The settings for building the URLs of pages: receipts, tags, links in emails. */
  readonly pages: { readonly idKey: IdKey; readonly webUrl: () => string };
}
