import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';

/** A row of agent_tokens. */
export interface AgentTokenRow {
  id: string;
  payer_id: string;
  account_id: string;
  livemode: boolean;
  amount: bigint;
  created: Date;
  expires_at: Date;
  revoked_at: Date | null;
  payment_intent_id: string | null;
}

const COLUMNS = `id, payer_id, account_id, livemode, amount, created, expires_at, revoked_at,
  payment_intent_id`;

export async function selectAgentTokenByHash(
  sql: Sql,
  hash: Buffer,
): Promise<AgentTokenRow | undefined> {
  const rows = await sql.query<AgentTokenRow>(
    `select ${COLUMNS} from agent_tokens where hash = $1`,
    [hash],
  );
  return rows[0];
}

/** Confirms with one token are decided one at a time, whatever their intents. */
export async function lockAgentTokenByHash(
  tx: Tx,
  hash: Buffer,
): Promise<AgentTokenRow | undefined> {
  const rows = await tx.query<AgentTokenRow>(
    `select ${COLUMNS} from agent_tokens where hash = $1 for update`,
    [hash],
  );
  return rows[0];
}

export async function selectAgentToken(sql: Sql, id: string): Promise<AgentTokenRow | undefined> {
  const rows = await sql.query<AgentTokenRow>(`select ${COLUMNS} from agent_tokens where id = $1`, [
    id,
  ]);
  return rows[0];
}

export async function selectAgentTokens(
  sql: Sql,
  payerId: string,
  limit: number,
): Promise<AgentTokenRow[]> {
  return sql.query(
    `select ${COLUMNS} from agent_tokens where payer_id = $1 order by created desc, id limit $2`,
    [payerId, limit],
  );
}

export async function insertAgentToken(
  tx: Tx,
  token: {
    readonly id: string;
    readonly hash: Buffer;
    readonly payerId: string;
    readonly tenant: Tenant;
    readonly amount: bigint;
    readonly now: Date;
    readonly expiresAt: Date;
  },
): Promise<AgentTokenRow | undefined> {
  const rows = await tx.query<AgentTokenRow>(
    `insert into agent_tokens
       (id, hash, payer_id, account_id, livemode, amount, created, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${COLUMNS}`,
    [
      token.id,
      token.hash,
      token.payerId,
      token.tenant.accountId,
      token.tenant.livemode,
      token.amount,
      token.now,
      token.expiresAt,
    ],
  );
  return rows[0];
}

/** The token is accepted for this intent: held while that is under way, spent if it succeeds. */
export async function updateAgentTokenIntent(
  tx: Tx,
  id: string,
  paymentIntentId: string,
): Promise<void> {
  await tx.query('update agent_tokens set payment_intent_id = $2 where id = $1', [
    id,
    paymentIntentId,
  ]);
}

/** Revoking twice keeps the first time. @returns undefined when the payer has no such token. */
export async function revokeAgentTokenRow(
  tx: Tx,
  token: { readonly id: string; readonly payerId: string; readonly now: Date },
): Promise<AgentTokenRow | undefined> {
  const rows = await tx.query<AgentTokenRow>(
    `update agent_tokens set revoked_at = coalesce(revoked_at, $3)
     where id = $1 and payer_id = $2 returning ${COLUMNS}`,
    [token.id, token.payerId, token.now],
  );
  return rows[0];
}
