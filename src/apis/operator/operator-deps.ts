import type { SurfaceSettings } from '#apis/dashboard/surface.ts';
import type { WaitingRow } from '#apis/operator/operator-queries.ts';
import type { Json } from '#core/canonical-json.ts';
import type { RotatingKey } from '#core/secrets.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import type { ReceiptPages } from '#payments/receipt-url.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { Readiness } from '#settlement/readiness.ts';

/** Another cell as its answer tells it. */
export interface OtherCell {
  readonly cell: number;
  readonly console_url: string | null;
  /** null: it did not answer. */
  readonly waiting: WaitingRow | null;
}

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
  /** How the other cells are asked; left out: nobody knows of any. */
  readonly cells?: {
    /** What they have of a text. */
    readonly search: (wanted: string) => Promise<object[]>;
    /** What waits in each. */
    readonly others: () => Promise<OtherCell[]>;
  };
}
