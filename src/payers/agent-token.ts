import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import type { AgentTokenRow } from '#payers/agent-token-queries.ts';

export const AGENT_TOKEN_STATUSES = ['active', 'held', 'spent', 'expired', 'revoked'] as const;
export type AgentTokenStatus = (typeof AGENT_TOKEN_STATUSES)[number];

/** `held`: an intent in progress uses the token. `spent`: the token has paid. */
export type TokenUse = 'unused' | 'held' | 'spent';

/** A spent token stays `spent` even if revoked, because the money has moved. */
export function agentTokenStatus(row: AgentTokenRow, use: TokenUse, now: Date): AgentTokenStatus {
  if (use !== 'unused') return use;
  if (row.revoked_at !== null) return 'revoked';
  return row.expires_at <= now ? 'expired' : 'active';
}

/** Renders the token, without its secret, for its payer. */
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
