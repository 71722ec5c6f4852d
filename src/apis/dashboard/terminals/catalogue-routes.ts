import Type from 'typebox';
import { selectCatalogue } from '#accounts/catalogue-queries.ts';
import {
  catalogueItem,
  createCatalogueItem,
  editCatalogueItem,
  removeCatalogueItem,
} from '#accounts/edit-catalogue.ts';
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
  ...{ category: 'inner', options: 'printed' },
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
      "account's settings, `tax_rate` to 0. A catalog has at most 500 items.",
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

export function catalogueRoutes(ctx: ApiContext): PersonRoute[] {
  return [listRoute(ctx), createRoute(ctx), updateRoute(ctx), deleteRoute(ctx)];
}
