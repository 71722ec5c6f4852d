import type { IdKey } from '#core/ids.ts';
import type { ProcessKeys } from '#core/process-keys.ts';
import type { ProcessContext } from '#db/process-context.ts';
import type { Chain } from '#settlement/chain/chain.ts';

/**
 * What a process that talks to the chains has. Use cases that both the API and a worker carry out
 * take this: payouts, settlement wallets, recovery.
 */
export interface ChainContext extends ProcessContext {
  readonly chains: readonly Chain[];
  readonly keys: ProcessKeys;
  /** What addresses of pages are built from: receipts, tags, links in mails. */
  readonly pages: { readonly idKey: IdKey; readonly webUrl: () => string };
}
