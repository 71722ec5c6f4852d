import Type from 'typebox';
import { selectDeclinedIntents } from '#apis/dashboard/payments/search-queries.ts';
import { MODE, personRoute } from '#apis/dashboard/person-route.ts';
import { IntentListForPeople } from '#apis/merchant/payment-schema.ts';
import type { Page } from '#db/paging.ts';
import { answerList } from '#http/cursors.ts';
import { createdParameters, idOf, oneOf, pageParameters } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { DECLINES } from '#payments/decline-codes.ts';
import { renderIntentForPeople } from '#payments/render.ts';

const DeclinedQuery = Type.Object({
  ...pageParameters,
  ...createdParameters,
  decline_code: oneOf(Object.keys(DECLINES), 'The code of the last decline.'),
  terminal: Type.Optional(idOf('tml_', 'terminal')),
});

export function declinedRoute({ db, keys: { cursor: cursorKey } }: ApiContext) {
  return personRoute<typeof DeclinedQuery>({
    method: 'GET',
    path: `${MODE}/declined_payment_intents`,
    operationId: 'listDeclinedPaymentIntents',
    moves: 'nothing',
    tag: 'Search',
    summary: 'List payment intents by the code of their last decline, newest first',
    description: 'Includes intents that were paid after the decline.',
    access: 'viewer',
    query: DeclinedQuery,
    response: IntentListForPeople,
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant }, query, now }) => {
      const pagination = { list: 'declined intents', tenant, query, cursorKey };
      const { decline_code: code, terminal = null } = query;
      const filter = { tenant, code, terminal, now };
      const read = (page: Page) => selectDeclinedIntents(db, filter, page);
      return answerList(pagination, read, renderIntentForPeople);
    },
  });
}
