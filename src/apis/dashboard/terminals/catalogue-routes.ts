import Type from 'typebox';
import { catalogueFile } from '#accounts/catalogue-file.ts';
import { selectCatalogue } from '#accounts/catalogue-queries.ts';
import {
  catalogueItem,
  createCatalogueItem,
  editCatalogueItem,
  removeCatalogueItem,
} from '#accounts/edit-catalogue.ts';
import { importCatalogue } from '#accounts/import-catalogue.ts';
import { selectShopSettings } from '#accounts/shop-settings.ts';
import {
  actorOf,
  MODE,
  type PersonRequest,
  type PersonRoute,
  personRoute,
} from '#apis/dashboard/person-route.ts';
import { Version } from '#apis/dashboard/person-schema.ts';
import {
  CatalogueItemEdit,
  CatalogueItemSchema,
  CatalogueList,
  ImportSchema,
  NewCatalogueItemBody,
} from '#apis/merchant/catalogue-schema.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import type { SettingClasses } from '#core/setting-classes.ts';
import { idOf, objectType } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';

const TAG = 'Catalog';
const PATH = `${MODE}/catalogue`;

const ITEM_FIELDS: SettingClasses = {
  ...{ name: 'printed', unit_amount: 'printed', currency: 'printed' },
  ...{ tax_rate: 'printed', tax_inclusive: 'printed', color: 'inner', position: 'inner' },
  ...{ category: 'inner', barcode: 'inner', options: 'printed' },
};

function refOf({ caller, params, requestId, now }: PersonRequest) {
  const actor = actorOf(caller, requestId);
  return { tenant: caller.tenant, id: params.item ?? '', actor, now };
}

function listRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: PATH,
    operationId: 'listCatalogue',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the items of the catalog, by position',
    access: 'viewer',
    response: CatalogueList,
    handle: async ({ caller }) => {
      const rows = await selectCatalogue(db, caller.tenant);
      return answerWith(200, { object: 'list', data: rows.map(catalogueItem) });
    },
  });
}

function createRoute({ db }: ApiContext) {
  return personRoute<undefined, typeof NewCatalogueItemBody>({
    method: 'POST',
    path: PATH,
    operationId: 'createCatalogueItem',
    moves: 'data',
    tag: TAG,
    summary: 'Add an item to the catalog',
    description:
      'Without `position` the new item is the last one. If another item has that position, it ' +
      'and all items behind it move back by one. `currency` and `tax_inclusive` default to the ' +
      "account's settings, `tax_rate` to 0. A catalog has at most 2,000 items.",
    access: 'admin',
    settings: ITEM_FIELDS,
    body: NewCatalogueItemBody,
    status: 201,
    response: CatalogueItemSchema,
    errors: ['unexpected_state'],
    handle: async (request) => {
      const row = await db.transaction((tx) =>
        createCatalogueItem(tx, refOf(request), request.body),
      );
      return isRefusal(row) ? row : answerWith(201, catalogueItem(row));
    },
  });
}

const EditBody = Type.Object({ version: Version, ...CatalogueItemEdit });

function updateRoute({ db }: ApiContext) {
  return personRoute<undefined, typeof EditBody>({
    method: 'PATCH',
    path: `${PATH}/{item}`,
    operationId: 'updateCatalogueItem',
    moves: 'data',
    tag: TAG,
    summary: 'Change an item of the catalog, or move it',
    description: 'Existing sales keep their lines.',
    access: 'admin',
    params: { item: 'catalogueItem' },
    settings: ITEM_FIELDS,
    body: EditBody,
    response: CatalogueItemSchema,
    errors: ['version_conflict'],
    handle: async (request) => {
      const row = await db.transaction((tx) => editCatalogueItem(tx, refOf(request), request.body));
      return isRefusal(row) ? row : answerWith(200, catalogueItem(row));
    },
  });
}

const DeletedSchema = Type.Object(
  {
    id: idOf('item_', 'catalog item'),
    object: objectType('catalogue_item'),
    deleted: Type.Literal(true, { description: 'The item is deleted.' }),
  },
  { description: 'The item is deleted.' },
);

function deleteRoute({ db }: ApiContext) {
  return personRoute({
    method: 'DELETE',
    path: `${PATH}/{item}`,
    operationId: 'deleteCatalogueItem',
    moves: 'data',
    tag: TAG,
    summary: 'Delete an item of the catalog',
    description: 'Existing sales keep their lines.',
    access: 'admin',
    params: { item: 'catalogueItem' },
    settings: ITEM_FIELDS,
    response: DeletedSchema,
    handle: async (request) => {
      const ref = refOf(request);
      const refusal = await db.transaction((tx) => removeCatalogueItem(tx, ref));
      return refusal ?? answerWith(200, { id: ref.id, object: 'catalogue_item', deleted: true });
    },
  });
}

function fileRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${PATH}.csv`,
    operationId: 'exportCatalogue',
    moves: 'nothing',
    tag: TAG,
    summary: 'Download the catalog as CSV',
    description:
      "The items that are priced in the shop's currency, with the columns `name`, `price`, " +
      '`tax_rate` (percent), `category`, `barcode` and `color`. UTF-8 with a byte order mark. An ' +
      'import of the same file changes nothing.',
    access: 'viewer',
    returns: 'The catalog.',
    sends: ['text/csv; charset=utf-8'],
    example: 'name,price,tax_rate,category,barcode,color\r\n"Tea","2.50","19.00",,,\r\n',
    handle: async ({ caller }) => {
      const { tenant } = caller;
      const [rows, settings] = await Promise.all([
        selectCatalogue(db, tenant),
        selectShopSettings(db, tenant.accountId),
      ]);
      const headers = {
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': 'attachment; filename="catalogue.csv"',
      };
      return { status: 200, headers, body: catalogueFile(rows, settings) };
    },
  });
}

/** Ample for 2,000 rows with long names. */
const MAX_FILE_BYTES = 1_048_576;

const ImportQuery = Type.Object({
  preview: Type.Optional(
    Type.Boolean({
      default: true,
      description: '`false` to import the file. By default, nothing is changed.',
    }),
  ),
});

function importRoute({ db }: ApiContext) {
  return personRoute<typeof ImportQuery>({
    method: 'POST',
    path: `${PATH}/import`,
    operationId: 'importCatalogue',
    moves: 'data',
    tag: TAG,
    summary: 'Import items from a CSV file: the file itself is the request body',
    description:
      'A file with the columns of the export, in any order; `name` and `price` are required, and ' +
      'at most 2,000 rows and 1 MiB. A row changes the item with its barcode, or else the item ' +
      'with its name, or adds one. A column that the file lacks changes nothing; an empty cell ' +
      'removes the value, except that of `tax_rate`. Either all rows are imported or, if one has ' +
      'an error, none.',
    access: 'admin',
    settings: ITEM_FIELDS,
    query: ImportQuery,
    upload: { contentTypes: ['text/csv'], maxBytes: MAX_FILE_BYTES },
    response: ImportSchema,
    errors: ['parameter_invalid', 'body_too_large', 'content_type_unsupported'],
    handle: async (request) => {
      const { query, bytes } = request;
      const isPreview = query.preview ?? true;
      const done = await importCatalogue(db, refOf(request), { bytes, isPreview });
      return isRefusal(done) ? done : answerWith(200, done);
    },
  });
}

export function catalogueRoutes(ctx: ApiContext): PersonRoute[] {
  return [
    ...[listRoute(ctx), createRoute(ctx), updateRoute(ctx), deleteRoute(ctx)],
    ...[fileRoute(ctx), importRoute(ctx)],
  ];
}
