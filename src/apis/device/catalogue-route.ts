import { catalogueItem, readTillCatalogue } from '#accounts/edit-catalogue.ts';
import { deviceRoute } from '#apis/device/device-route.ts';
import { CATALOGUE_ITEM_EXAMPLE, CatalogueList } from '#apis/merchant/catalogue-schema.ts';
import { answerWith } from '#core/answer.ts';
import type { Sql } from '#db/database.ts';

export function catalogueRoute({ db }: { readonly db: Sql }) {
  return deviceRoute({
    method: 'GET',
    path: '/catalogue',
    operationId: 'listDeviceCatalogue',
    moves: 'nothing',
    summary: 'List the items of the till’s catalog',
    description:
      'The catalog of the account and mode, by position. A sale of its items is created with ' +
      'their names, prices and taxes as `line_items`. At a location with tax rates of its own, ' +
      "an item with one of the account's rates has the location's rate of the same name.",
    responses: {
      200: {
        schema: CatalogueList,
        description: 'The catalog.',
        example: { object: 'list', data: [CATALOGUE_ITEM_EXAMPLE] },
      },
    },
    handle: async ({ caller }) => {
      const rows = await readTillCatalogue(db, caller);
      return answerWith(200, { object: 'list', data: rows.map(catalogueItem) });
    },
  });
}
