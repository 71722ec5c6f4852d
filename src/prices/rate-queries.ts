import type { Sql, Tx } from '#db/database.ts';
import { type Row, table } from '#db/table.ts';

export const exchangeRates = table('exchange_rates', {
  currency: 'text',
  /** USDC per unit; `null` if the feeds include the currency but have never agreed on a rate. */
  rate: 'text?',
  quoted_at: 'timestamptz?',
  usable_until: 'timestamptz?',
  source: 'text?',
  /** When the market last moved, if the feeds say. */
  market_at: 'timestamptz?',
  /** `RATES_CLOSED_MARGIN` in hundredths of a percent. */
  closed_margin: 'int',
  /** Since when responses have given no rate; `null` if the last ones did. */
  refused_since: 'timestamptz?',
  jumped_rate: 'text?',
  jumped_since: 'timestamptz?',
  jumped_seen: 'timestamptz?',
});

/** A stored rate. It may include a jump that is not accepted yet. */
export type StoredRate = Row<typeof exchangeRates>;

const RATE = exchangeRates.pick([
  'currency',
  'rate',
  'quoted_at',
  'usable_until',
  'source',
  'market_at',
  'closed_margin',
]);

export type RateRow = Row<typeof RATE>;

/**
 * Returns the rates of these currencies and of the dollar, whose row proves that rates are stored.
 */
export async function selectRates(
  sql: Sql,
  currencies: readonly string[],
): Promise<Map<string, RateRow>> {
  const rows = await sql.query<RateRow>(
    `select ${RATE} from exchange_rates where currency = any($1)`,
    [[...new Set([...currencies, 'usd'])]],
  );
  return new Map(rows.map((row) => [row.currency, row]));
}

/** Returns the rate of a currency if it is still usable. */
export function usableRate(
  rates: ReadonlyMap<string, RateRow>,
  currency: string,
  now: Date,
): string | null {
  const { rate = null, usable_until: until = null } = rates.get(currency) ?? {};
  return until === null || until < now ? null : rate;
}

/** Returns all rates that are usable at this time. */
export function selectUsableRates(sql: Sql, now: Date): Promise<RateRow[]> {
  return sql.query<RateRow>(
    `select ${RATE} from exchange_rates
     where rate is not null and usable_until >= $1 order by currency`,
    [now],
  );
}

/**
 * Returns the rate of a currency for comparing sums with a limit.
 * @param now if given, only a rate that is still usable.
 * @returns `null` if there is none.
 */
export async function selectRate(
  sql: Sql,
  currency: string,
  now: Date | null = null,
): Promise<string | null> {
  const rates = await selectRates(sql, [currency]);
  return now === null ? (rates.get(currency)?.rate ?? null) : usableRate(rates, currency, now);
}

/**
 * Claims the next query of the feeds. `first` ignores the interval, because a process that has just
 * started may have new settings.
 * @returns false if another process has queried within the interval.
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

/** Locks the table of rates against concurrent refreshes, and reads it. */
export async function lockRates(tx: Tx): Promise<StoredRate[]> {
  await tx.query('select from rate_refresh for update');
  return exchangeRates.list(tx, '', []);
}

export async function upsertRates(tx: Tx, rates: readonly StoredRate[]): Promise<void> {
  await exchangeRates.insertAll(
    tx,
    rates,
    `on conflict (currency) do update
     set rate = excluded.rate, quoted_at = excluded.quoted_at,
       usable_until = excluded.usable_until, source = excluded.source,
       jumped_rate = excluded.jumped_rate, jumped_since = excluded.jumped_since,
       jumped_seen = excluded.jumped_seen, market_at = excluded.market_at,
       closed_margin = excluded.closed_margin, refused_since = excluded.refused_since`,
  );
}

/** Notes that these currencies got no rate, if they are not noted already. */
export async function refuseRates(
  tx: Tx,
  refused: { readonly except: readonly string[]; readonly now: Date },
): Promise<void> {
  await tx.query(
    `update exchange_rates set refused_since = $2
     where refused_since is null and currency <> all($1)`,
    [refused.except, refused.now],
  );
}

/** Returns the currencies that have had no rate since a moment in this range. */
export async function selectRefused(
  tx: Tx,
  since: { readonly from: Date; readonly to: Date },
): Promise<string[]> {
  const rows = await tx.query<{ currency: string }>(
    `select currency from exchange_rates
     where refused_since > $1 and refused_since <= $2 order by currency`,
    [since.from, since.to],
  );
  return rows.map(({ currency }) => currency);
}

/**
 * Prepares stored rates at a start: deletes made-up rates, which must not be compared with real
 * ones, and applies changed settings.
 */
export async function prepareRates(
  tx: Tx,
  start: {
    readonly madeUp: string;
    readonly keepsMadeUp: boolean;
    readonly maxAgeMs: number;
    readonly closedMargin: number;
  },
): Promise<void> {
  await tx.query('delete from exchange_rates where source = $1 and not $2', [
    start.madeUp,
    start.keepsMadeUp,
  ]);
  await tx.query(
    `update exchange_rates
     set usable_until = quoted_at + $1 * interval '1 millisecond', closed_margin = $2`,
    [start.maxAgeMs, start.closedMargin],
  );
}
