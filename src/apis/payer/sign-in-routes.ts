import { payerOfCaller } from '#apis/payer/authenticate-payer.ts';
import { type PayerRoute, payerRoute } from '#apis/payer/payer-route.ts';
import { NonceSchema, PayerSchema, SessionSchema, SignInBody } from '#apis/payer/payer-schema.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { createNonce, signAgain, signIn } from '#payers/payer-sign-in.ts';
import { renderPayer } from '#payers/render.ts';
import { deleteSession } from '#payers/session-queries.ts';
import type { ApiContext } from '#payments/api-context.ts';

/** Open without a session. */
export const OPEN_PATHS = ['/sign_in/nonce', '/sign_in'];

function nonceRoute(ctx: ApiContext) {
  return payerRoute({
    method: 'POST',
    path: '/sign_in/nonce',
    operationId: 'createPayerNonce',
    moves: 'access',
    asks: 'never',
    summary: 'Create a nonce for one sign-in message',
    responses: { 201: { schema: NonceSchema, description: 'Valid for five minutes, once.' } },
    handle: async ({ now }) => {
      const { nonce, expiresAt } = await createNonce(ctx.db, now);
      return answerWith(201, { nonce, expires_at: expiresAt.toISOString() });
    },
  });
}

/** The longest lifetime that browsers allow for a cookie: 400 days. */
const HELD_SECONDS = 400 * 86_400;

/**
 * Returns a cookie with the last digits of the wallet's address, for the wallet's own page. If the
 * browser has deleted the page's storage, they show which wallet it held. They authorize nothing.
 */
function heldCookie({ address }: { readonly address: string }): string {
  const end = address.slice(-4).toLowerCase();
  return `tapline_wallet_end=${end}; Path=/; Max-Age=${HELD_SECONDS}; SameSite=Strict`;
}

function signInRoute(ctx: ApiContext) {
  return payerRoute<undefined, typeof SignInBody>({
    method: 'POST',
    path: '/sign_in',
    operationId: 'signInPayer',
    moves: 'access',
    asks: 'never',
    summary: 'Sign in with the wallet',
    description:
      'An EIP-4361 message for this site, signed by the wallet. The chain of the message chooses ' +
      'the network.',
    body: SignInBody,
    multiline: ['message'],
    responses: { 201: { schema: SessionSchema, description: 'The session, valid for a day.' } },
    errors: ['sign_in_failed', 'wallet_not_deployed', 'service_unavailable'],
    handle: async ({ body, now }) => {
      const session = await signIn(ctx, ctx.outside.signIn, body, now);
      if (isRefusal(session)) return session;
      const answer = answerWith(201, {
        object: 'payer_session',
        token: session.token,
        expires_at: session.expiresAt.toISOString(),
        payer: renderPayer(session.payer),
      });
      return { ...answer, headers: { 'Set-Cookie': heldCookie(session.payer) } };
    },
  });
}

function signAgainRoute(ctx: ApiContext) {
  return payerRoute<undefined, typeof SignInBody>({
    method: 'POST',
    path: '/sign_in/again',
    operationId: 'signPayerAgain',
    moves: 'access',
    asks: 'never',
    summary: 'Sign again for the current session',
    description:
      'A message as for the sign-in, of the same wallet and network. New passes, cards and agent ' +
      'tokens, and higher limits, need a signature that is at most five minutes old.',
    body: SignInBody,
    multiline: ['message'],
    responses: { 200: { schema: PayerSchema, description: 'The payer of this session.' } },
    errors: ['sign_in_failed', 'wallet_not_deployed', 'service_unavailable'],
    handle: async ({ body, caller, now }) => {
      const payer = payerOfCaller(caller);
      const hash = present(caller.sessionHash, 'session');
      const refused = await signAgain(ctx, ctx.outside.signIn, { hash, payer, signed: body }, now);
      return refused ?? answerWith(200, renderPayer(payer));
    },
  });
}

function signOutRoute(ctx: ApiContext) {
  return payerRoute({
    method: 'POST',
    path: '/sign_out',
    operationId: 'signOutPayer',
    moves: 'access',
    asks: 'never',
    summary: 'End this session',
    responses: { 204: { schema: null, description: 'The session has ended.' } },
    handle: async ({ caller }) => {
      await deleteSession(ctx.db, present(caller.sessionHash, 'session'));
      return { status: 204, body: '' };
    },
  });
}

function meRoute() {
  return payerRoute({
    method: 'GET',
    path: '/me',
    operationId: 'retrievePayer',
    moves: 'nothing',
    summary: 'Retrieve the signed-in payer',
    responses: { 200: { schema: PayerSchema, description: 'The payer.' } },
    handle: async ({ caller }) => answerWith(200, renderPayer(payerOfCaller(caller))),
  });
}

/** Declares the routes for signing in and out with the wallet's key (EIP-4361). */
export function signInRoutes(ctx: ApiContext): PayerRoute[] {
  return [nonceRoute(ctx), signInRoute(ctx), signAgainRoute(ctx), signOutRoute(ctx), meRoute()];
}
