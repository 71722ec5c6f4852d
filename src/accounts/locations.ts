import { lockOwnAccount } from '#accounts/account-queries.ts';
import { unknownZone } from '#accounts/edit-account.ts';
import { type AskedTerminal, checkShopEdit, type TaxRate } from '#accounts/shop-settings.ts';
import { type AccountRef, recordAccountChange } from '#audit/record-change.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { only } from '#core/assert.ts';
import type { Json } from '#core/canonical-json.ts';
import { newId } from '#core/ids.ts';
import { readName } from '#core/name-rules.ts';
import { staleVersion } from '#core/stale-version.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';
import type { Language } from '#i18n/languages.ts';

export const locations = table('locations', {
  id: 'text',
  account_id: 'text',
  name: 'text',
  address: 'text?',
  time_zone: 'text',
  currency: 'text?',
  language: as<Language | null>('text?'),
  tax_rates: as<readonly TaxRate[] | null>('jsonb?'),
  version: 'int',
  created: 'timestamptz',
});

export type Location = Row<typeof locations>;

export async function selectLocations(
  sql: Sql,
  accountIds: readonly string[],
): Promise<Location[]> {
  return locations.list(sql, 'where account_id = any($1) order by created, id', [accountIds]);
}

export async function selectLocation(
  sql: Sql,
  accountIds: readonly string[],
  id: string,
): Promise<Location | undefined> {
  return locations.find(sql, 'where id = $1 and account_id = any($2)', [id, accountIds]);
}

/** The settings of a till and its customers: its location's if it has one, else its account's. */
export interface ShopAt {
  readonly time_zone: string;
  readonly language: Language | null;
  /** ISO 4217, in lowercase; `null` for USDC. */
  readonly currency: string | null;
}

export async function selectShopAt(
  sql: Sql,
  { accountId, terminalId }: AskedTerminal,
): Promise<ShopAt> {
  const rows = await sql.query<ShopAt>(
    `select coalesce(l.time_zone, a.time_zone) as time_zone,
       coalesce(l.language, a.language) as language, coalesce(l.currency, a.currency) as currency
     from accounts a left join locations l on l.account_id = a.id and l.id = (
       select location_id from terminals where id = $2 and account_id = a.id)
     where a.id = $1`,
    [accountId, terminalId],
  );
  return only(rows, 'account');
}

/**
 * Maximum number of locations: more than a chain has in one account, and few enough for one list.
 */
const MAX_LOCATIONS = 200;

/** The fields of a location that a request may set. Named as in the API. */
export interface LocationEdit {
  readonly name?: string;
  readonly address?: string | null;
  readonly time_zone?: string;
  readonly currency?: string | null;
  readonly language?: Language | null;
  readonly tax_rates?: readonly TaxRate[] | null;
}

export function locationObject(row: Location): { readonly [key: string]: Json } {
  const { id, account_id: account, name, address, time_zone, currency, language } = row;
  const tax_rates = row.tax_rates === null ? null : row.tax_rates.map((rate) => ({ ...rate }));
  const shop = { address, time_zone, currency, language, tax_rates };
  const { version, created } = row;
  return {
    ...{ id, object: 'location', account, name, ...shop },
    ...{ version, created: created.toISOString() },
  };
}

/** Returns the refusal if none of these accounts has the location; `null` if one has it. */
export async function checkLocation(
  sql: Sql,
  accountIds: readonly string[],
  id: string | null | undefined,
): Promise<Refusal | null> {
  if (id == null || (await selectLocation(sql, accountIds, id)) !== undefined) return null;
  return refuse(
    'parameter_invalid',
    'location must be the ID of a location of this account.',
    'location',
  );
}

/** Returns the edit with the name in its stored form, or the refusal if the edit is invalid. */
function readEdit<E extends LocationEdit>(edit: E): E | Refusal {
  const { time_zone: zone, tax_rates: rates, currency } = edit;
  const wrong =
    (zone === undefined ? null : unknownZone(zone)) ??
    checkShopEdit({ currency, ...(rates == null ? {} : { tax_rates: rates }) });
  if (wrong !== null) return wrong;
  const name = edit.name === undefined ? undefined : readName(edit.name, 'name');
  if (name === undefined || isRefusal(name)) return name ?? edit;
  return { ...edit, name };
}

/**
 * Adds a location to an account. Its days are in the account's time zone unless the request names
 * another.
 */
export async function createLocation(
  tx: Tx,
  ref: AccountRef,
  input: LocationEdit & { readonly name: string },
): Promise<Location | Refusal> {
  const { accountId, now } = ref;
  const edit = readEdit(input);
  if (isRefusal(edit)) return edit;
  // Locks the account, so that two requests cannot exceed the limit.
  const account = await lockOwnAccount(tx, accountId);
  if ((await selectLocations(tx, [accountId])).length >= MAX_LOCATIONS) {
    return refuse('unexpected_state', `An account can have at most ${MAX_LOCATIONS} locations.`);
  }
  const made = { id: newId('location', now), account_id: accountId, created: now };
  const row = await locations.insert(tx, { time_zone: account.time_zone, ...edit, ...made });
  const change = { action: 'location.created', objectId: row.id, after: locationObject(row) };
  await recordAccountChange(tx, ref, change);
  return row;
}

interface LocationRef extends Omit<AccountRef, 'accountId'> {
  readonly accountIds: readonly string[];
  readonly id: string;
}

/** Earlier sales stay with the location. */
export async function editLocation(
  tx: Tx,
  { actor, now, accountIds, id }: LocationRef,
  input: LocationEdit & { readonly version: number },
): Promise<Location | Refusal> {
  const { version, ...rest } = input;
  const edit = readEdit(rest);
  if (isRefusal(edit)) return edit;
  const before = await locations.find(tx, 'where id = $1 for update', [id]);
  if (before === undefined || !accountIds.includes(before.account_id)) {
    return resourceMissing('location');
  }
  if (before.version !== version) return staleVersion(before.version);
  const which = { where: 'id = $1', values: [id], also: 'version = version + 1' };
  const row = only(await locations.update(tx, edit, which), 'location');
  const ref = { accountId: row.account_id, actor, now };
  await recordAccountChange(tx, ref, {
    action: 'location.changed',
    objectId: id,
    before: locationObject(before),
    after: locationObject(row),
  });
  return row;
}
