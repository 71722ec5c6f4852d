import Type from 'typebox';
import { isRefusal } from '#core/refusal.ts';
import { answerPage, readPage } from '#http/paging.ts';
import { defineRoute, type Surface } from '#http/route.ts';
import { listOf, pageParameters } from '#http/schema.ts';
import { agentTokenRoutes } from '#payer-app/agent-token-routes.ts';
import { approvalRoutes } from '#payer-app/approval-routes.ts';
import {
  createPayerAuthenticator,
  type PayerCaller,
  payerOfCaller,
} from '#payer-app/authenticate.ts';
import { confirmationRoutes } from '#payer-app/confirmation-routes.ts';
import type { PayerDeps } from '#payer-app/deps.ts';
import { passRoutes } from '#payer-app/pass-routes.ts';
import { personalDataRoutes } from '#payer-app/personal-data-routes.ts';
import { PayerPaymentSchema } from '#payer-app/schema.ts';
import { OPEN_PATHS, signInRoutes } from '#payer-app/sign-in-routes.ts';
import { selectPayerPayments } from '#payments/payment-queries.ts';
import { renderPayment } from '#payments/render.ts';

const ROOT = '/api/payer/v1';
const HistoryQuery = Type.Object(pageParameters);

function historyRoute(deps: PayerDeps) {
  return defineRoute<PayerCaller, typeof HistoryQuery>({
    method: 'GET',
    path: '/payments',
    operationId: 'listPayerPayments',
    tag: 'Payer app',
    summary: "The payer's payments at all merchants, newest first",
    scope: null,
    idempotency: 'ignored',
    query: HistoryQuery,
    responses: { 200: { schema: listOf(PayerPaymentSchema), description: 'One page.' } },
    errors: ['cursor_invalid'],
    handle: async ({ caller, query }) => {
      const payer = payerOfCaller(caller);
      const { cursorKey } = deps;
      const walk = { list: 'payments of a payer', tenant: caller.tenant, query, cursorKey };
      const page = readPage(walk, query);
      if (isRefusal(page)) return page;
      const found = await selectPayerPayments(deps.db, payer.id, page);
      const rows = found.map(({ payment, merchantName }) => ({
        created: payment.settledAt,
        position: payment.settlementNumber,
        shown: { ...renderPayment(payment), merchant_name: merchantName },
      }));
      return answerPage(walk, page, rows, ({ shown }) => shown);
    },
  });
}

/** The payer app's API (decisions.md section 9). */
export function payerSurface(deps: PayerDeps): Surface<PayerCaller> {
  const open = OPEN_PATHS.map((path) => ROOT + path);
  return {
    root: ROOT,
    authenticate: createPayerAuthenticator(deps.db, open),
    routes: [
      ...signInRoutes(deps),
      ...passRoutes(deps),
      ...approvalRoutes(deps),
      ...confirmationRoutes(deps),
      ...agentTokenRoutes(deps),
      historyRoute(deps),
      ...personalDataRoutes(deps),
    ],
  };
}
