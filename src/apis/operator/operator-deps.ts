import type { SurfaceSettings } from '#apis/dashboard/surface.ts';
import type { WaitingRow } from '#apis/operator/operator-queries.ts';
import type { Json } from '#core/canonical-json.ts';
import type { RotatingKey } from '#core/secrets.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import type { ReceiptPages } from '#payments/receipt-url.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { Readiness } from '#settlement/readiness.ts';

/** Another cell, as reported in its response. */
export interface OtherCell {
  readonly cell: number;
  readonly console_url: string | null;
  /** `null` if the cell did not respond. */
  readonly waiting: WaitingRow | null;
}

/** The dependencies of the operators' routes. */
export interface OperatorDeps {
  readonly settings: SurfaceSettings;
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly chains: readonly Chain[];
  readonly cursorKey: Buffer;
  readonly cardKey: RotatingKey;
  readonly readiness: Readiness;
  readonly receipts: ReceiptPages;
  /** The configuration that this process has read, with secrets already masked. */
  readonly configuration: () => { readonly [key: string]: Json };
  /** Calls to the other cells; undefined in a network of one cell. */
  readonly cells?: {
    /** The matches that they find for a text. */
    readonly search: (wanted: string) => Promise<object[]>;
    /** The work that waits in each. */
    readonly others: () => Promise<OtherCell[]>;
  };
}
