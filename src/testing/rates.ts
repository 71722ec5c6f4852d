import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { addSeconds } from '#core/clock.ts';
import type { Sql } from '#db/database.ts';

/** Stores rates as a worker would: USDC per unit, by currency. */
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

/** Two feeds that agree on these rates (units per dollar). @returns the value of RATES_URL. */
export async function startRateFeeds(rates: Readonly<Record<string, string>>) {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ base: 'usd', as_of: new Date().toISOString(), rates }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    setting: ['one', 'other'].map((name) => `http://127.0.0.1:${port}/${name}`).join(),
    close: async () => void server.close().closeAllConnections(),
  };
}
