import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import type { AgentTokenRow } from '#payers/agent-token-queries.ts';

export const AGENT_TOKEN_STATUSES = ['active', 'held', 'spent', 'expired', 'revoked'] as const;
export type AgentTokenStatus = (typeof AGENT_TOKEN_STATUSES)[number];

/** Whether an intent in flight holds the token, or has spent it. */
export type TokenUse = 'unused' | 'held' | 'spent';

/** A spent token stays `spent` when it is revoked, because the money has moved. */
export function agentTokenStatus(row: AgentTokenRow, use: TokenUse, now: Date): AgentTokenStatus {
  if (use !== 'unused') return use;
  if (row.revoked_at !== null) return 'revoked';
  return row.expires_at <= now ? 'expired' : 'active';
}

/** Renders the token as its payer sees it, without the secret. */
export function renderAgentToken(row: AgentTokenRow, status: AgentTokenStatus) {
  return {
    id: row.id,
    object: 'agent_token',
    livemode: row.livemode,
    network: networkOf(row.livemode),
    account: row.account_id,
    amount: toJsonAtoms(row.amount),
    currency: 'usdc',
    status,
    payment_intent: row.payment_intent_id,
    expires_at: row.expires_at.toISOString(),
    created: row.created.toISOString(),
  };
}
