import type { SurfaceSettings } from '#apis/dashboard/surface.ts';
import type { Json } from '#core/canonical-json.ts';
import type { RotatingKey } from '#core/secrets.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import type { ReceiptPages } from '#payments/receipt-url.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { Readiness } from '#settlement/readiness.ts';

/** What the operators' routes need of the process. */
export interface OperatorDeps {
  readonly settings: SurfaceSettings;
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly chains: readonly Chain[];
  readonly cursorKey: Buffer;
  readonly cardKey: RotatingKey;
  readonly readiness: Readiness;
  readonly receipts: ReceiptPages;
  /** The configuration as this process has read it, secrets masked already. */
  readonly configuration: () => { readonly [key: string]: Json };
  /** What the other cells have of a text; left out: there are none. */
  readonly searchOthers?: (wanted: string) => Promise<object[]>;
}
