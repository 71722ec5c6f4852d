import type { Sql, Tx } from '#db/database.ts';
import { type Row, table } from '#db/table.ts';

/** A chip that signs payments, as its owner registered it. */
export const chips = table('chips', {
  id: 'text',
  payer_id: 'text',
  livemode: 'boolean',
  address: 'text',
  label: 'text',
  per_payment_limit: 'bigint?',
  blocked_at: 'timestamptz?',
  created: 'timestamptz',
});

export type ChipRow = Row<typeof chips>;

/** Returns a payer's chips, oldest first; there are only a few. */
export async function selectChips(sql: Sql, payerId: string): Promise<ChipRow[]> {
  return chips.list(sql, 'where payer_id = $1 order by created, id', [payerId]);
}

export interface NamedChip {
  readonly payerId: string;
  readonly name: string;
}

export async function lockChip(tx: Tx, chip: NamedChip): Promise<ChipRow | undefined> {
  return chips.find(
    tx,
    'where payer_id = $1 and (id = $2 or lower(address) = lower($2)) for update',
    [chip.payerId, chip.name],
  );
}

export async function updateChip(
  tx: Tx,
  chip: Pick<ChipRow, 'id' | 'label' | 'per_payment_limit' | 'blocked_at'>,
): Promise<void> {
  await tx.query(
    `update chips set label = $2, per_payment_limit = $3, blocked_at = $4 where id = $1`,
    [chip.id, chip.label, chip.per_payment_limit, chip.blocked_at],
  );
}

export async function deleteChip(tx: Tx, id: string): Promise<void> {
  await tx.query('delete from chips where id = $1', [id]);
}

/**
 * Locks and returns the chips with these addresses, with their owners' settings, so that a block
 * set before a tap applies to the tap.
 */
export async function lockChipsOf(tx: Tx, addresses: readonly string[]): Promise<ChipRow[]> {
  return chips.list(tx, 'where address = any($1::text[]) order by id for update', [addresses]);
}
