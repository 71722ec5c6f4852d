import Type from 'typebox';
import {
  createLocation,
  editLocation,
  locationObject,
  selectLocations,
} from '#accounts/locations.ts';
import { shopFields, TimeZone, VersionOut } from '#apis/dashboard/account/account-schema.ts';
import {
  actorOf,
  ORGANIZATION,
  type PersonRoute,
  personRoute,
} from '#apis/dashboard/person-route.ts';
import { listed, PersonName, Version } from '#apis/dashboard/person-schema.ts';
import { answerWith, isRefusal, refuse } from '#core/answer.ts';
import type { SettingClasses } from '#core/setting-classes.ts';
import type { Sql } from '#db/database.ts';
import { idOf, nullable, objectType, oneOf, Timestamp } from '#http/schema.ts';
import { LANGUAGES } from '#i18n/languages.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectAccountsIn } from '#people/organizations.ts';

const TAG = 'Organizations';
const PATH = `${ORGANIZATION}/locations`;

const edit = {
  address: shopFields.address,
  time_zone: TimeZone,
  currency: nullable(
    Type.String({
      pattern: '^[a-z]{3}$',
      description:
        'The currency of its tills: ISO 4217, in lowercase; `null` for the account’s currency.',
      examples: ['eur'],
    }),
  ),
  language: nullable(
    oneOf(LANGUAGES, 'The language of its customers; `null` for the account’s language.'),
  ),
  tax_rates: nullable({
    ...shopFields.tax_rates,
    description: 'Its tax rates; `null` for the account’s rates.',
  }),
};

/** A location is the shop that its receipts name. */
const LOCATION_FIELDS: SettingClasses = {
  ...{ name: 'printed', address: 'printed', currency: 'printed', tax_rates: 'printed' },
  ...{ account: 'inner', time_zone: 'inner', language: 'inner' },
};

const LocationSchema = Type.Object(
  {
    id: idOf('loc_', 'location'),
    object: objectType('location'),
    account: idOf('acct_', 'account'),
    name: PersonName,
    ...edit,
    version: VersionOut,
    created: Timestamp,
  },
  { title: 'Location', description: 'A place where an account sells.' },
);

const optional = Type.Partial(Type.Object(edit)).properties;

const NewLocation = Type.Object({
  account: idOf('acct_', 'account'),
  name: PersonName,
  ...optional,
});

const EditedLocation = Type.Object({
  version: Version,
  name: Type.Optional(PersonName),
  ...optional,
});

async function accountIdsOf(sql: Sql, organizationId = ''): Promise<string[]> {
  return (await selectAccountsIn(sql, organizationId)).map(({ id }) => id);
}

function listRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: PATH,
    operationId: 'listLocations',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the locations of all accounts of an organization',
    access: 'viewer',
    response: listed(LocationSchema, 'The locations, oldest first.'),
    handle: async ({ params }) => {
      const rows = await selectLocations(db, await accountIdsOf(db, params.org));
      return answerWith(200, { object: 'list', data: rows.map(locationObject) });
    },
  });
}

function createRoute({ db }: ApiContext) {
  return personRoute<undefined, typeof NewLocation>({
    method: 'POST',
    path: PATH,
    operationId: 'createLocation',
    moves: 'data',
    tag: TAG,
    summary: 'Add a location to an account of the organization',
    description:
      'Its days begin at the account’s `day_starts_at` in `time_zone`; default: the account’s ' +
      'zone. What is omitted or `null` follows the account.',
    access: 'admin',
    settings: LOCATION_FIELDS,
    body: NewLocation,
    status: 201,
    response: LocationSchema,
    errors: ['unexpected_state'],
    handle: async ({ caller, params, body: { account: accountId, ...input }, requestId, now }) => {
      if (!(await accountIdsOf(db, params.org)).includes(accountId)) {
        const message = 'account is not one of the accounts of this organization.';
        return refuse('parameter_invalid', message, 'account');
      }
      const ref = { accountId, actor: actorOf(caller, requestId), now };
      const row = await db.transaction((tx) => createLocation(tx, ref, input));
      return isRefusal(row) ? row : answerWith(201, locationObject(row));
    },
  });
}

function editRoute({ db }: ApiContext) {
  return personRoute<undefined, typeof EditedLocation>({
    method: 'PATCH',
    path: `${PATH}/{id}`,
    operationId: 'updateLocation',
    moves: 'data',
    tag: TAG,
    summary: 'Change a location',
    description: 'Sales stay with the location where they were made.',
    access: 'admin',
    params: { id: 'location' },
    settings: LOCATION_FIELDS,
    body: EditedLocation,
    response: LocationSchema,
    errors: ['version_conflict'],
    handle: async ({ caller, params, body, requestId, now }) => {
      const accountIds = await accountIdsOf(db, params.org);
      const ref = { accountIds, id: params.id ?? '', actor: actorOf(caller, requestId), now };
      const row = await db.transaction((tx) => editLocation(tx, ref, body));
      return isRefusal(row) ? row : answerWith(200, locationObject(row));
    },
  });
}

export function locationRoutes(ctx: ApiContext): PersonRoute[] {
  return [listRoute(ctx), createRoute(ctx), editRoute(ctx)];
}
