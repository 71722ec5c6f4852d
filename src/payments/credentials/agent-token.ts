import { tenantOf } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import {
  type AgentTokenRow,
  lockAgentToken,
  lockAgentTokens,
  updateAgentTokenIntents,
} from '#payers/agent-token-queries.ts';
import { selectPayersByCredential } from '#payers/payer-queries.ts';
import {
  type CredentialKind,
  foundBy,
  hashOf,
  type Secret,
  type Stored,
} from '#payments/credentials/credential-kind.ts';
import { selectIntents } from '#payments/intent-queries.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import { asOf } from '#payments/payment-intent.ts';

interface TokenState {
  readonly type: 'agent_token';
  readonly payerId: string;
  readonly token: AgentTokenRow;
  /** The intent for which the token was last accepted. */
  readonly usedBy: PaymentIntent | null;
}

/**
 * Adds the intents that the tokens pay. Reads them in a second statement, because a statement that
 * waited for the tokens' locks still sees other tables as they were before.
 */
async function withUses<T extends AgentTokenRow>(tx: Tx, tokens: readonly T[]) {
  const ids = tokens.flatMap((token) => token.payment_intent_id ?? []);
  const intents = ids.length === 0 ? [] : await selectIntents(tx, ids);
  const byId = new Map(intents.map((intent) => [intent.id, intent]));
  return tokens.map((token) => {
    const usedBy = byId.get(token.payment_intent_id ?? '') ?? null;
    return {
      token,
      found: { type: 'agent_token', payerId: token.payer_id, token, usedBy } as const,
    };
  });
}

/** True if the token is paying, or has paid, another intent. */
export function isTokenTaken(tokenId: string, usedBy: PaymentIntent | null, now: Date): boolean {
  if (usedBy === null) return false;
  const intent = asOf(usedBy, now);
  if (intent.status === 'requires_payment_method' || intent.status === 'canceled') return false;
  const { credential } = intent.attempt;
  return credential.type === 'agent_token' && credential.tokenId === tokenId;
}

/** A secret that can pay one amount to one merchant, once. */
export const agentToken: CredentialKind<Secret<'agent_token'>, TokenState> = {
  unknown: 'agent_token_unknown',
  isTap: () => false,
  ...foundBy(hashOf('agentToken'), selectPayersByCredential, async (tx, hashes) => {
    const used = await withUses(tx, await lockAgentTokens(tx, hashes));
    return used.map(({ token, found }) => [token.hash, found]);
  }),
  // Locks the token as a confirm does, so that only one of several concurrent decisions finds it
  // unused.
  async lockAgain(tx, { tokenId }: Stored<'agent_token'>) {
    const token = await lockAgentToken(tx, tokenId);
    const [used] = token === undefined ? [] : await withUses(tx, [token]);
    return used?.found ?? null;
  },
  stored: ({ token }) => ({ type: 'agent_token', tokenId: token.id }),
  check({ token, usedBy }, { intent, now }) {
    const { accountId, livemode } = tenantOf(intent);
    const matches =
      token.account_id === accountId &&
      token.livemode === livemode &&
      token.amount === intent.amount;
    if (!matches) return 'agent_token_mismatch';
    if (usedBy?.id !== intent.id && isTokenTaken(token.id, usedBy, now)) return 'agent_token_used';
    if (token.revoked_at !== null || token.expires_at <= now) return 'agent_token_expired';
    return null;
  },
  paying: (state, intent) => ({ ...state, usedBy: intent }),
  async consume(tx, used) {
    const uses = used.flatMap(({ token: { id }, usedBy }) =>
      usedBy === null ? [] : [{ id, paymentIntentId: usedBy.id }],
    );
    await updateAgentTokenIntents(tx, uses);
  },
};
