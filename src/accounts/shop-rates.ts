import type { Tx } from '#db/database.ts';

/** The place where money was taken or returned: an account, or one of its locations. */
export interface ShopPlace {
  readonly account_id: string;
  readonly location_id: string | null;
}

interface ShopRate extends ShopPlace {
  readonly rate: string;
}

function keyOf({ account_id, location_id }: ShopPlace): string {
  return `${account_id} ${location_id ?? ''}`;
}

/**
 * Returns the last usable rate of each place's currency: USDC for one unit, as decimal text,
 * without the margins of a sale. `null` for a place that counts in USDC, and while there is no
 * rate.
 */
export async function readShopRates(
  tx: Tx,
  places: readonly ShopPlace[],
): Promise<(place: ShopPlace) => string | null> {
  const distinct = [...new Map(places.map((place) => [keyOf(place), place])).values()];
  if (distinct.length === 0) return () => null;
  const rows = await tx.query<ShopRate>(
    `select w.account_id, w.location_id, r.rate
     from unnest($1::text[], $2::text[]) as w (account_id, location_id)
     join accounts a on a.id = w.account_id
     left join locations l on l.id = w.location_id and l.account_id = a.id
     join exchange_rates r on r.currency = coalesce(l.currency, a.currency)
     where r.rate is not null`,
    [
      distinct.map(({ account_id: accountId }) => accountId),
      distinct.map(({ location_id: locationId }) => locationId),
    ],
  );
  const rates = new Map(rows.map((row) => [keyOf(row), row.rate]));
  return (place) => rates.get(keyOf(place)) ?? null;
}
