import Type from 'typebox';
import { getAddress } from 'viem';
import { find } from '#apis/dashboard/payments/find-objects.ts';
import {
  type PaymentSearch,
  searchPayments,
  selectIntentIdByOrder,
} from '#apis/dashboard/payments/search-queries.ts';
import { MODE, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { listed } from '#apis/dashboard/person-schema.ts';
import { PaymentList } from '#apis/merchant/payment-schema.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import { atoms, MAX_AMOUNT } from '#core/money.ts';
import { answerPage, readPage } from '#http/cursors.ts';
import { createdParameters, idOf, openObject, pageParameters, text } from '#http/schema.ts';
import { selectPayerByAddress } from '#payers/payer-queries.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { renderPayment } from '#payments/render.ts';

const TAG = 'Search';

const SearchAmount = Type.Integer({
  minimum: 1,
  maximum: MAX_AMOUNT,
  description: 'USDC atoms. Whole cents (multiples of 10000) also find amounts that round to them.',
});

const FindQuery = Type.Object({
  q: text(100, 'An id, an order id, a transaction hash, or a wallet.', 1),
  amount: Type.Optional(SearchAmount),
});

function findRoute(ctx: ApiContext) {
  return personRoute<typeof FindQuery>({
    method: 'GET',
    path: `${MODE}/search`,
    operationId: 'search',
    moves: 'nothing',
    tag: TAG,
    summary: 'Find objects by id, order id, transaction, wallet or amount',
    access: 'viewer',
    query: FindQuery,
    response: listed(
      openObject('An object of the API, as its own route shows it.'),
      'The results.',
    ),
    handle: async ({ caller, query, now }) => {
      const amount = query.amount === undefined ? null : atoms(query.amount);
      const data = await find(ctx, { tenant: caller.tenant, text: query.q.trim(), amount, now });
      return answerWith(200, { object: 'list', data });
    },
  });
}

const SearchQuery = Type.Object({
  ...pageParameters,
  ...createdParameters,
  order_id: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_-]{1,8}$',
      description: 'The order id. With `amount`: payments that match either.',
    }),
  ),
  tx_hash: Type.Optional(
    Type.String({
      pattern: '^0x[0-9a-fA-F]{64}$',
      description: 'The transaction that settled the payment.',
    }),
  ),
  payer: Type.Optional(
    Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'The wallet that paid.' }),
  ),
  amount: Type.Optional(SearchAmount),
  terminal: Type.Optional(idOf('tml_', 'terminal')),
});

/**
 * Converts the filters to column values; `null` if a filter names an object that does not exist.
 */
async function toSearch(
  { db }: ApiContext,
  tenant: Tenant,
  query: Type.Static<typeof SearchQuery>,
): Promise<PaymentSearch | null> {
  const address = query.payer === undefined ? null : getAddress(query.payer.toLowerCase());
  const payer =
    address === null
      ? null
      : await selectPayerByAddress(db, { livemode: tenant.livemode, address });
  if (payer === undefined) return null;
  const intentId =
    query.order_id === undefined
      ? undefined
      : await selectIntentIdByOrder(db, tenant, query.order_id);
  if (intentId === null && query.amount === undefined) return null;
  return {
    txHash: query.tx_hash?.toLowerCase() ?? null,
    amount: query.amount === undefined ? null : atoms(query.amount),
    payerId: payer?.id ?? null,
    intentId: intentId ?? null,
    terminalId: query.terminal ?? null,
  };
}

function searchRoute(ctx: ApiContext) {
  return personRoute<typeof SearchQuery>({
    method: 'GET',
    path: `${MODE}/payments/search`,
    operationId: 'searchPayments',
    moves: 'nothing',
    tag: TAG,
    summary:
      'Search payments by order id, transaction, wallet, amount, terminal and time, newest first',
    access: 'viewer',
    query: SearchQuery,
    response: PaymentList,
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant }, query }) => {
      const pagination = { list: 'payment search', tenant, query, cursorKey: ctx.keys.cursor };
      const page = readPage(pagination, query);
      if (isRefusal(page)) return page;
      const search = await toSearch(ctx, tenant, query);
      const rows = search === null ? [] : await searchPayments(ctx.db, { tenant, search }, page);
      return answerPage(pagination, page, rows, (row) => renderPayment(row, ctx.pages));
    },
  });
}

export function searchRoutes(ctx: ApiContext): PersonRoute[] {
  return [findRoute(ctx), searchRoute(ctx)];
}
