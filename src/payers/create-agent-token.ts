import { present } from '#core/assert.ts';
import { addSeconds } from '#core/clock.ts';
import { newId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import { hashSecret, newSecret } from '#core/secrets.ts';
import type { Tx } from '#db/database.ts';
import { type AgentTokenRow, insertAgentToken } from '#payers/agent-token-queries.ts';

/** How long a token may live, in seconds (behavior.md 13.1). */
export const AGENT_TOKEN_SECONDS = { min: 60, max: 86_400, default: 3_600 } as const;

/** A token that pays this merchant this amount once; `secret` is shown only once. */
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
  const row = await insertAgentToken(tx, {
    id: newId('agentToken', now),
    hash: hashSecret(secret),
    payerId,
    tenant,
    amount: BigInt(amount),
    now,
    expiresAt: addSeconds(now, expiresIn),
  });
  return { row: present(row, 'new agent token'), secret };
}
