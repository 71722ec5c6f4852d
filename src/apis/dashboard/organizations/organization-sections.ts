import { type Location, selectLocations } from '#accounts/locations.ts';
import type { PersonRequest } from '#apis/dashboard/person-route.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import { type ShopDays, shopDays } from '#core/calendar.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import { idOf } from '#http/schema.ts';
import { type OwnedAccount, selectAccountsIn } from '#people/organizations.ts';

/**
 * A section of an organization's sales: either a location's sales, or an account's sales without a
 * location. Its days follow the location's time zone, otherwise the account's.
 */
export interface Section {
  readonly account: OwnedAccount;
  readonly tenant: Tenant;
  readonly location: Location | null;
  readonly shop: ShopDays;
}

export const LocationQuery = {
  ...idOf('loc_', 'location'),
  description: 'Only sales of this location of the organization: loc_…',
};

/**
 * Returns the sections of all accounts: for each account its locations and, last, its sales without
 * a location. If a location is requested, returns only its section.
 */
export async function readSections(
  sql: Sql,
  { params, caller: { tenant } }: PersonRequest,
  locationId: string | undefined,
): Promise<Section[] | Refusal> {
  const accounts = await selectAccountsIn(sql, params.org ?? '');
  const ids = accounts.map(({ id }) => id);
  const locations = await selectLocations(sql, ids);
  return sectionsAt(accounts, locations, { livemode: tenant.livemode, locationId });
}

/** Returns the sections of these accounts; if a location is requested, only its section. */
export function sectionsAt(
  accounts: readonly OwnedAccount[],
  locations: readonly Location[],
  input: { readonly livemode: boolean; readonly locationId: string | undefined },
): Section[] | Refusal {
  const { livemode, locationId } = input;
  const sections = accounts.flatMap((account): Section[] => {
    const shop = shopDays(account, livemode);
    const of = { account, tenant: { accountId: account.id, livemode } };
    const own = locations.filter((location) => location.account_id === account.id);
    return [
      ...own.map((location) => ({
        ...{ ...of, location },
        shop: { ...shop, timeZone: location.time_zone },
      })),
      { ...of, location: null, shop },
    ];
  });
  if (locationId === undefined) return sections;
  const matches = sections.filter(({ location }) => location?.id === locationId);
  if (matches.length > 0) return matches;
  return refuse(
    'parameter_invalid',
    'location must be the ID of a location of this account or organization.',
    'location',
  );
}
