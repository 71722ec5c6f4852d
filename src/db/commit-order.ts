import { assert, only } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';

/**
 * Places in one account and mode's commit order, taken under the lock of its row. Whoever has the
 * lock commits before the next one gets a place, so order of `position` and of `created` is the
 * order in which others can see the rows.
 */
export interface Stamp {
  /** When the rows count as created: never before an earlier row of the account and mode. */
  readonly created: Date;
  /** The next place. @throws Bug when more are used than were reserved. */
  next(): bigint;
}

/** A text for a map key. */
export function tenantKey(tenant: Tenant): string {
  return `${tenant.accountId} ${tenant.livemode}`;
}

interface StampRow {
  account_id: string;
  livemode: boolean;
  position: bigint;
  stamped_at: Date;
}

function toStamp(row: StampRow, count: number): Stamp {
  let used = 0;
  return {
    created: row.stamped_at,
    next: () => {
      used++;
      assert(used <= count, 'more places used than reserved');
      return row.position - BigInt(count - used);
    },
  };
}

const STAMP = `
  update account_modes m
  set position = m.position + w.count, stamped_at = greatest(m.stamped_at, $4)
  from (
    select account_id, livemode, count
    from unnest($1::text[], $2::boolean[], $3::int[]) as t (account_id, livemode, count)
  ) w
  where m.account_id = w.account_id and m.livemode = w.livemode
  returning m.account_id, m.livemode, m.position, m.stamped_at`;

const LOCK = `
  select 1 as locked from account_modes
  where (account_id, livemode) in (select * from unnest($1::text[], $2::boolean[]))
  order by account_id, livemode for update`;

/**
 * Reserves `count` places for one account and mode. Call it last, right before the inserts: the
 * lock is held until the commit, and locks of objects are always taken before it.
 */
export async function stampOrder(tx: Tx, tenant: Tenant, now: Date, count: number): Promise<Stamp> {
  const values = [[tenant.accountId], [tenant.livemode], [count], now];
  return toStamp(only(await tx.query<StampRow>(STAMP, values), 'account mode'), count);
}

/** The same for several accounts and modes, locked in one order so that no two wait in a circle. */
export async function stampOrders(
  tx: Tx,
  wanted: readonly { readonly tenant: Tenant; readonly count: number }[],
  now: Date,
): Promise<Map<string, Stamp>> {
  const accountIds = wanted.map((want) => want.tenant.accountId);
  const modes = wanted.map((want) => want.tenant.livemode);
  const counts = new Map(wanted.map((want) => [tenantKey(want.tenant), want.count]));
  assert(counts.size === wanted.length, 'an account and mode stands twice');
  if (wanted.length > 1) await tx.query(LOCK, [accountIds, modes]);
  const values = [accountIds, modes, wanted.map((want) => want.count), now];
  const rows = await tx.query<StampRow>(STAMP, values);
  assert(rows.length === wanted.length, 'an account has no row for its mode');
  return new Map(
    rows.map((row) => {
      const key = tenantKey({ accountId: row.account_id, livemode: row.livemode });
      return [key, toStamp(row, counts.get(key) ?? 0)];
    }),
  );
}

/**
 * Steps of one statement that stamps and writes at once, without ever waiting: `wanted` to
 * `stamped`. They read `open` (account_id, livemode, created, place; `created` the same for all
 * rows of one account and mode, `place` the first of the row's `places`, counted from 1) and leave
 * in `stamped`, for each account and mode, the last place `before` those that it got. Rows may
 * leave gaps between them: all places up to the last one are given away.
 *
 * An account and mode is left out, and nothing of it may be written, when somebody else holds its
 * lock, when `created` would be before an earlier row's, and when its place has moved since the
 * statement began: then the rest of the statement would not see what was committed meanwhile. (The
 * last holds twice: nor can the statement see, by its `ctid`, a row that was changed meanwhile.)
 *
 * One look-up by `account_id` each, whatever the planner takes the table for: joined, or with a
 * mode that another index could look for, a plan from its first days read all of it.
 */
export function stampSteps(places: number): string {
  return `
  wanted as (
    select account_id, livemode, max(created) as created, max(place) + ${places - 1} as places
    from open group by account_id, livemode
  ), seen as materialized (
    select w.*, m.position from wanted w cross join lateral (
      select position from account_modes m
      where m.account_id = w.account_id and m.livemode is not distinct from w.livemode offset 0) m
  ), held as materialized (
    select s.*, m.ctid as tuple from seen s cross join lateral (
      select m.ctid from account_modes m
      where m.account_id = s.account_id and m.livemode is not distinct from s.livemode
        and m.position = s.position and m.stamped_at <= s.created
      for update of m skip locked) m
  ), stamped as (
    update account_modes m set position = h.position + h.places, stamped_at = h.created
    from held h where m.ctid = h.tuple
    returning m.account_id, m.livemode, h.position as before
  )`;
}
