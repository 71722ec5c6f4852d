import { hashSecret, newSecret } from '#core/bearer-secrets.ts';
import { addSeconds } from '#core/clock.ts';
import { newId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { type AgentTokenRow, agentTokens } from '#payers/agent-token-queries.ts';

/** Limits and default of a token's lifetime, in seconds (behavior.md 13.1). */
export const AGENT_TOKEN_SECONDS = { min: 60, max: 86_400, default: 3_600 } as const;

/** Creates a token that can pay one merchant one amount, once. `secret` is returned only here. */
export async function createAgentToken(
  tx: Tx,
  input: {
    readonly payerId: string;
    /** The merchant. */
    readonly tenant: Tenant;
    /** Atoms, without fees. */
    readonly amount: number;
    /** Seconds, within {@link AGENT_TOKEN_SECONDS}. */
    readonly expiresIn: number;
    readonly now: Date;
  },
): Promise<{ readonly row: AgentTokenRow; readonly secret: string }> {
  const { payerId, tenant, amount, expiresIn, now } = input;
  const secret = newSecret('agentToken', tx.cell);
  const row = await agentTokens.insert(tx, {
    id: newId('agentToken', now),
    hash: hashSecret(secret),
    payer_id: payerId,
    account_id: tenant.accountId,
    livemode: tenant.livemode,
    amount: BigInt(amount),
    created: now,
    expires_at: addSeconds(now, expiresIn),
  });
  return { row, secret };
}
