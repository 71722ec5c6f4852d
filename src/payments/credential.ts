import type { Sql, Tx } from '#db/database.ts';
import {
  type AgentTokenRow,
  lockAgentToken,
  lockAgentTokens,
} from '#payers/agent-token-queries.ts';
import { type CardRow, lockCards, selectCard } from '#payers/card-queries.ts';
import { type ChipRow, lockChipsOf } from '#payers/chip-queries.ts';
import { lockPassCodes, type PassCodeRow } from '#payers/pass-code-queries.ts';
import { type PassRow, selectPass, selectPassesByHash } from '#payers/payer-queries.ts';
import {
  type FoundPhonePass,
  lockPhonePasses,
  selectUsedTaps,
} from '#payers/phone-pass-queries.ts';
import type { PhoneKind, PhoneTap } from '#payers/phone-tap.ts';
import { lockRotatingKeys, type RotatingKeyRow } from '#payers/rotating-key-queries.ts';
import type { Credential } from '#payments/attempt.ts';
import type { Decline } from '#payments/decline.ts';
import { selectIntents } from '#payments/intent-queries.ts';
import { asOf, type PaymentIntent } from '#payments/payment-intent.ts';
import {
  credentialKey,
  hashOf,
  type Presented,
  type SignedBy,
  type VisitingHolder,
} from '#payments/presented.ts';
import type { PaymentAuthorization } from '#settlement/requests.ts';

/** A credential that we know, whether or not it is still valid. */
export type Found =
  | { readonly type: 'nfc_id'; readonly payerId: string; readonly pass: PassRow }
  | { readonly type: 'nfc_sun'; readonly payerId: string; readonly card: CardRow }
  | {
      readonly type: 'qr';
      readonly payerId: string;
      readonly pass: PassRow;
      /** null: it belongs to an attempt that is under way, whose code is used up. */
      readonly code: PassCodeRow | null;
    }
  | {
      readonly type: 'rotating_code';
      readonly payerId: string;
      readonly pass: PassRow;
      /** null: it belongs to an attempt that is under way, whose code is used up. */
      readonly rotating: RotatingKeyRow | null;
    }
  | {
      readonly type: PhoneKind;
      readonly payerId: string;
      readonly pass: PassRow;
      /** null: it belongs to an attempt that is under way, whose tap is used up. */
      readonly phone: PhoneState | null;
    }
  | {
      readonly type: 'authorization';
      readonly payerId: string;
      readonly authorization: PaymentAuthorization;
      readonly by: SignedBy;
      /** What the owner of this address has registered, if anything. */
      readonly chip: ChipRow | null;
    }
  | { readonly type: 'visiting'; readonly payerId: string; readonly holder: VisitingHolder }
  | {
      readonly type: 'agent_token';
      readonly payerId: string;
      readonly token: AgentTokenRow;
      /** The intent that it was last accepted for. */
      readonly usedBy: PaymentIntent | null;
    };

/** What is known of the taps of a phone's pass. */
export interface PhoneState {
  readonly hash: Buffer;
  readonly doubtedAt: Date | null;
  /** Of the taps that are presented, those that were used before, in hex. */
  readonly usedBefore: ReadonlySet<string>;
  /** Those that this batch uses. */
  readonly uses: readonly PhoneTap[];
}

/**
 * Credentials by {@link credentialKey}. What can be accepted only once is locked, each kind in one
 * order, so that no two transactions wait in a circle.
 */
export async function lockCredentials(
  tx: Tx,
  presented: readonly Presented[],
): Promise<Map<string, Found>> {
  const hashes = (type: 'nfc_id' | 'qr' | 'agent_token') =>
    presented.flatMap((one) => (one.type === type ? (hashOf(one) ?? []) : []));
  const [passHashes, tokenHashes, codeHashes] = [
    hashes('nfc_id'),
    hashes('agent_token'),
    hashes('qr'),
  ];
  const cardIds = presented.flatMap((one) => (one.type === 'nfc_sun' ? one.cardId : []));
  const rotatingIds = presented.flatMap((one) => (one.type === 'rotating_code' ? one.passId : []));
  const taps = presented.flatMap((one) => ('tap' in one ? one.tap : []));
  const signers = presented.flatMap((one) =>
    one.type === 'authorization' ? one.signed.payer.address : [],
  );
  const [passes, tokens, cards, codes, rotating, phones, chips] = await Promise.all([
    passHashes.length === 0 ? [] : selectPassesByHash(tx, passHashes),
    tokenHashes.length === 0 ? [] : lockAgentTokens(tx, tokenHashes),
    cardIds.length === 0 ? [] : lockCards(tx, cardIds),
    codeHashes.length === 0 ? [] : lockPassCodes(tx, codeHashes),
    rotatingIds.length === 0 ? [] : lockRotatingKeys(tx, rotatingIds),
    taps.length === 0
      ? []
      : lockPhonePasses(
          tx,
          taps.flatMap(({ valueHash }) => valueHash ?? []),
        ),
    signers.length === 0 ? [] : lockChipsOf(tx, signers),
  ]);
  // What a token was used for is read once its lock is held, never in the same statement: a
  // statement that has waited for a lock shows the other tables as they were before the wait.
  const usedBy = await readUses(tx, tokens);
  const tapHashes = taps.map(({ tapHash }) => tapHash);
  const usedBefore = phones.length === 0 ? new Set<string>() : await selectUsedTaps(tx, tapHashes);
  return new Map<string, Found>([
    ...presented.flatMap((one) => ofSigned(one, chips)),
    ...presented.flatMap(ofVisit),
    ...passes.map((pass) => [pass.hash.toString('hex'), ofPass(pass)] as const),
    ...tokens.map((token) => [token.hash.toString('hex'), ofToken(token, usedBy)] as const),
    ...cards.map((card) => [card.id, ofCard(card)] as const),
    ...codes.map((code) => [code.hash.toString('hex'), ofCode(code)] as const),
    ...rotating.map((row) => [row.pass_id, ofRotating(row, row)] as const),
    ...phones.map((one) => [one.phone_hash.toString('hex'), ofPhone(one, usedBefore)] as const),
  ]);
}

