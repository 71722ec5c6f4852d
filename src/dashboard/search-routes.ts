import Type from 'typebox';
import { getAddress } from 'viem';
import { withdrawalObject } from '#accounts/withdraw.ts';
import { selectWithdrawal } from '#accounts/withdrawal-queries.ts';
import { answerWith } from '#core/answer.ts';
import { isId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import { MAX_AMOUNT } from '#core/money.ts';
import { isRefusal, type Refusal } from '#core/refusal.ts';
import type { PersonCaller } from '#dashboard/caller.ts';
import { type DashboardDeps, MODE } from '#dashboard/dashboard-deps.ts';
import { personRoute } from '#dashboard/person-route.ts';
import { listed } from '#dashboard/person-schema.ts';
import {
  type PaymentSearch,
  searchPayments,
  selectIntentIdByOrder,
} from '#dashboard/search-queries.ts';
import type { Page } from '#db/paging.ts';
import { getEvent } from '#events/list.ts';
import { answerPage, readPage } from '#http/paging.ts';
import type { AnyRoute } from '#http/route.ts';
import { createdParameters, idOf, openObject, pageParameters, text } from '#http/schema.ts';
import { selectPayerByAddress } from '#payers/queries.ts';
import { asOf } from '#payments/payment-intent.ts';
import { selectPayment } from '#payments/payment-queries.ts';
import { selectIntent } from '#payments/queries.ts';
import { renderIntent, renderPayment } from '#payments/render.ts';
import { PaymentList } from '#payments/schema.ts';
import { selectRefund } from '#refunds/queries.ts';
import { renderRefund } from '#refunds/render.ts';
import { terminalObject } from '#terminals/create-terminal.ts';
import { selectTerminal } from '#terminals/queries.ts';

const TAG = 'Search';
/** What one screen shows of payments that share a wallet, a transaction or an amount. */
const SHOWN = 20;

const NOTHING: PaymentSearch = {
  txHash: null,
  amount: null,
  payerId: null,
  intentId: null,
  terminalId: null,
};

const FIRST_PAGE: Page = { limit: SHOWN - 1, after: null, createdGte: null, createdLt: null };

interface Asked {
  readonly tenant: Tenant;
  readonly text: string;
  readonly now: Date;
}

/** The object that an id names, as the API shows it. */
async function findById({ db }: DashboardDeps, asked: Asked): Promise<object | null> {
  const { tenant, text: id, now } = asked;
  if (isId('paymentIntent', id)) {
    const intent = await selectIntent(db, tenant, id);
    return intent === null ? null : renderIntent(asOf(intent, now));
  }
  if (isId('payment', id)) {
    const payment = await selectPayment(db, tenant, id);
    return payment === null ? null : renderPayment(payment);
  }
  if (isId('refund', id)) {
    const refund = await selectRefund(db, tenant, id);
    return refund === null ? null : renderRefund(refund);
  }
  if (isId('terminal', id)) {
    const row = await selectTerminal(db, tenant, id);
    return row === null ? null : terminalObject(row);
  }
  if (isId('withdrawal', id)) {
    const row = await selectWithdrawal(db, tenant, id);
    return row === undefined ? null : withdrawalObject(row);
  }
  if (isId('event', id)) {
    const event = await getEvent(db, tenant, { id, now });
    return isRefusal(event) ? null : (JSON.parse(event.body) as object);
  }
  return null;
}

/** Which payments a text may mean: a transaction, a wallet, an amount; null for none of these. */
async function paymentsMeant({ db }: DashboardDeps, asked: Asked): Promise<PaymentSearch | null> {
  const { text: wanted, tenant } = asked;
  if (/^0x[0-9a-f]{64}$/i.test(wanted)) return { ...NOTHING, txHash: wanted.toLowerCase() };
  if (/^0x[0-9a-f]{40}$/i.test(wanted)) {
    const address = getAddress(wanted.toLowerCase());
    const payer = await selectPayerByAddress(db, { livemode: tenant.livemode, address });
    return payer === undefined ? null : { ...NOTHING, payerId: payer.id };
  }
  const [, whole, fraction = ''] = /^(\d{1,7})[.,](\d{1,6})$/.exec(wanted) ?? [];
  if (whole === undefined) return null;
  return { ...NOTHING, amount: Number(whole + fraction.padEnd(6, '0')) };
}

async function find(deps: DashboardDeps, asked: Asked): Promise<object[]> {
  const { db } = deps;
  const { tenant, now } = asked;
  const byId = await findById(deps, asked);
  if (byId !== null) return [byId];
  const search = await paymentsMeant(deps, asked);
  if (search !== null) {
    return (await searchPayments(db, { tenant, search }, FIRST_PAGE)).map(renderPayment);
  }
  if (!/^[A-Za-z0-9_-]{1,8}$/.test(asked.text)) return [];
  const intentId = await selectIntentIdByOrder(db, tenant, asked.text);
  const intent = intentId === null ? null : await selectIntent(db, tenant, intentId);
  if (intent === null) return [];
  const ofIntent = { ...NOTHING, intentId: intent.id };
  const payments = await searchPayments(db, { tenant, search: ofIntent }, FIRST_PAGE);
  return [renderIntent(asOf(intent, now)), ...payments.map(renderPayment)];
}

const FindQuery = Type.Object({
  q: text(100, 'An id, an order id, a transaction hash, a wallet, or an amount such as 2.50.', 1),
});

function findRoute(deps: DashboardDeps) {
  return personRoute<typeof FindQuery>({
    method: 'GET',
    path: `${MODE}/search`,
    operationId: 'search',
    tag: TAG,
    summary: 'What a person has at hand: an id, order id, transaction, wallet or amount',
    access: 'viewer',
    query: FindQuery,
    response: listed(openObject('An object of the API, as its own route shows it.')),
    handle: async ({ caller, query, now }) => {
      const data = await find(deps, { tenant: caller.tenant, text: query.q.trim(), now });
      return answerWith(200, { object: 'list', data });
    },
  });
}

const SearchQuery = Type.Object({
  ...pageParameters,
  ...createdParameters,
  order_id: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,8}$' })),
  tx_hash: Type.Optional(Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' })),
  payer: Type.Optional(Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })),
  amount: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_AMOUNT, description: 'Atoms.' })),
  terminal: Type.Optional(idOf('tml_', 'terminal')),
});

