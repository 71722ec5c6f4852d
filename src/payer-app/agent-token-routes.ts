import { selectStandings } from '#accounts/queries.ts';
import { answerWith } from '#core/answer.ts';
import { isRefusal, refuse, resourceMissing } from '#core/refusal.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import { listOf } from '#http/schema.ts';
import { answerOwnPage, OwnQuery, readOwnPage } from '#payer-app/active-first.ts';
import { type PayerCaller, payerOfCaller } from '#payer-app/authenticate.ts';
import type { PayerDeps } from '#payer-app/deps.ts';
import { AgentTokenSchema, NewAgentTokenBody, NewAgentTokenSchema } from '#payer-app/schema.ts';
import { agentTokenStatus, renderAgentToken, type TokenUse } from '#payers/agent-token.ts';
import {
  type AgentTokenRow,
  revokeAgentTokenRow,
  selectAgentTokens,
} from '#payers/agent-token-queries.ts';
import { createAgentToken } from '#payers/create-agent-token.ts';
import { isTokenTaken } from '#payments/credential.ts';
import type { PaymentIntent } from '#payments/payment-intent.ts';
import { selectIntents } from '#payments/queries.ts';

const TAG = 'Payer app';

function useOf(row: AgentTokenRow, intent: PaymentIntent | undefined, now: Date): TokenUse {
  if (intent === undefined || !isTokenTaken(row.id, intent, now)) return 'unused';
  return intent.status === 'succeeded' ? 'spent' : 'held';
}

export async function renderTokens(deps: PayerDeps, rows: readonly AgentTokenRow[], now: Date) {
  const ids = rows.flatMap((row) => row.payment_intent_id ?? []);
  const intents = ids.length === 0 ? [] : await selectIntents(deps.db, ids);
  const byId = new Map(intents.map((intent) => [intent.id, intent]));
  return rows.map((row) => {
    const use = useOf(row, byId.get(row.payment_intent_id ?? ''), now);
    return renderAgentToken(row, agentTokenStatus(row, use, now));
  });
}

function createRoute(deps: PayerDeps) {
  return defineRoute<PayerCaller, undefined, typeof NewAgentTokenBody>({
    method: 'POST',
    path: '/agent_tokens',
    operationId: 'createAgentToken',
    tag: TAG,
    summary: 'A token with which an AI agent pays this merchant this amount, once',
    scope: null,
    // A stored response would keep the token, which is kept as a hash only.
    idempotency: 'ignored',
    body: NewAgentTokenBody,
    bodyExample: { account: 'acct_01QzXnyWbB0mJr6vGq2Lk9', amount: 2500000, expires_in: 3600 },
    responses: { 201: { schema: NewAgentTokenSchema, description: 'The token, shown this once.' } },
    errors: [],
    handle: async ({ caller, body, now }) => {
      const payer = payerOfCaller(caller);
      const standings = await selectStandings(deps.db, [body.account]);
      const merchant = standings.find((row) => row.livemode === payer.livemode);
      if (merchant === undefined || merchant.merchant_number === null) {
        const message = 'account is not a merchant that takes payments on this network.';
        return refuse('parameter_invalid', message, 'account');
      }
      const { row, secret } = await deps.db.transaction((tx) =>
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

function listRoute(deps: PayerDeps) {
  return defineRoute<PayerCaller, typeof OwnQuery>({
    method: 'GET',
    path: '/agent_tokens',
    operationId: 'listAgentTokens',
    tag: TAG,
    summary: "The payer's agent tokens: those that are not revoked first, then newest first",
    scope: null,
    idempotency: 'ignored',
    query: OwnQuery,
    responses: { 200: { schema: listOf(AgentTokenSchema), description: 'One page.' } },
    errors: ['cursor_invalid'],
    handle: async ({ caller, query, now }) => {
      const { cursorKey } = deps;
      const walk = { list: 'agent tokens of a payer', tenant: caller.tenant, query, cursorKey };
      const page = readOwnPage(walk, query);
      if (isRefusal(page)) return page;
      const found = await selectAgentTokens(deps.db, payerOfCaller(caller).id, page);
      return answerOwnPage(walk, page, found, (rows) => renderTokens(deps, rows, now));
    },
  });
}

function revokeRoute(deps: PayerDeps) {
  return defineRoute<PayerCaller>({
    method: 'DELETE',
    path: '/agent_tokens/{id}',
    operationId: 'revokeAgentToken',
    tag: TAG,
    summary: 'Revoke an agent token: it pays nothing more from now on',
    description: 'A payment that is on its way with it is not undone.',
    scope: null,
    idempotency: 'ignored',
    params: { id: 'agentToken' },
    responses: { 200: { schema: AgentTokenSchema, description: 'The token as it is now.' } },
    errors: ['resource_missing'],
    handle: async ({ caller, params, now }) => {
      const { id: payerId } = payerOfCaller(caller);
      // The update waits for a confirm that is being decided with this token, and comes after it.
      const row = await deps.db.transaction((tx) =>
        revokeAgentTokenRow(tx, { id: params.id ?? '', payerId, now }),
      );
      if (row === undefined) return resourceMissing('agent token');
      const [token] = await renderTokens(deps, [row], now);
      return answerWith(200, token ?? {});
    },
  });
}

/** Tokens for AI agents. */
export function agentTokenRoutes(deps: PayerDeps): AnyRoute<PayerCaller>[] {
  return [createRoute(deps), listRoute(deps), revokeRoute(deps)];
}
