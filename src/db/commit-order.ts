import { assert, only, present } from '#core/assert.ts';
import { addSeconds } from '#core/clock.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import type { Statement } from '#db/pipeline.ts';

/**
 * Places in one account and mode's commit order, taken under the lock of its row. The holder of
 * the lock commits before the next one gets a place, so order of `position` and of `created` is the
 * order in which others can see the rows.
 */
export interface Stamp {
  /**
   * When the rows count as created, by the clock of the account and mode: never before an earlier
   * row of them.
   */
  readonly created: Date;
  /** How far that clock runs ahead of the service's. 0 in live mode. */
  readonly aheadSeconds: number;
  /** The next place. @throws Bug when more are used than were reserved. */
  next(): bigint;
}

/** What the clock of an account and mode says when the service's says `now`. */
export async function accountTime(sql: Sql, tenant: Tenant, now: Date): Promise<Date> {
  const rows = await sql.query<{ ahead_seconds: bigint }>(
    'select ahead_seconds from account_modes where account_id = $1 and livemode = $2',
    [tenant.accountId, tenant.livemode],
  );
  return addSeconds(now, Number(rows[0]?.ahead_seconds ?? 0));
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
  ahead_seconds: bigint;
}

function toStamp(row: StampRow, count: number): Stamp {
  let used = 0;
  return {
    created: row.stamped_at,
    aheadSeconds: Number(row.ahead_seconds),
    next: () => {
      used++;
      assert(used <= count, 'more places used than reserved');
      return row.position - BigInt(count - used);
    },
  };
}

const STAMP = `
  update account_modes m
  set position = m.position + w.count,
    stamped_at = greatest(m.stamped_at, $4::timestamptz + m.ahead_seconds * interval '1 second')
  from (
    select account_id, livemode, count
    from unnest((select $1::text[]), (select $2::boolean[]), (select $3::int[]))
      as t (account_id, livemode, count)
  ) w
  where m.account_id = w.account_id and m.livemode = w.livemode
  returning m.account_id, m.livemode, m.position, m.stamped_at, m.ahead_seconds`;

const LOCK = `
  select account_id, livemode, stamped_at, ahead_seconds from account_modes
  where (account_id, livemode) in (
    select * from unnest((select $1::text[]), (select $2::boolean[])))
  order by account_id, livemode for update`;

/** The clock of an account and mode. */
export interface OrderTime {
  readonly aheadSeconds: number;
  /** The last row counts as created then: none may count as created before. */
  readonly stampedAt: Date;
}

export type TimeRow = Pick<StampRow, 'account_id' | 'livemode' | 'stamped_at' | 'ahead_seconds'>;

/** When a row counts as created that is written at `now`. */
export function createdAt({ aheadSeconds, stampedAt }: OrderTime, now: Date): Date {
  const time = addSeconds(now, aheadSeconds);
  return time < stampedAt ? stampedAt : time;
}

/**
 * The statement that waits for the locks of these accounts and modes, in one order so that no two
 * wait in a circle. The next statement sees whatever was committed before. It returns
 * {@link TimeRow}s.
 */
export function lockingStatement(tenants: readonly Tenant[]): Statement {
  const values = [tenants.map((one) => one.accountId), tenants.map((one) => one.livemode)];
  return { text: LOCK, values };
}

/** The time of each account and mode that was locked, by `tenantKey`. */
export function toTimes(rows: readonly TimeRow[]): ReadonlyMap<string, OrderTime> {
  return new Map(
    rows.map((row) => {
      const tenant = { accountId: row.account_id, livemode: row.livemode };
      const time = { aheadSeconds: Number(row.ahead_seconds), stampedAt: row.stamped_at };
      return [tenantKey(tenant), time];
    }),
  );
}

/**
 * Reserves `count` places for one account and mode. Call it last, right before the inserts: the
 * lock is held until the commit, and locks of objects are always taken before it.
 */
