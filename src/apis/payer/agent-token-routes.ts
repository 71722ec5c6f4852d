import { selectMerchants } from '#accounts/merchant-queries.ts';
import { payerOfCaller } from '#apis/payer/authenticate-payer.ts';
import { ownListRoute } from '#apis/payer/page-of-own-objects.ts';
import { type PayerRoute, payerRoute } from '#apis/payer/payer-route.ts';
import {
  AgentTokenSchema,
  NewAgentTokenBody,
  NewAgentTokenSchema,
} from '#apis/payer/payer-schema.ts';
import { renderTokens } from '#apis/payer/render-tokens.ts';
import { answerWith, refuse, resourceMissing } from '#core/answer.ts';
import { listOf } from '#http/schema.ts';
import { renderAgentToken } from '#payers/agent-token.ts';
import { revokeAgentTokenRow, selectAgentTokens } from '#payers/agent-token-queries.ts';
import { createAgentToken } from '#payers/create-agent-token.ts';
import type { ApiContext } from '#payments/api-context.ts';

function createRoute(ctx: ApiContext) {
  return payerRoute<undefined, typeof NewAgentTokenBody>({
    method: 'POST',
    path: '/agent_tokens',
    operationId: 'createAgentToken',
    moves: 'money',
    summary: 'Create a token with which an AI agent pays this merchant this amount, once',
    body: NewAgentTokenBody,
    bodyExample: { account: 'acct_01QzXnyWbB0mJr6vGq2Lk9', amount: 2500000, expires_in: 3600 },
    responses: { 201: { schema: NewAgentTokenSchema, description: 'The token, shown only once.' } },
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
  return ownListRoute(ctx, {
    of: 'agent tokens',
    path: '/agent_tokens',
    operationId: 'listAgentTokens',
    response: { schema: listOf(AgentTokenSchema), description: 'One page.' },
    select: selectAgentTokens,
    render: (rows, { now }) => renderTokens(ctx, rows, now),
  });
}

function revokeRoute(ctx: ApiContext) {
  return payerRoute({
    method: 'DELETE',
    path: '/agent_tokens/{id}',
    operationId: 'revokeAgentToken',
    moves: 'access',
    asks: 'never',
    summary: 'Revoke an agent token',
    description:
      'The token pays nothing from now on. A payment already in progress with it is not undone.',
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

export function agentTokenRoutes(ctx: ApiContext): PayerRoute[] {
  return [createRoute(ctx), listRoute(ctx), revokeRoute(ctx)];
}
