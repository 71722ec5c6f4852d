import { assert, only, present } from '#core/assert.ts';
import { addSeconds } from '#core/clock.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';

/**
 * Positions in the commit order of one account and mode, assigned while its row is locked. The lock
 * is held until the commit, so rows become visible in the order of their `position` and `created`.
 */
export interface Stamp {
  /**
   * The creation time of the rows, by the clock of the account and mode. It is never earlier than
   * that of an earlier row.
   */
  readonly created: Date;
  /** Seconds by which the account's clock is ahead of the service's clock; 0 in live mode. */
  readonly aheadSeconds: number;
  /**
   * Returns the next reserved position.
   * @throws Bug if none is left
   */
  next(): bigint;
}

/** Returns the time on the clock of an account and mode when the service's clock is at `now`. */
export async function accountTime(sql: Sql, tenant: Tenant, now: Date): Promise<Date> {
  const rows = await sql.query<{ ahead_seconds: bigint }>(
    'select ahead_seconds from account_modes where account_id = $1 and livemode = $2',
    [tenant.accountId, tenant.livemode],
  );
  return addSeconds(now, Number(rows[0]?.ahead_seconds ?? 0));
}

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
      assert(used <= count, 'more positions used than reserved');
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
    from unnest($1::text[], $2::boolean[], $3::int[])
      as t (account_id, livemode, count)
  ) w
  where m.account_id = w.account_id and m.livemode = w.livemode
  returning m.account_id, m.livemode, m.position, m.stamped_at, m.ahead_seconds`;

/** SQL that locks rows in a fixed order, which an update alone does not guarantee. */
const LOCK = `
  select from account_modes
  where (account_id, livemode) in (
    select * from unnest($1::text[], $2::boolean[]))
  order by account_id, livemode for update`;

/** Takes, in advance, the locks that stamping will take. Name each account and mode only once. */
export async function lockOrders(tx: Tx, tenants: readonly Tenant[]): Promise<void> {
  const values = [tenants.map((one) => one.accountId), tenants.map((one) => one.livemode)];
  await tx.query(LOCK, values);
}

/**
 * Reserves `count` positions for one account and mode. Call it last, right before the inserts: it
 * holds its lock until the commit, and locks of objects must be taken before this one.
 */
export async function stampOrder(tx: Tx, tenant: Tenant, now: Date, count: number): Promise<Stamp> {
  const values = [[tenant.accountId], [tenant.livemode], [count], now];
  return toStamp(only(await tx.query<StampRow>(STAMP, values), 'account mode'), count);
}

export interface Wanted {
  readonly tenant: Tenant;
  readonly count: number;
}

/** Adds up the requested positions per account and mode. */
function addUp(requests: readonly Wanted[]): Map<string, Wanted> {
  const sums = new Map<string, Wanted>();
  for (const { tenant, count } of requests) {
    const key = tenantKey(tenant);
    sums.set(key, { tenant, count: (sums.get(key)?.count ?? 0) + count });
  }
  return sums;
}

/**
 * Reserves positions for several accounts and modes. It locks them in a fixed order, so that no two
 * transactions deadlock.
 * @returns a function that returns the stamp of an account and mode, and throws a Bug if none was
 * requested for it
 */
export async function stampOrders(
  tx: Tx,
  requests: readonly Wanted[],
  now: Date,
): Promise<(tenant: Tenant) => Stamp> {
  const sums = addUp(requests);
  const all = [...sums.values()];
  const [accountIds, modes] = [
    all.map(({ tenant }) => tenant.accountId),
    all.map(({ tenant }) => tenant.livemode),
  ];
  const locked = all.length > 1 ? tx.query(LOCK, [accountIds, modes]) : null;
  const counts = all.map(({ count }) => count);
  const stamped = tx.query<StampRow>(STAMP, [accountIds, modes, counts, now]);
  const [rows] = await Promise.all([stamped, locked]);
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
 * Locks the commit order of an account and mode. Rows that are stamped later are created no earlier
 * than `until` (or than now, if that is earlier), so no row from before that time can still appear.
 * @returns the account's time and its last position
 */
export async function closeOrder(
  tx: Tx,
  tenant: Tenant,
  { now, until }: { readonly now: Date; readonly until: Date },
): Promise<{ readonly time: Date; readonly top: bigint }> {
  const rows = await tx.query<{ time: Date; top: bigint }>(
    `with clock as materialized (
       select greatest(stamped_at, $3::timestamptz + ahead_seconds * interval '1 second') as time
       from account_modes where account_id = $1 and livemode = $2 for update
     )
     update account_modes m set stamped_at = greatest(m.stamped_at, least(c.time, $4))
     from clock c where m.account_id = $1 and m.livemode = $2
     returning c.time, m.position as top`,
    [tenant.accountId, tenant.livemode, now, until],
  );
  return only(rows, 'account mode');
}

/** Locks the commit orders of all accounts of a mode, in the fixed order. */
export async function lockAllOrders(tx: Tx, livemode: boolean): Promise<void> {
  await tx.query('select from account_modes where livemode = $1 order by account_id for update', [
    livemode,
  ]);
}

/**
 * Amount by which positions are raised. It exceeds the number of rows that an account writes in the
 * period that a restored database may have lost.
 */
const RAISE_PLACES_BY = 1_048_576;

/**
 * Raises the positions of all accounts of a mode, for a database that may have lost some. An
 * event's `sequence` is its position, and receivers ignore sequences below the highest they have
 * seen. Locks in the fixed order, so that no two transactions deadlock.
 */
export async function raisePlaces(sql: Sql, livemode: boolean): Promise<void> {
  await sql.query(
    `with locked as materialized (
       select account_id from account_modes where livemode = $1 order by account_id for update
     )
     update account_modes m set position = m.position + ${RAISE_PLACES_BY}
     from locked l where m.account_id = l.account_id and m.livemode = $1`,
    [livemode],
  );
}