export async function stampOrder(tx: Tx, tenant: Tenant, now: Date, count: number): Promise<Stamp> {
  const values = [[tenant.accountId], [tenant.livemode], [count], now];
  return toStamp(only(await tx.query<StampRow>(STAMP, values), 'account mode'), count);
}

/** What is about to be written, and how many places it takes. */
export interface Wanted {
  readonly tenant: Tenant;
  readonly count: number;
}

/** Places per account and mode: what belongs to one of them is added up. */
function addUp(wanted: readonly Wanted[]): Map<string, Wanted> {
  const sums = new Map<string, Wanted>();
  for (const { tenant, count } of wanted) {
    const key = tenantKey(tenant);
    sums.set(key, { tenant, count: (sums.get(key)?.count ?? 0) + count });
  }
  return sums;
}

/**
 * The same for many things of several accounts and modes, which are locked in one order so that no
 * two transactions wait in a circle.
 * @returns the stamp of an account and mode. @throws an assertion for one that was not asked for.
 */
export async function stampOrders(
  tx: Tx,
  wanted: readonly Wanted[],
  now: Date,
): Promise<(tenant: Tenant) => Stamp> {
  const sums = addUp(wanted);
  const all = [...sums.values()];
  const [accountIds, modes] = [
    all.map(({ tenant }) => tenant.accountId),
    all.map(({ tenant }) => tenant.livemode),
  ];
  if (all.length > 1) {
    const lock = lockingStatement(all.map(({ tenant }) => tenant));
    await tx.query(lock.text, lock.values);
  }
  const counts = all.map(({ count }) => count);
  const rows = await tx.query<StampRow>(STAMP, [accountIds, modes, counts, now]);
  assert(rows.length === all.length, 'an account has no row for its mode');
  const stamps = new Map(
    rows.map((row) => {
      const key = tenantKey({ accountId: row.account_id, livemode: row.livemode });
      return [key, toStamp(row, sums.get(key)?.count ?? 0)];
    }),
  );
  return (tenant) => present(stamps.get(tenantKey(tenant)), 'stamp of an account and mode');
}

/**
 * Steps of one statement that stamps and writes at once, without ever waiting: `wanted` to
 * `stamped`. They read `open` (account_id, livemode, created, ahead_seconds, place; the times are
 * the same for all rows of one account and mode, and `place` is the first of the row's `places`,
 * counted from 1) and leave in `stamped`, for each account and mode, the last place `before` those
 * that it got. Rows may leave gaps between them: all places up to the last one are given away.
 *
 * An account and mode is left out, and nothing of it may be written, when somebody else holds its
 * lock, when its clock is not `ahead_seconds` ahead, when `created` would be before an earlier
 * row's, and when its place has moved since the statement began: then the rest of the statement
 * would not see what was committed meanwhile. (The last holds twice: nor can the statement see, by
 * its `ctid`, a row that was changed meanwhile.)
 *
 * One look-up by `account_id` each, whatever the planner takes the table for: joined, or with a
 * mode that another index could look for, a plan from its first days read all of it.
 */
export function stampSteps(places: number): string {
  return `
  wanted as (
    select account_id, livemode, max(created) as created, max(ahead_seconds) as ahead_seconds,
      max(place) + ${places - 1} as places
    from open group by account_id, livemode
  ), seen as materialized (
    select w.*, m.position from wanted w cross join lateral (
      select position from account_modes m
      where m.account_id = w.account_id and m.livemode is not distinct from w.livemode offset 0) m
  ), held as materialized (
    select s.*, m.ctid as tuple from seen s cross join lateral (
      select m.ctid from account_modes m
      where m.account_id = s.account_id and m.livemode is not distinct from s.livemode
        and m.position = s.position and m.ahead_seconds = s.ahead_seconds
        and m.stamped_at <= s.created
      for update of m skip locked) m
  ), stamped as (
    update account_modes m set position = h.position + h.places, stamped_at = h.created
    from held h where m.ctid = h.tuple
    returning m.account_id, m.livemode, h.position as before
  )`;
}
