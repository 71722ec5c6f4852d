import { hashSecret, isSecret } from '#core/secrets.ts';
import type { Sql, Tx } from '#db/database.ts';
import {
  type AgentTokenRow,
  lockAgentTokenByHash,
  selectAgentToken,
  selectAgentTokenByHash,
} from '#payers/agent-token-queries.ts';
import { type PassRow, selectPass, selectPassByHash } from '#payers/queries.ts';
import type { Decline } from '#payments/decline.ts';
import { asOf, type Credential, type PaymentIntent } from '#payments/payment-intent.ts';
import { selectIntents } from '#payments/queries.ts';

/** What was tapped on a terminal, or sent by a merchant's server: a bearer secret. */
export interface Presented {
  readonly type: Credential['type'];
  readonly value: string;
}

/** A credential that we know, whatever it is worth now. */
export type Found =
  | { readonly type: 'nfc_id'; readonly payerId: string; readonly pass: PassRow }
  | {
      readonly type: 'agent_token';
      readonly payerId: string;
      readonly token: AgentTokenRow;
      /** The intent that it was last accepted for. */
      readonly usedBy: PaymentIntent | null;
    };

function ofPass(pass: PassRow | undefined): Found | null {
  return pass === undefined ? null : { type: 'nfc_id', payerId: pass.payer_id, pass };
}

async function ofToken(sql: Sql, token: AgentTokenRow | undefined): Promise<Found | null> {
  if (token === undefined) return null;
  const id = token.payment_intent_id;
  const usedBy = id === null ? null : ((await selectIntents(sql, [id]))[0] ?? null);
  return { type: 'agent_token', payerId: token.payer_id, token, usedBy };
}

/** A look ahead, without locks. A value whose checksum is wrong costs no database read. */
export async function findCredential(sql: Sql, presented: Presented): Promise<Found | null> {
  const { type, value } = presented;
  if (!isSecret(type === 'nfc_id' ? 'pass' : 'agentToken', value)) return null;
  const hash = hashSecret(value);
  return type === 'nfc_id'
    ? ofPass(await selectPassByHash(sql, hash))
    : ofToken(sql, await selectAgentTokenByHash(sql, hash));
}

/** The same, for good: an agent token is locked, so that it can be accepted once only. */
export async function lockCredential(tx: Tx, presented: Presented): Promise<Found | null> {
  if (presented.type === 'nfc_id') return findCredential(tx, presented);
  if (!isSecret('agentToken', presented.value)) return null;
  // What the token was used for is read after its lock is held, never in the same statement: a
  // statement that has waited for a lock shows the other tables as they were before the wait.
  return ofToken(tx, await lockAgentTokenByHash(tx, hashSecret(presented.value)));
}

/** The credential of an attempt that is under way. */
export async function readCredential(sql: Sql, credential: Credential): Promise<Found | null> {
  return credential.type === 'nfc_id'
    ? ofPass(await selectPass(sql, credential.passId))
    : ofToken(sql, await selectAgentToken(sql, credential.tokenId));
}

export function toCredential(found: Found): Credential {
  return found.type === 'nfc_id'
    ? { type: 'nfc_id', passId: found.pass.id }
    : { type: 'agent_token', tokenId: found.token.id };
}

/** Whether the token pays, or has paid, another intent. */
export function isTokenTaken(tokenId: string, usedBy: PaymentIntent | null, now: Date): boolean {
  if (usedBy === null) return false;
  const intent = asOf(usedBy, now);
  if (intent.status === 'requires_payment_method' || intent.status === 'canceled') return false;
  const { credential } = intent.attempt;
  return credential.type === 'agent_token' && credential.tokenId === tokenId;
}

/** Why this credential cannot pay this intent, or null. */
export function checkCredential(
  found: Found,
  intent: PaymentIntent,
  payerLivemode: boolean,
  now: Date,
): Decline | null {
  const { accountId, livemode } = intent.tenant;
  if (found.type === 'nfc_id') {
    if (payerLivemode !== livemode) return 'pass_unknown';
    return found.pass.revoked_at === null ? null : 'pass_revoked';
  }
  const { token, usedBy } = found;
  const matches =
    token.account_id === accountId && token.livemode === livemode && token.amount === intent.amount;
  if (!matches) return 'agent_token_mismatch';
  if (usedBy?.id !== intent.id && isTokenTaken(token.id, usedBy, now)) return 'agent_token_used';
  if (token.revoked_at !== null || token.expires_at <= now) return 'agent_token_expired';
  return null;
}
