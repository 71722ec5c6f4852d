import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import type { Place } from '#db/paging.ts';

export interface StreamedEvent extends Place {
  readonly id: string;
  readonly type: string;
  readonly body: string;
}

/**
 * Returns events after a position, oldest first. Positions are in commit order, so no event can
 * later appear before one already read.
 */
export async function selectEventsAfter(
  sql: Sql,
  tenant: Tenant,
  filter: { readonly after: Place; readonly limit: number },
): Promise<StreamedEvent[]> {
  return sql.query<StreamedEvent>(
    `select id, type, created, position, body from events
     where account_id = $1 and livemode = $2 and created >= $3
       and (created, position) > ($3, $4::bigint)
     order by created, position limit $5`,
    [tenant.accountId, tenant.livemode, filter.after.created, filter.after.position, filter.limit],
  );
}

/** Returns the newest position in the order of the account and mode. */
export async function selectNewestPlace(sql: Sql, tenant: Tenant): Promise<Place> {
  const rows = await sql.query<{ created: Date; position: bigint }>(
    `select created, position from events
     where account_id = $1 and livemode = $2 order by created desc, position desc limit 1`,
    [tenant.accountId, tenant.livemode],
  );
  return rows[0] ?? { created: new Date(0), position: 0n };
}

/**
 * Takes a random free slot of a key, so that two processes rarely choose the same one. If they do,
 * the slower one gets none, and retries. A slot that is held for more than twice `holdMs` also
 * counts as free, because the database's clock has been set back since.
 */
export async function takeStreamSlot(
  sql: Sql,
  input: { readonly keyId: string; readonly slots: number; readonly holdMs: number },
): Promise<number | undefined> {
  const rows = await sql.query<{ slot: number }>(
    `insert into event_stream_slots as held (key_id, slot, held_until)
     select $1, free.slot, now() + $3 * interval '1 ms' from (
       select wanted.slot from generate_series(1, $2::int) as wanted (slot)
       where not exists (
         select from event_stream_slots s
         where s.key_id = $1 and s.slot = wanted.slot
           and s.held_until > now() and s.held_until <= now() + $3 * interval '2 ms')
       order by random() limit 1) free
     on conflict (key_id, slot) do update set held_until = excluded.held_until
     where held.held_until <= now() or held.held_until > now() + $3 * interval '2 ms'
     returning slot`,
    [input.keyId, input.slots, input.holdMs],
  );
  return rows[0]?.slot;
}

/** Returns the number of a key's open streams, in all processes. */
export async function countStreamSlots(
  sql: Sql,
  input: { readonly keyId: string; readonly holdMs: number },
): Promise<number> {
  const rows = await sql.query<{ open: bigint }>(
    `select count(*) as open from event_stream_slots
     where key_id = $1 and held_until > now() and held_until <= now() + $2 * interval '2 ms'`,
    [input.keyId, input.holdMs],
  );
  return Number(rows[0]?.open ?? 0);
}

export interface StreamSlot {
  readonly keyId: string;
  readonly slot: number;
}

function slotValues(slots: readonly StreamSlot[]): unknown[] {
  return [slots.map(({ keyId }) => keyId), slots.map(({ slot }) => slot)];
}

export async function holdStreamSlots(
  sql: Sql,
  slots: readonly StreamSlot[],
  holdMs: number,
): Promise<void> {
  await sql.query(
    `update event_stream_slots s set held_until = now() + $3 * interval '1 ms'
     from unnest($1::text[], $2::smallint[]) as mine (key_id, slot)
     where s.key_id = mine.key_id and s.slot = mine.slot`,
    [...slotValues(slots), holdMs],
  );
}

export async function freeStreamSlots(sql: Sql, slots: readonly StreamSlot[]): Promise<void> {
  await sql.query(
    `delete from event_stream_slots s
     using unnest($1::text[], $2::smallint[]) as mine (key_id, slot)
     where s.key_id = mine.key_id and s.slot = mine.slot`,
    slotValues(slots),
  );
}
