import { hashSecret, isSecret } from '#core/secrets.ts';
import type { Sql, Tx } from '#db/database.ts';
import {
  type AgentTokenRow,
  lockAgentToken,
  lockAgentTokens,
} from '#payers/agent-token-queries.ts';
import { type PassRow, selectPass, selectPassesByHash } from '#payers/queries.ts';
import type { Decline } from '#payments/decline.ts';
import { asOf, type Credential, type PaymentIntent } from '#payments/payment-intent.ts';
import { selectIntents } from '#payments/queries.ts';

/** What was tapped on a terminal, or sent by a merchant's server: a bearer secret. */
export interface Presented {
  readonly type: Exclude<Credential['type'], 'unknown'>;
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

/** What is stored of a credential; null where already its checksum says that it is none. */
export function hashOf({ type, value }: Presented): Buffer | null {
  return isSecret(type === 'nfc_id' ? 'pass' : 'agentToken', value) ? hashSecret(value) : null;
}

/** Credentials by the hash in hex. Agent tokens are locked: each can be accepted once only. */
export async function lockCredentials(
  tx: Tx,
  presented: readonly Presented[],
): Promise<Map<string, Found>> {
  const hashes = (type: Presented['type']) =>
    presented.flatMap((one) => (one.type === type ? (hashOf(one) ?? []) : []));
  const [passHashes, tokenHashes] = [hashes('nfc_id'), hashes('agent_token')];
  const [passes, tokens] = await Promise.all([
    passHashes.length === 0 ? [] : selectPassesByHash(tx, passHashes),
    tokenHashes.length === 0 ? [] : lockAgentTokens(tx, tokenHashes),
  ]);
  // What a token was used for is read after its lock is held, never in the same statement: a
  // statement that has waited for a lock shows the other tables as they were before the wait.
  const usedBy = await readUses(tx, tokens);
  return new Map<string, Found>([
    ...passes.map((pass) => [pass.hash.toString('hex'), ofPass(pass)] as const),
    ...tokens.map((token) => [token.hash.toString('hex'), ofToken(token, usedBy)] as const),
  ]);
}

function ofPass(pass: PassRow): Found {
  return { type: 'nfc_id', payerId: pass.payer_id, pass };
}

function ofToken(token: AgentTokenRow, intents: ReadonlyMap<string, PaymentIntent>): Found {
  const usedBy = intents.get(token.payment_intent_id ?? '') ?? null;
  return { type: 'agent_token', payerId: token.payer_id, token, usedBy };
}

async function readUses(
  sql: Sql,
  tokens: readonly AgentTokenRow[],
): Promise<Map<string, PaymentIntent>> {
  const ids = tokens.flatMap((token) => token.payment_intent_id ?? []);
  const intents = ids.length === 0 ? [] : await selectIntents(sql, ids);
  return new Map(intents.map((intent) => [intent.id, intent]));
}

/**
 * The credential of an attempt that is under way. An agent token is locked, as it is for a confirm:
 * whether it is free is decided once at a time, whatever the intents. Lock its payer afterwards.
 */
export async function lockCredential(tx: Tx, credential: Credential): Promise<Found | null> {
  if (credential.type === 'nfc_id') {
    const pass = await selectPass(tx, credential.passId);
    return pass === undefined ? null : ofPass(pass);
  }
  if (credential.type === 'unknown') return null;
  const token = await lockAgentToken(tx, credential.tokenId);
  // Read by a statement of its own: see lockCredentials.
  return token === undefined ? null : ofToken(token, await readUses(tx, [token]));
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
