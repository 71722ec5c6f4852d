import type { IdKey } from '#core/ids.ts';
import type { ProcessKeys } from '#core/process-keys.ts';
import type { ProcessContext } from '#db/process-context.ts';
import type { Chain } from '#settlement/chain/chain.ts';

/**
 * The context of a process that talks to the chains. Use cases of both the API and the workers take
 * this: payouts, settlement wallets, recovery.
 */
export interface ChainContext extends ProcessContext {
  readonly chains: readonly Chain[];
  readonly keys: ProcessKeys;
  /** The parts of the addresses of pages: receipts, tags, links in mails. */
  readonly pages: { readonly idKey: IdKey; readonly webUrl: () => string };
}
