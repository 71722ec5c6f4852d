import type { SurfaceSettings } from '#apis/dashboard/authorize-person.ts';
import type { WaitingRow } from '#apis/operator/operator-queries.ts';
import type { Json } from '#core/canonical-json.ts';

export interface OtherCell {
  readonly cell: number;
  readonly console_url: string | null;
  /** The waiting work; `null` if the cell did not respond. */
  readonly waiting: WaitingRow | null;
}

export interface OperatorParts {
  readonly settings: SurfaceSettings;
  /** Returns the configuration that this process has read, with secrets masked. */
  readonly configuration: () => { readonly [key: string]: Json };
  /** Requests to the other cells; undefined in a network of one cell. */
  readonly cells?: {
    readonly search: (text: string) => Promise<object[]>;
    /** Returns the work that waits in each of the other cells. */
    readonly others: () => Promise<OtherCell[]>;
  };
}
