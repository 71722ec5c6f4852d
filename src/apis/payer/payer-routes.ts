import Type from 'typebox';
import { agentTokenRoutes } from '#apis/payer/agent-token-routes.ts';
import { approvalRoutes } from '#apis/payer/approval-routes.ts';
import {
  createPayerAuthenticator,
  type PayerCaller,
  payerOfCaller,
} from '#apis/payer/authenticate-payer.ts';
import { cardRoutes } from '#apis/payer/card-routes.ts';
import { chipRoutes } from '#apis/payer/chip-routes.ts';
import { confirmationRoutes } from '#apis/payer/confirmation-routes.ts';
import { movementRoutes } from '#apis/payer/movement-routes.ts';
import { NETWORKS_PATH, networkRoutes } from '#apis/payer/network-routes.ts';
import { passCodeRoutes } from '#apis/payer/pass-code-routes.ts';
import { passFileRoutes } from '#apis/payer/pass-file-routes.ts';
import { passRoutes } from '#apis/payer/pass-routes.ts';
import { payerRoute } from '#apis/payer/payer-route.ts';
import { PayerPaymentSchema } from '#apis/payer/payer-schema.ts';
import { personalDataRoutes } from '#apis/payer/personal-data-routes.ts';
import { pushRoutes } from '#apis/payer/push-routes.ts';
import { rateRoutes } from '#apis/payer/rate-routes.ts';
import { withWalletConsent } from '#apis/payer/require-fresh-signature.ts';
import { OPEN_PATHS, signInRoutes } from '#apis/payer/sign-in-routes.ts';
import { updateRoutes } from '#apis/payer/update-routes.ts';
import { isRefusal } from '#core/answer.ts';
import { answerPage, readPage } from '#http/cursors.ts';
import type { Surface } from '#http/route.ts';
import { listOf, pageParameters } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectPayerPayments } from '#payments/payment-queries.ts';
import { renderPayment } from '#payments/render.ts';

const ROOT = '/api/payer/v1';
const HistoryQuery = Type.Object(pageParameters);

function historyRoute(ctx: ApiContext) {
  return payerRoute<typeof HistoryQuery>({
    method: 'GET',
    path: '/payments',
    operationId: 'listPayerPayments',
    moves: 'nothing',
    summary: "List the payer's payments at all merchants, newest first",
    query: HistoryQuery,
    responses: { 200: { schema: listOf(PayerPaymentSchema), description: 'One page.' } },
    errors: ['cursor_invalid'],
    handle: async ({ caller, query }) => {
      const payer = payerOfCaller(caller);
      const cursorKey = ctx.keys.cursor;
      const pagination = { list: 'payments of a payer', tenant: caller.tenant, query, cursorKey };
      const page = readPage(pagination, query);
      if (isRefusal(page)) return page;
      const payments = await selectPayerPayments(ctx.db, payer.id, page);
      const rows = payments.map(({ payment, merchantName }) => ({
        created: payment.settled_at,
        position: payment.settlement_number,
        shown: { ...renderPayment(payment, ctx.pages), merchant_name: merchantName },
      }));
      return answerPage(pagination, page, rows, ({ shown }) => shown);
    },
  });
}

/** Declares the payer app's API (behavior.md 14.2). */
export function payerSurface(ctx: ApiContext): Surface<PayerCaller> {
  const open = [...OPEN_PATHS, NETWORKS_PATH].map((path) => ROOT + path);
  return {
    root: ROOT,
    authenticate: createPayerAuthenticator(ctx.db, open),
    routes: [
      ...networkRoutes(ctx),
      ...rateRoutes(ctx),
      ...signInRoutes(ctx),
      ...passRoutes(ctx),
      ...cardRoutes(ctx),
      ...chipRoutes(ctx),
      ...passCodeRoutes(ctx),
      ...passFileRoutes(ctx),
      ...approvalRoutes(ctx),
      ...confirmationRoutes(ctx),
      ...updateRoutes(ctx),
      ...agentTokenRoutes(ctx),
      historyRoute(ctx),
      ...movementRoutes(ctx),
      ...personalDataRoutes(ctx),
      ...pushRoutes(ctx),
    ].map(withWalletConsent),
  };
}
