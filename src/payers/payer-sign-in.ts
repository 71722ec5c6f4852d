import { randomBytes } from 'node:crypto';
import { hashMessage, isAddress } from 'viem';
import { parseSiweMessage, validateSiweMessage } from 'viem/siwe';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { base62 } from '#core/base62.ts';
import { hashSecret, newSecret } from '#core/bearer-secrets.ts';
import { addMs, addSeconds } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import { createPayer } from '#payers/create-payer.ts';
import type { PayerRow } from '#payers/payer-queries.ts';
import {
  deleteExpiredAccess,
  insertNonce,
  isNonceValid,
  payerSessions,
  renewSignature,
  takeNonce,
} from '#payers/session-queries.ts';
import type { ChainContext } from '#settlement/chain/chain-context.ts';
import { chainOrNull, checkSignature } from '#settlement/chain/check/signature-refusals.ts';
import type { Hex } from '#settlement/chain-requests.ts';

export interface SignInTerms {
  /** The chain IDs of the served networks, and their modes. */
  readonly chains: readonly { readonly chainId: number; readonly livemode: boolean }[];
  /** True if a domain (host with port) belongs to this service. */
  readonly isOwnDomain: (domain: string) => boolean;
}

/** Lifetime of a nonce: enough time to switch to the wallet app and sign. */
const NONCE_SECONDS = 300;
/** Lifetime of a session: one day. Then the wallet must sign in again. */
const SESSION_SECONDS = 86_400;
/** Base62 characters of a nonce: 131 bits. EIP-4361 requires at least 8 alphanumeric characters. */
const NONCE_LENGTH = 22;
/**
 * Number of expired rows that creating a nonce deletes. It exceeds one, so that the tables cannot
 * grow without bound.
 */
const SWEEP = 20;

export interface Nonce {
  readonly nonce: string;
  readonly expiresAt: Date;
}

export async function createNonce(db: Database, now: Date): Promise<Nonce> {
  const nonce = base62(BigInt(`0x${randomBytes(24).toString('hex')}`), NONCE_LENGTH);
  const expiresAt = addSeconds(now, NONCE_SECONDS);
  await insertNonce(db, { hash: hashSecret(nonce), now, expiresAt });
  await deleteExpiredAccess(db, now, SWEEP);
  return { nonce, expiresAt };
}

export interface SignedMessage {
  /** The EIP-4361 text, exactly as it was signed. */
  readonly message: string;
  readonly signature: Hex;
}

/** The claims of a sign-in message, whose text was checked, but not yet its signature. */
interface Claim {
  readonly address: Hex;
  readonly nonce: string;
  readonly livemode: boolean;
}

function signInFailed(message: string): Refusal {
  return refuse('sign_in_failed', message);
}

/** Parses and checks the text of a message, but not its signature. */
export function readSignInMessage(
  terms: Pick<SignInTerms, 'chains' | 'isOwnDomain'>,
  text: string,
  now: Date,
): Claim | Refusal {
  const message = parseSiweMessage(text);
  const { address, nonce, domain, chainId, uri } = message;
  if (address === undefined || !isAddress(address) || nonce === undefined) {
    return signInFailed('This is not an EIP-4361 sign-in message.');
  }
  if (domain === undefined || !terms.isOwnDomain(domain) || !isOfDomain(uri, domain)) {
    return signInFailed('The message was made for another site. Sign a message for this one.');
  }
  if (!validateSiweMessage({ message, domain, nonce, address, time: now })) {
    return signInFailed('The message is not valid now. Request a new nonce and sign again.');
  }
  const chain = terms.chains.find((one) => one.chainId === chainId);
  if (chain === undefined)
    return signInFailed('The message names a chain that this service does not use.');
  return { address, nonce, livemode: chain.livemode };
}

function isOfDomain(uri: string | undefined, domain: string): boolean {
  return uri !== undefined && URL.canParse(uri) && new URL(uri).host === domain;
}

/** A signature counts as fresh for this long, like the dashboard's second factor. */
const FRESH_MS = 5 * 60_000;

