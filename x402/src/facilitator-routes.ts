import { createHash, timingSafeEqual } from 'node:crypto';
import type { CallOptions, Facilitator } from './facilitator.ts';
import { isDuplicate } from './payment-requirements.ts';

/** The HTTP interface that x402 servers expect of a facilitator. */
export type Routes = (request: Request) => Promise<Response>;

export interface RouteOptions {
  /** If set, `/verify` and `/settle` require `Authorization: Bearer <token>`. */
  readonly token?: string;
  /** Receives internal errors. @default writes to standard error */
  readonly onError?: (error: unknown) => void;
}

export function routesOf(facilitator: Facilitator, options: RouteOptions = {}): Routes {
  const { onError = (error) => console.error(error) } = options;
  return async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/supported' && request.method === 'GET') {
      return Response.json(facilitator.supported());
    }
    const isCall = pathname === '/verify' || pathname === '/settle';
    if (!isCall) return Response.json({ error: 'No such route.' }, { status: 404 });
    if (request.method !== 'POST') {
      return Response.json({ error: 'Use POST.' }, { status: 405, headers: { Allow: 'POST' } });
    }
    // Browsers send this header, even to a name that was made to resolve to this machine. Without a
    // token, any page could use the routes.
    if (options.token === undefined && request.headers.has('Origin')) {
      return Response.json({ error: 'Pages may not call this.' }, { status: 403 });
    }
    if (!isAllowed(request, options.token)) {
      return Response.json({ error: 'Send Authorization: Bearer <token>.' }, { status: 401 });
    }
    return pathname === '/verify'
      ? verifyRoute(facilitator, request, onError)
      : settleRoute(facilitator, request, onError);
  };
}

/** Checks the token by comparing hashes of equal length, so that timing reveals nothing. */
function isAllowed(request: Request, token: string | undefined): boolean {
  if (token === undefined) return true;
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const given = request.headers.get('Authorization') ?? '';
  return timingSafeEqual(digest(given), digest(`Bearer ${token}`));
}

interface Call {
  readonly paymentPayload?: unknown;
  readonly paymentRequirements?: unknown;
}

/** The header by which a resource server names a purchase. */
function keyOf(request: Request): CallOptions {
  return { key: request.headers.get('Idempotency-Key') || undefined };
}

async function callOf(request: Request): Promise<Call | null> {
  try {
    const body: unknown = await request.json();
    return typeof body === 'object' && body !== null ? (body as Call) : null;
  } catch {
    return null;
  }
}

type OnError = (error: unknown) => void;

async function verifyRoute(facilitator: Facilitator, request: Request, onError: OnError) {
  const call = await callOf(request);
  if (call === null) {
    return Response.json({ isValid: false, invalidReason: 'invalid_payload' }, { status: 400 });
  }
  try {
    const { paymentPayload, paymentRequirements } = call;
    const named = keyOf(request);
    return Response.json(await facilitator.verify(paymentPayload, paymentRequirements, named));
  } catch (error) {
    onError(error);
    const body = { isValid: false, invalidReason: 'unexpected_verify_error' };
    return Response.json(body, { status: 503 });
  }
}

async function settleRoute(facilitator: Facilitator, request: Request, onError: OnError) {
  const call = await callOf(request);
  const none = { success: false, transaction: '', network: facilitator.network };
  if (call === null) {
    return Response.json({ ...none, errorReason: 'invalid_payload' }, { status: 400 });
  }
  try {
    const { paymentPayload, paymentRequirements } = call;
    const named = keyOf(request);
    const settled = await facilitator.settle(paymentPayload, paymentRequirements, named);
    return Response.json(settled, { status: isDuplicate(settled) ? 409 : 200 });
  } catch (error) {
    onError(error);
    // A service did not answer. Money that was taken stays taken, and the next call continues.
    const errorMessage = 'The result is unknown. Try again with the same signature.';
    const body = { ...none, errorReason: 'settlement_pending', errorMessage };
    return Response.json(body, { status: 503, headers: { 'Retry-After': '2' } });
  }
}
