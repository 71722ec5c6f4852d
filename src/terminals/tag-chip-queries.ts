import { present } from '#core/assert.ts';
import type { CardTap } from '#core/sun-message.ts';
import type { Sql, Tx } from '#db/database.ts';
import { type Row, table } from '#db/table.ts';

export const tagChips = table('tag_chips', {
  /** The number from which the chip's keys are derived. */
  chip: 'uuid',
});

type ChipRow = Row<typeof tagChips>;

/** Gives the chip of a terminal's tag a new random number. */
export async function renewChip(tx: Tx, terminalId: string, now: Date): Promise<ChipRow> {
  const rows = await tx.query<ChipRow>(
    `insert into tag_chips (terminal_id, chip, created) values ($1, gen_random_uuid(), $2)
     on conflict (terminal_id) do update
       set chip = excluded.chip, created = excluded.created, counter = default, uid = null
     returning chip`,
    [terminalId, now],
  );
  return present(rows[0], 'chip of a tag');
}

/** Deletes the chip, whose messages are no longer accepted. */
export async function deleteChip(tx: Tx, terminalId: string): Promise<void> {
  await tx.query('delete from tag_chips where terminal_id = $1', [terminalId]);
}

export async function selectChip(sql: Sql, terminalId: string): Promise<ChipRow | undefined> {
  return tagChips.find(sql, 'where terminal_id = $1', [terminalId]);
}

/** Records a tap. @returns true if it is newer than all earlier taps of the same chip. */
export async function noteTap(
  sql: Sql,
  tap: CardTap & { readonly terminalId: string; readonly chip: string },
): Promise<boolean> {
  const rows = await sql.query(
    `update tag_chips set counter = $3, uid = $4
     where terminal_id = $1 and chip = $2 and counter < $3 and (uid is null or uid = $4)
     returning 1`,
    [tap.terminalId, tap.chip, tap.counter, tap.uid],
  );
  return rows.length === 1;
}
