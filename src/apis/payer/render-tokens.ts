import { agentTokenStatus, renderAgentToken, type TokenUse } from '#payers/agent-token.ts';
import type { AgentTokenRow } from '#payers/agent-token-queries.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { isTokenTaken } from '#payments/credentials/agent-token.ts';
import { selectIntents } from '#payments/intent-queries.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';

function useOf(row: AgentTokenRow, intent: PaymentIntent | undefined, now: Date): TokenUse {
  if (intent === undefined || !isTokenTaken(row.id, intent, now)) return 'unused';
  return intent.status === 'succeeded' ? 'spent' : 'held';
}

export async function renderTokens(ctx: ApiContext, rows: readonly AgentTokenRow[], now: Date) {
  const ids = rows.flatMap((row) => row.payment_intent_id ?? []);
  const intents = ids.length === 0 ? [] : await selectIntents(ctx.db, ids);
  const byId = new Map(intents.map((intent) => [intent.id, intent]));
  return rows.map((row) => {
    const use = useOf(row, byId.get(row.payment_intent_id ?? ''), now);
    return renderAgentToken(row, agentTokenStatus(row, use, now));
  });
}