/** The filters as columns; null when one of them names nothing that exists. */
async function toSearch(
  { db }: DashboardDeps,
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
  if (intentId === null) return null;
  return {
    txHash: query.tx_hash?.toLowerCase() ?? null,
    amount: query.amount ?? null,
    payerId: payer?.id ?? null,
    intentId: intentId ?? null,
    terminalId: query.terminal ?? null,
  };
}

function searchRoute(deps: DashboardDeps) {
  return personRoute<typeof SearchQuery>({
    method: 'GET',
    path: `${MODE}/payments/search`,
    operationId: 'searchPayments',
    tag: TAG,
    summary: 'Payments by order id, transaction, wallet, amount, terminal and time, newest first',
    access: 'viewer',
    query: SearchQuery,
    response: PaymentList,
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant }, query }) => {
      const walk = { list: 'payment search', tenant, query, cursorKey: deps.cursorKey };
      const page: Page | Refusal = readPage(walk, query);
      if (isRefusal(page)) return page;
      const search = await toSearch(deps, tenant, query);
      const rows = search === null ? [] : await searchPayments(deps.db, { tenant, search }, page);
      return answerPage(walk, page, rows, renderPayment);
    },
  });
}

export function searchRoutes(deps: DashboardDeps): AnyRoute<PersonCaller>[] {
  return [findRoute(deps), searchRoute(deps)];
}
