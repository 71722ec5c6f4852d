import { readBearer } from '#accounts/authenticate-api-key.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { assert } from '#core/assert.ts';
import { hashSecret, isSecret } from '#core/bearer-secrets.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import { CURRENT_API_VERSION } from '#events/append-events.ts';
import { addressKey } from '#http/rate-limit.ts';
import type { PayerRow } from '#payers/payer-queries.ts';
import { selectSessionPayer } from '#payers/session-queries.ts';

/** The caller of the payer app's API. */
export interface PayerCaller {
  /** The scope of cursors and idempotency keys: the payer's ID in place of an account's. */
  readonly tenant: Tenant;
  /** `null` on the sign-in routes. */
  readonly payer: PayerRow | null;
  readonly sessionHash: Buffer | null;
  /** Time of the wallet's latest signature for this session; `null` without a session. */
  readonly signedAt: Date | null;
  /** The client's IP address. */
  readonly address: string;
  readonly rateKey: string;
  readonly idempotencySpace: string;
  readonly scopes: null;
  readonly apiVersion: string;
}

/** Returns the signed-in payer. @throws Bug on a route that is open to visitors. */
export function payerOfCaller(caller: PayerCaller): PayerRow {
  assert(caller.payer !== null, 'a route for payers was reached without a payer');
  return caller.payer;
}

function visitor(address: string): PayerCaller {
  return {
    tenant: { accountId: '', livemode: false },
    payer: null,
    sessionHash: null,
    signedAt: null,
    address,
    rateKey: addressKey(address),
    idempotencySpace: '',
    scopes: null,
    apiVersion: CURRENT_API_VERSION,
  };
}

function sessionMissing(): Refusal {
  return refuse(
    'session_missing',
    'Sign in with the wallet first, then send Authorization: Bearer <token>.',
  );
}

/**
 * Returns the function that authenticates requests by their session token. Callers of `openPaths`
 * need none.
 */
export function createPayerAuthenticator(db: Database, openPaths: readonly string[]) {
  return async (request: {
    readonly path: string;
    readonly authorization: string | undefined;
    readonly address: string;
    readonly now: Date;
  }): Promise<PayerCaller | Refusal> => {
    if (openPaths.includes(request.path)) return visitor(request.address);
    const token = readBearer(request.authorization);
    if (isRefusal(token) || !isSecret('payerSession', token)) return sessionMissing();
    const sessionHash = hashSecret(token);
    const payer = await selectSessionPayer(db, sessionHash, request.now);
    if (payer === undefined) return sessionMissing();
    return {
      tenant: { accountId: payer.id, livemode: payer.livemode },
      payer,
      sessionHash,
      signedAt: payer.signed_at,
      address: request.address,
      rateKey: payer.id,
      idempotencySpace: payer.id,
      scopes: null,
      apiVersion: CURRENT_API_VERSION,
    };
  };
}
