import type { Sql, Tx } from '#db/database.ts';
import { type Row, table } from '#db/table.ts';
import { type OwnPage, selectActiveFirst } from '#payers/list-active-first.ts';
import { type Revoking, revoking } from '#payers/payer-queries.ts';

export const agentTokens = table(
  'agent_tokens',
  {
    id: 'text',
    payer_id: 'text',
    account_id: 'text',
    livemode: 'boolean',
    amount: 'bigint',
    created: 'timestamptz',
    expires_at: 'timestamptz',
    revoked_at: 'timestamptz?',
    payment_intent_id: 'text?',
  },
  { hash: 'bytea' },
);

export type AgentTokenRow = Row<typeof agentTokens>;

/**
 * Locks tokens in ID order, so that concurrent confirms with one token are decided one at a time,
 * even for different intents, and no two transactions deadlock.
 */
export async function lockAgentTokens(
  tx: Tx,
  hashes: readonly Buffer[],
): Promise<(AgentTokenRow & { hash: Buffer })[]> {
  return tx.query(
    `select ${agentTokens.columns}, hash from agent_tokens where hash = any($1)
     order by id for update`,
    [hashes],
  );
}

export async function lockAgentToken(tx: Tx, id: string): Promise<AgentTokenRow | undefined> {
  return agentTokens.find(tx, 'where id = $1 for update', [id]);
}

/** Returns a payer's agent tokens; tokens that are not revoked come first. */
export function selectAgentTokens(
  sql: Sql,
  payerId: string,
  page: OwnPage,
): Promise<AgentTokenRow[]> {
  return selectActiveFirst(sql, agentTokens, payerId, page);
}

/** A token is held until its payment ends. */
export async function updateAgentTokenIntents(
  tx: Tx,
  uses: readonly { readonly id: string; readonly paymentIntentId: string }[],
): Promise<void> {
  await tx.query(
    `update agent_tokens t set payment_intent_id = u.payment_intent_id
     from unnest($1::text[], $2::text[]) as u (id, payment_intent_id)
     where t.id = u.id`,
    [uses.map((use) => use.id), uses.map((use) => use.paymentIntentId)],
  );
}

/** Revokes a token, once. @returns undefined if the payer has no such token. */
export async function revokeAgentTokenRow(
  tx: Tx,
  token: Revoking,
): Promise<AgentTokenRow | undefined> {
  return (await agentTokens.update(tx, {}, revoking(token)))[0];
}
