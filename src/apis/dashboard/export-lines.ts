import { type Chunk, EXPORTS, type Export, type ExportName } from '#apis/dashboard/exports.ts';
import { csvHeader, csvLine, type ExportFormat } from '#core/csv.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import type { Page, Place } from '#db/paging.ts';

/** Rows held in memory at a time, whatever the size of the export. */
export const CHUNK = 500;

/**
 * The lines of an export, page after page: each page is a statement of its own, so no snapshot is
 * held while a slow client reads, and nothing is read ahead of what the client has taken.
 */
export async function* lines(
  db: Database,
  wanted: { readonly name: ExportName; readonly format: ExportFormat; tenant: Tenant; now: Date },
  first: Page,
): AsyncGenerator<string> {
  const kind: Export = EXPORTS[wanted.name];
  // Who goes on behind a row has the header already.
  if (wanted.format === 'csv' && first.after === null) yield csvHeader(kind.columns);
  let page: Page | null = first;
  while (page !== null) {
    const { limit }: Page = page;
    const { places, rows }: Chunk = await kind.read(db.standby, wanted, page);
    const shown = rows.slice(0, limit);
    const written = shown.map((row) =>
      wanted.format === 'csv' ? csvLine(row, kind.columns) : `${JSON.stringify(row)}\n`,
    );
    if (written.length > 0) yield written.join('');
    const last: Place | undefined = rows.length > limit ? places[limit - 1] : undefined;
    page = last === undefined ? null : { ...first, after: last };
  }
}

export const TYPES: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
};
