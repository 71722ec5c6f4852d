import type { SurfaceSettings } from '#apis/dashboard/authorize-person.ts';
import type { WaitingRow } from '#apis/operator/operator-queries.ts';
import type { Json } from '#core/canonical-json.ts';

/** Another cell, as reported in its response. */
export interface OtherCell {
  readonly cell: number;
  readonly console_url: string | null;
  /** `null` if the cell did not respond. */
  readonly waiting: WaitingRow | null;
}

/** The parts of the operators' routes besides the process's context. */
export interface OperatorParts {
  readonly settings: SurfaceSettings;
  /** The configuration that this process has read, with secrets already masked. */
  readonly configuration: () => { readonly [key: string]: Json };
  /** Calls to the other cells; undefined in a network of one cell. */
  readonly cells?: {
    /** Searches the other cells for a text. */
    readonly search: (wanted: string) => Promise<object[]>;
    /** Returns the work that waits in each of the other cells. */
    readonly others: () => Promise<OtherCell[]>;
  };
}
