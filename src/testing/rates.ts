import { addSeconds } from '#core/clock.ts';
import type { Sql } from '#db/database.ts';

/** Stores exchange rates as a worker does: the USDC for one unit of each currency. */
export async function putRates(
  sql: Sql,
  rates: Readonly<Record<string, string>>,
  { now, maxAgeS = 120 }: { readonly now: Date; readonly maxAgeS?: number },
): Promise<void> {
  await sql.query(
    `insert into exchange_rates (currency, rate, quoted_at, usable_until, source)
     select currency, rate, $3, $4, 'feed.test, other.test'
     from unnest($1::text[], $2::text[]) as t (currency, rate)
     on conflict (currency) do update set rate = excluded.rate, quoted_at = excluded.quoted_at,
       usable_until = excluded.usable_until`,
    [Object.keys(rates), Object.values(rates), now, addSeconds(now, maxAgeS)],
  );
}
