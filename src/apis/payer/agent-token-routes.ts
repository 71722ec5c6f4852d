import { selectMerchants } from '#accounts/merchant-queries.ts';
import { type PayerCaller, payerOfCaller } from '#apis/payer/authenticate-payer.ts';
import { answerOwnPage, OwnQuery, readOwnPage } from '#apis/payer/page-of-own-objects.ts';
import {
  AgentTokenSchema,
  NewAgentTokenBody,
  NewAgentTokenSchema,
} from '#apis/payer/payer-schema.ts';
import { renderTokens } from '#apis/payer/render-tokens.ts';
import { answerWith, isRefusal, refuse, resourceMissing } from '#core/answer.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import { listOf } from '#http/schema.ts';
import { renderAgentToken } from '#payers/agent-token.ts';
import { revokeAgentTokenRow, selectAgentTokens } from '#payers/agent-token-queries.ts';
import { createAgentToken } from '#payers/create-agent-token.ts';
import type { ApiContext } from '#payments/api-context.ts';

const TAG = 'Payer app';

function createRoute(ctx: ApiContext) {
  return defineRoute<PayerCaller, undefined, typeof NewAgentTokenBody>({
    method: 'POST',
    path: '/agent_tokens',
    operationId: 'createAgentToken',
    moves: 'money',
    tag: TAG,
    summary: 'Create a token with which an AI agent pays this merchant this amount, once',
    scope: null,
    // The response must not be stored, because it contains the token, of which only the hash may be
    // stored.
    idempotency: 'ignored',
    body: NewAgentTokenBody,
    bodyExample: { account: 'acct_01QzXnyWbB0mJr6vGq2Lk9', amount: 2500000, expires_in: 3600 },
    responses: { 201: { schema: NewAgentTokenSchema, description: 'The token, shown only once.' } },
    errors: [],
    handle: async ({ caller, body, now }) => {
      const payer = payerOfCaller(caller);
      const merchants = await selectMerchants(ctx.db, [body.account]);
      const merchant = merchants.find((row) => row.livemode === payer.livemode);
      if (merchant === undefined || merchant.merchant_number === null) {
        const message = 'account is not a merchant that takes payments on this network.';
        return refuse('parameter_invalid', message, 'account');
      }
      const { row, secret } = await ctx.db.transaction((tx) =>
        createAgentToken(tx, {
          payerId: payer.id,
          tenant: { accountId: body.account, livemode: payer.livemode },
          amount: body.amount,
          expiresIn: body.expires_in,
          now,
        }),
      );
      return answerWith(201, { ...renderAgentToken(row, 'active'), agent_token: secret });
    },
  });
}

function listRoute(ctx: ApiContext) {
  return defineRoute<PayerCaller, typeof OwnQuery>({
    method: 'GET',
    path: '/agent_tokens',
    operationId: 'listAgentTokens',
    moves: 'nothing',
    tag: TAG,
    summary: "List the payer's agent tokens: active ones first, then newest first",
    scope: null,
    idempotency: 'ignored',
    query: OwnQuery,
    responses: { 200: { schema: listOf(AgentTokenSchema), description: 'One page.' } },
    errors: ['cursor_invalid'],
    handle: async ({ caller, query, now }) => {
      const cursorKey = ctx.keys.cursor;
      const pagination = {
        list: 'agent tokens of a payer',
        tenant: caller.tenant,
        query,
        cursorKey,
      };
      const page = readOwnPage(pagination, query);
      if (isRefusal(page)) return page;
      const found = await selectAgentTokens(ctx.db, payerOfCaller(caller).id, page);
      return answerOwnPage(pagination, page, found, (rows) => renderTokens(ctx, rows, now));
    },
  });
}

function revokeRoute(ctx: ApiContext) {
  return defineRoute<PayerCaller>({
    method: 'DELETE',
    path: '/agent_tokens/{id}',
    operationId: 'revokeAgentToken',
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Revoke an agent token',
    description:
      'The token pays nothing from now on. A payment already in progress with it is not undone.',
    scope: null,
    idempotency: 'ignored',
    params: { id: 'agentToken' },
    responses: { 200: { schema: AgentTokenSchema, description: 'The token as it is now.' } },
    errors: ['resource_missing'],
    handle: async ({ caller, params, now }) => {
      const { id: payerId } = payerOfCaller(caller);
      // The update locks the row, and so waits for a concurrent confirm with this token.
      const row = await ctx.db.transaction((tx) =>
        revokeAgentTokenRow(tx, { id: params.id ?? '', payerId, now }),
      );
      if (row === undefined) return resourceMissing('agent token');
      const [token] = await renderTokens(ctx, [row], now);
      return answerWith(200, token ?? {});
    },
  });
}

/** Declares the routes that create, list and revoke a payer's agent tokens. */
export function agentTokenRoutes(ctx: ApiContext): AnyRoute<PayerCaller>[] {
  return [createRoute(ctx), listRoute(ctx), revokeRoute(ctx)];
}
