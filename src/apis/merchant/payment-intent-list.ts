import Type from 'typebox';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { IntentListForPeople, OrderId, PaymentIntentList } from '#apis/merchant/payment-schema.ts';
import type { Page } from '#db/paging.ts';
import { answerList } from '#http/cursors.ts';
import { defineRoute } from '#http/route.ts';
import { createdParameters, idOf, oneOf, pageParameters } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectIntentPage } from '#payments/intent-page.ts';
import { INTENT_STATUSES } from '#payments/intent-rows.ts';
import { renderIntent, renderIntentForPeople } from '#payments/render.ts';

const IntentListQuery = Type.Object({
  ...pageParameters,
  ...createdParameters,
  terminal: Type.Optional(idOf('tml_', 'terminal')),
  source: Type.Optional(oneOf(['api', 'terminal'] as const, 'Who created it.')),
  order_id: Type.Optional(OrderId),
  status: Type.Optional(
    oneOf(INTENT_STATUSES, 'The current status: an unpaid, expired intent counts as canceled.'),
  ),
});

const FOR_SERVERS = { schema: PaymentIntentList, render: renderIntent };
const FOR_PEOPLE = { schema: IntentListForPeople, render: renderIntentForPeople };

/** @param forPeople Adds the customer's total. */
export function listRoute(ctx: ApiContext, { forPeople = false } = {}) {
  const { schema, render } = forPeople ? FOR_PEOPLE : FOR_SERVERS;
  return defineRoute<MerchantCaller, typeof IntentListQuery>({
    method: 'GET',
    path: '/payment_intents',
    operationId: 'listPaymentIntents',
    moves: 'nothing',
    tag: 'Payment intents',
    summary: 'List payment intents, newest first',
    scope: 'payments:read',
    idempotency: 'ignored',
    query: IntentListQuery,
    responses: { 200: { schema, description: 'One page.' } },
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant }, query, now }) => {
      const pagination = { list: 'payment_intents', tenant, query, cursorKey: ctx.keys.cursor };
      const filters = {
        terminal_id: query.terminal ?? null,
        source: query.source ?? null,
        order_id: query.order_id ?? null,
        status: query.status ?? null,
      };
      const read = (page: Page) => selectIntentPage(ctx.db, { tenant, filters, now }, page);
      return answerList(pagination, read, render);
    },
  });
}
