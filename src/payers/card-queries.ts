import type { Sql, Tx } from '#db/database.ts';
import { type Row, table } from '#db/table.ts';
import { type OwnPage, selectActiveFirst } from '#payers/list-active-first.ts';
import { type PayerRow, payers, type Revoking, revoking } from '#payers/payer-queries.ts';

export const cards = table('cards', {
  id: 'text',
  payer_id: 'text',
  label: 'text',
  /** Both keys, encrypted: see card.ts. */
  keys: 'bytea',
  per_payment_limit: 'bigint',
  /** The highest accepted counter; -1 before the first tap. */
  counter: 'int',
  /** The chip's UID; `null` until its first accepted tap. */
  uid: 'text?',
  created: 'timestamptz',
  last_used_at: 'timestamptz?',
  revoked_at: 'timestamptz?',
  /** Time of a data loss that may have outdated the counter. Since then, taps need confirmation. */
  asks_since: 'timestamptz?',
});

export type CardRow = Row<typeof cards>;

/** A payer's cards, the active ones first. */
export function selectCards(sql: Sql, payerId: string, page: OwnPage): Promise<CardRow[]> {
  return selectActiveFirst(sql, cards, payerId, page);
}

export async function selectCard(sql: Sql, id: string): Promise<CardRow | undefined> {
  return cards.find(sql, 'where id = $1', [id]);
}

export async function countActiveCards(tx: Tx, payerId: string): Promise<number> {
  return cards.count(tx, 'where payer_id = $1 and revoked_at is null', [payerId]);
}

export async function selectPayersOfCards(
  sql: Sql,
  ids: readonly string[],
): Promise<(PayerRow & { credential: string })[]> {
  return sql.query(
    `select c.id as credential, ${payers.of('y')}
     from cards c join payers y on y.id = c.payer_id where c.id = any($1)`,
    [ids],
  );
}

/** Locks cards in ID order, so that concurrent taps of one card are decided one at a time. */
export async function lockCards(tx: Tx, ids: readonly string[]): Promise<CardRow[]> {
  return cards.list(tx, 'where id = any($1) order by id for update', [ids]);
}

export interface CardUse {
  readonly id: string;
  readonly counter: number;
  readonly uid: string;
}

/**
 * Stores the counters, so that later requests with the same or a lower counter are refused.
 * @returns the number of updated cards; fewer than requested if a concurrent request was first.
 */
export async function useUpTaps(tx: Tx, uses: readonly CardUse[], now: Date): Promise<number> {
  const rows = await tx.query(
    `update cards c set counter = u.counter, uid = u.uid, last_used_at = $4
     from unnest($1::text[], $2::integer[], $3::text[]) as u (id, counter, uid)
     where c.id = u.id and c.counter < u.counter and (c.uid is null or c.uid = u.uid)
     returning c.id`,
    [uses.map((use) => use.id), uses.map((use) => use.counter), uses.map((use) => use.uid), now],
  );
  return rows.length;
}

/** Stops requiring confirmations: the payer has approved a tap, so the counter is current. */
export async function endAsking(tx: Tx, id: string): Promise<void> {
  await tx.query('update cards set asks_since = null where id = $1 and asks_since is not null', [
    id,
  ]);
}

/** Updates a card. @returns undefined if the payer has no such card, or has revoked it. */
export async function updateCard(
  tx: Tx,
  card: {
    readonly id: string;
    readonly payerId: string;
    readonly label: string | null;
    readonly perPaymentLimit: bigint | null;
  },
): Promise<CardRow | undefined> {
  const rows = await tx.query<CardRow>(
    `update cards set label = coalesce($3, label),
       per_payment_limit = coalesce($4, per_payment_limit)
     where id = $1 and payer_id = $2 and revoked_at is null returning ${cards.columns}`,
    [card.id, card.payerId, card.label, card.perPaymentLimit],
  );
  return rows[0];
}

/** Revokes a card, once. @returns undefined if the payer has no such card. */
export async function revokeCardRow(tx: Tx, card: Revoking): Promise<CardRow | undefined> {
  return (await cards.update(tx, {}, revoking(card)))[0];
}

export async function isTestCard(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql.query(
    `select 1 as one from cards c join payers y on y.id = c.payer_id
     where c.id = $1 and not y.livemode`,
    [id],
  );
  return rows.length > 0;
}

/**
 * Increments the counter of a simulated card in test mode, and returns it with the data of the tap.
 * @returns undefined if there is no such card or its counter is exhausted.
 */
export async function countEmulatedTap(
  tx: Tx,
  id: string,
): Promise<(CardRow & { emulated: number }) | undefined> {
  const rows = await tx.query<CardRow & { emulated: number }>(
    `update cards c set emulated = greatest(c.counter, c.emulated) + 1
     from payers y
     where c.id = $1 and y.id = c.payer_id and not y.livemode
       and greatest(c.counter, c.emulated) < 16777215
     returning c.emulated, ${cards.of('c')}`,
    [id],
  );
  return rows[0];
}