function ofSigned(presented: Presented, chips: readonly ChipRow[]): [string, Found][] {
  if (presented.type !== 'authorization') return [];
  const { payer, authorization, by } = presented.signed;
  const { livemode, address } = payer;
  const chip = chips.find((one) => one.livemode === livemode && one.address === address) ?? null;
  const found: Found = { type: 'authorization', payerId: payer.id, authorization, by, chip };
  return [[credentialKey(presented), found]];
}

function ofVisit(presented: Presented): [string, Found][] {
  const holder = presented.type === 'visiting' ? presented.visit.holder : null;
  if (holder === null) return [];
  return [[credentialKey(presented), { type: 'visiting', payerId: holder.payer.id, holder }]];
}

function ofPass(pass: PassRow): Found {
  return { type: 'nfc_id', payerId: pass.payer_id, pass };
}

function ofCard(card: CardRow): Found {
  return { type: 'nfc_sun', payerId: card.payer_id, card };
}

function ofCode(code: PassCodeRow): Found {
  return { type: 'qr', payerId: code.payer_id, pass: code, code };
}

function ofRotating(pass: PassRow, rotating: RotatingKeyRow | null): Found {
  return { type: 'rotating_code', payerId: pass.payer_id, pass, rotating };
}

function ofPhone(pass: FoundPhonePass, usedBefore: ReadonlySet<string>): Found {
  const { phone_hash: hash, doubted_at: doubtedAt, kind, payer_id: payerId } = pass;
  return { type: kind, payerId, pass, phone: { hash, doubtedAt, usedBefore, uses: [] } };
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
 * only one decision at a time can find it free, whatever the intents. Lock its payer afterwards.
 */
export async function lockCredential(tx: Tx, credential: Credential): Promise<Found | null> {
  switch (credential.type) {
    case 'nfc_id':
    case 'rotating_code':
    case 'qr':
    case 'smart_tap':
    case 'apple_vas': {
      const pass = await selectPass(tx, credential.passId);
      if (pass === undefined) return null;
      const { payer_id: payerId } = pass;
      if (credential.type === 'rotating_code') return ofRotating(pass, null);
      if (credential.type === 'nfc_id') return ofPass(pass);
      return credential.type === 'qr'
        ? { type: 'qr', payerId, pass, code: null }
        : { type: credential.type, payerId, pass, phone: null };
    }
    case 'nfc_sun': {
      const card = await selectCard(tx, credential.cardId);
      return card === undefined ? null : ofCard(card);
    }
    case 'agent_token': {
      const token = await lockAgentToken(tx, credential.tokenId);
      // Read by a statement of its own: see lockCredentials.
      return token === undefined ? null : ofToken(token, await readUses(tx, [token]));
    }
    // Nobody is asked about a payment that was signed.
    case 'authorization':
    case 'chip':
    case 'unknown':
      return null;
  }
}

export function toCredential(found: Found): Credential {
  switch (found.type) {
    case 'nfc_id':
    case 'rotating_code':
    case 'qr':
    case 'smart_tap':
    case 'apple_vas':
      return { type: found.type, passId: found.pass.id };
    case 'nfc_sun':
      return { type: 'nfc_sun', cardId: found.card.id };
    case 'authorization':
      return { type: found.by, ...found.authorization };
    case 'visiting':
      return found.holder.credential;
    case 'agent_token':
      return { type: 'agent_token', tokenId: found.token.id };
  }
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
  if (found.type === 'authorization') return null;
  // Its home has said whether it stands.
  if (found.type === 'visiting')
    return payerLivemode === intent.tenant.livemode ? null : 'pass_unknown';
  const { accountId, livemode } = intent.tenant;
  if (found.type !== 'agent_token') {
    if (payerLivemode !== livemode) return 'pass_unknown';
    const { revoked_at } = found.type === 'nfc_sun' ? found.card : found.pass;
    return revoked_at === null ? null : 'pass_revoked';
  }
  const { token, usedBy } = found;
  const matches =
    token.account_id === accountId && token.livemode === livemode && token.amount === intent.amount;
  if (!matches) return 'agent_token_mismatch';
  if (usedBy?.id !== intent.id && isTokenTaken(token.id, usedBy, now)) return 'agent_token_used';
  if (token.revoked_at !== null || token.expires_at <= now) return 'agent_token_expired';
  return null;
}
