import { readBearer } from '#accounts/authenticate-api-key.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { assert } from '#core/assert.ts';
import { hashSecret, isSecret } from '#core/bearer-secrets.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import { type Visitor, visitor } from '#http/visitor.ts';
import type { PayerRow } from '#payers/payer-queries.ts';
import { selectSessionPayer } from '#payers/session-queries.ts';

export interface PayerCaller extends Visitor {
  /** The scope of cursors and idempotency keys: the payer's ID in place of an account's. */
  readonly tenant: Tenant;
  /** `null` on the sign-in routes. */
  readonly payer: PayerRow | null;
  readonly sessionHash: Buffer | null;
  /** Time of the wallet's latest signature for this session; `null` without a session. */
  readonly signedAt: Date | null;
}

/** Returns the signed-in payer. @throws Bug on a route that is open to visitors. */
export function payerOfCaller(caller: PayerCaller): PayerRow {
  assert(caller.payer !== null, 'a route for payers was reached without a payer');
  return caller.payer;
}

function sessionMissing(): Refusal {
  return refuse(
    'session_missing',
    'Sign in with the wallet first, then send Authorization: Bearer <token>.',
  );
}

/** Callers of `openPaths` need none. */
export function createPayerAuthenticator(db: Database, openPaths: readonly string[]) {
  return async (request: {
    readonly path: string;
    readonly authorization: string | undefined;
    readonly address: string;
    readonly now: Date;
  }): Promise<PayerCaller | Refusal> => {
    const unknown = visitor(request.address);
    if (openPaths.includes(request.path)) {
      return { ...unknown, payer: null, sessionHash: null, signedAt: null };
    }
    const token = readBearer(request.authorization);
    if (isRefusal(token) || !isSecret('payerSession', token)) return sessionMissing();
    const sessionHash = hashSecret(token);
    const payer = await selectSessionPayer(db, sessionHash, request.now);
    if (payer === undefined) return sessionMissing();
    return {
      ...unknown,
      tenant: { accountId: payer.id, livemode: payer.livemode },
      payer,
      sessionHash,
      signedAt: payer.signed_at,
      rateKey: payer.id,
      idempotencySpace: payer.id,
    };
  };
}