/**
 * Refuses if the wallet has not signed within the last five minutes, so that a stolen session token
 * alone is not enough.
 */
export function signatureRefusal(signedAt: Date | null | undefined, now: Date): Refusal | null {
  if (signedAt != null && addMs(signedAt, FRESH_MS) > now) return null;
  return refuse(
    'second_factor_required',
    'Sign with the wallet again (POST /sign_in/again, or POST /sign_in for a new session), ' +
      'then repeat this request within five minutes.',
  );
}

export interface NewSession {
  readonly payer: PayerRow;
  /** Shown only once. */
  readonly token: string;
  readonly expiresAt: Date;
}

type SignInContext = Pick<ChainContext, 'db' | 'chains'>;

/**
 * Each attempt consumes the nonce, even a failed one; only if no node responded, the same message
 * can be sent again.
 */
async function verifyClaim(
  { db, chains }: SignInContext,
  terms: SignInTerms,
  { message, signature }: SignedMessage,
  now: Date,
): Promise<Claim | Refusal> {
  const claim = readSignInMessage(terms, message, now);
  if (isRefusal(claim)) return claim;
  const nonce = hashSecret(claim.nonce);
  // Checked before the signature, so that only messages with our nonces cost a call to the chain.
  if (!(await isNonceValid(db, nonce, now))) return unknownNonce();
  const { address: signer, livemode } = claim;
  const how = { by: 'contract', simulates: true } as const;
  const signed = { signer, digest: hashMessage(message), signature, ...how };
  const checked = await checkSignature(chainOrNull(chains, livemode), signed, {
    code: 'sign_in_failed',
    message: 'This signature was not made by the address in the message.',
    param: null,
  });
  if (isRefusal(checked) && checked.code === 'service_unavailable') return checked;
  const isFresh = await db.transaction((tx) => takeNonce(tx, nonce, now));
  if (!isFresh) return unknownNonce();
  return isRefusal(checked) ? checked : claim;
}

function unknownNonce(): Refusal {
  return signInFailed('The nonce is unknown, used or too old. Request a new one.');
}

/**
 * Signs a wallet in, on the network of the message's chain, and creates its payer if there is none.
 * Refuses with `sign_in_failed`, or with 503 if the chain must be queried and no node responds.
 */
export async function signIn(
  ctx: SignInContext,
  terms: SignInTerms,
  signed: SignedMessage,
  now: Date,
): Promise<NewSession | Refusal> {
  const claim = await verifyClaim(ctx, terms, signed, now);
  if (isRefusal(claim)) return claim;
  const { db } = ctx;
  const { address, livemode } = claim;
  const token = newSecret('payerSession', db.cell);
  const expiresAt = addSeconds(now, SESSION_SECONDS);
  const payer = await db.transaction(async (tx) => {
    const payer = await createPayer(tx, { livemode, address, now });
    await payerSessions.insertAll(tx, [
      { hash: hashSecret(token), payer_id: payer.id, created: now, expires_at: expiresAt },
    ]);
    return payer;
  });
  return { payer, token, expiresAt };
}

/**
 * Records that the session's wallet has signed again, which allows requests that require a fresh
 * signature. The session and its token stay valid. Refuses another wallet with `sign_in_failed`.
 */
export async function signAgain(
  ctx: SignInContext,
  terms: SignInTerms,
  session: { readonly hash: Buffer; readonly payer: PayerRow; readonly signed: SignedMessage },
  now: Date,
): Promise<Refusal | null> {
  const { hash, payer, signed } = session;
  const claim = await verifyClaim(ctx, terms, signed, now);
  if (isRefusal(claim)) return claim;
  const isSame = claim.address.toLowerCase() === payer.address.toLowerCase();
  if (!isSame || claim.livemode !== payer.livemode) {
    return signInFailed('The message does not match the wallet and network of this session.');
  }
  const isRenewed = await renewSignature(ctx.db, { hash, payerId: payer.id, now });
  return isRenewed ? null : signInFailed('The session has ended. Sign in again.');
}
