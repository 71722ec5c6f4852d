import type { Sql, Tx } from '#db/database.ts';

/** A row of exchange_rates, as a sale reads it. */
export interface RateRow {
  readonly currency: string;
  /** USDC for one unit; `null` if the feeds know the currency but have not agreed on a rate. */
  readonly rate: string | null;
  readonly quoted_at: Date | null;
  readonly usable_until: Date | null;
  readonly source: string | null;
}

/** The rates of these currencies, and of the dollar, whose row shows that rates exist at all. */
export async function selectRates(
  sql: Sql,
  currencies: readonly string[],
): Promise<Map<string, RateRow>> {
  const rows = await sql.query<RateRow>(
    `select currency, rate, quoted_at, usable_until, source from exchange_rates
     where currency = any($1)`,
    [[...new Set([...currencies, 'usd'])]],
  );
  return new Map(rows.map((row) => [row.currency, row]));
}

/** Includes a rate that jumped. */
export interface StoredRate extends RateRow {
  readonly jumped_rate: string | null;
  readonly jumped_since: Date | null;
  readonly jumped_seen: Date | null;
}

/**
 * Only one process queries the feeds within an interval. @returns false if another one has. `first`
 * queries anyway, because the settings of a process that has just started may be new.
 */
export async function claimRefresh(
  sql: Sql,
  claim: { readonly now: Date; readonly before: Date; readonly first: boolean },
): Promise<boolean> {
  const rows = await sql.query(
    `insert into rate_refresh as r (asked_at) values ($1)
     on conflict (only_row) do update set asked_at = excluded.asked_at
     where r.asked_at <= $2 or r.asked_at > $1 or $3
     returning r.asked_at`,
    [claim.now, claim.before, claim.first],
  );
  return rows.length > 0;
}

/** Locks the table of rates against other refreshes, and reads it. */
export async function lockRates(tx: Tx): Promise<StoredRate[]> {
  await tx.query('select from rate_refresh for update');
  return tx.query(
    `select currency, rate, quoted_at, usable_until, source, jumped_rate, jumped_since, jumped_seen
     from exchange_rates`,
  );
}

export async function upsertRates(tx: Tx, rates: readonly StoredRate[]): Promise<void> {
  const column = <Name extends keyof StoredRate>(name: Name) => rates.map((rate) => rate[name]);
  await tx.query(
    `insert into exchange_rates
       (currency, rate, quoted_at, usable_until, source, jumped_rate, jumped_since, jumped_seen)
     select * from unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::text[],
       $6::text[], $7::timestamptz[], $8::timestamptz[])
     on conflict (currency) do update
     set rate = excluded.rate, quoted_at = excluded.quoted_at,
       usable_until = excluded.usable_until, source = excluded.source,
       jumped_rate = excluded.jumped_rate, jumped_since = excluded.jumped_since,
       jumped_seen = excluded.jumped_seen`,
    [
      column('currency'),
      column('rate'),
      column('quoted_at'),
      column('usable_until'),
      column('source'),
      column('jumped_rate'),
      column('jumped_since'),
      column('jumped_seen'),
    ],
  );
}

/**
 * At a start: deletes made-up rates, with which real ones cannot be compared, and applies a changed
 * maximum age to the stored rates.
 */
export async function prepareRates(
  tx: Tx,
  start: { readonly madeUp: string; readonly keepsMadeUp: boolean; readonly maxAgeMs: number },
): Promise<void> {
  await tx.query('delete from exchange_rates where source = $1 and not $2', [
    start.madeUp,
    start.keepsMadeUp,
  ]);
  await tx.query(
    `update exchange_rates set usable_until = quoted_at + $1 * interval '1 millisecond'
     where quoted_at is not null`,
    [start.maxAgeMs],
  );
}
