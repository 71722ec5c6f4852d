import type { Tx } from '#db/database.ts';
import { appendEvents, type EventDraft } from '#events/append-events.ts';
import { terminalObject } from '#terminals/render.ts';
import type { TerminalRow } from '#terminals/terminal-queries.ts';

/** Writes the event about a created or changed terminal, at one position in its account's order. */
export async function announceTerminal(
  tx: Tx,
  row: TerminalRow,
  event: Pick<EventDraft, 'tenant' | 'previousAttributes' | 'stamp'> & {
    readonly type: 'terminal.created' | 'terminal.updated';
  },
): Promise<void> {
  await appendEvents(tx, [{ ...event, objectId: row.id, object: terminalObject(row) }]);
}
