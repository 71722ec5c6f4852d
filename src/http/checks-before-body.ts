import type { FastifyRequest } from 'fastify';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { chooseVersion } from '#http/choose-version.ts';
import { hintFor } from '#http/foreign-paths.ts';
import { addressKey, type RateLimiter } from '#http/rate-limit.ts';
import type { Call } from '#http/request-state.ts';
import type { AnyRoute, Caller, Credentials, Surface } from '#http/route.ts';
import { checkKey } from '#idempotency/request-fingerprint.ts';

/**
 * The target of a request without a route: an unknown path, or a known path without this method.
 */
export interface NoRoute {
  readonly allow: readonly string[];
}

export type Target = AnyRoute | NoRoute;

function isRoute(target: Target): target is AnyRoute {
  return 'operationId' in target;
}

export function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}

function rateExceeded(call: Call): Refusal | null {
  const { rate } = call;
  if (rate === null || rate.allowed) return null;
  return {
    ...refuse(
      'rate_limit_exceeded',
      `You exceeded ${rate.limit} requests per window. Wait the number of seconds in ` +
        'Retry-After, then try again.',
    ),
    headers: { 'Retry-After': String(rate.retryAfterSeconds) },
  };
}

function mustStand(target: Target): boolean {
  return isRoute(target) && target.method !== 'GET' && target.checksCredential !== true;
}

function credentialsOf(request: FastifyRequest, call: Call, target: Target): Credentials {
  return {
    mustStand: mustStand(target),
    method: request.method,
    path: request.url.split('?')[0] ?? '',
    authorization: headerOf(request, 'authorization'),
    headers: request.headers,
    address: request.ip,
    now: call.now,
  };
}

/**
 * Counts a request against its key or, without a valid key, against its IP address, so that guessed
 * keys count as well.
 */
async function countCaller(
  limiter: RateLimiter,
  request: FastifyRequest,
  call: Call,
): Promise<Refusal | null> {
  const key = call.caller === null ? addressKey(request.ip) : call.caller.rateKey;
  call.rate = await limiter.take(key);
  return rateExceeded(call);
}

function checkTarget(target: Target, request: FastifyRequest): Refusal | null {
  if (isRoute(target)) return null;
  if (target.allow.length === 0) {
    const path = pathOf(request);
    return refuse('route_missing', `${request.method} ${path} does not exist.${hintFor(path)}`);
  }
  const allow = target.allow.join(', ');
  return {
    ...refuse('method_not_allowed', `This path supports ${allow}, not ${request.method}.`),
    headers: { Allow: allow },
  };
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?')[0]?.slice(0, 200) ?? '';
}

function checkScope(route: AnyRoute, caller: Caller): Refusal | null {
  const { scope } = route;
  if (scope === null || caller.scopes === null || caller.scopes.includes(scope)) return null;
  return refuse(
    'scope_missing',
    `This request requires the scope ${scope}, which this key does not have.`,
  );
}

/** Refuses repeated headers. Node joins their values, so two keys would look like a third one. */
function checkSentOnce(request: FastifyRequest, key: string): Refusal | null {
  if (!key.includes(', ')) return null;
  if (request.raw.headersDistinct['idempotency-key']?.length === 1) return null;
  return refuse('idempotency_key_invalid', 'Send one Idempotency-Key header, not several.');
}

function checkIdempotencyKey(route: AnyRoute, request: FastifyRequest): Refusal | null {
  if (route.idempotency === 'ignored') return null;
  const key = headerOf(request, 'idempotency-key');
  if (key !== undefined) return checkSentOnce(request, key) ?? checkKey(key);
  if (route.idempotency === 'accepted') return null;
  return refuse(
    'idempotency_key_required',
    'Send an Idempotency-Key header (1 to 255 printable ASCII characters, for example a ' +
      'UUID). Send the same key when you retry.',
  );
}

/**
 * Runs the checks of behavior.md 2.4 that come before the body, in order: key, account and address,
 * rate limit, version, route, scope, Idempotency-Key.
 */
export async function checkRequest(
  surface: Surface,
  target: Target,
  input: { readonly request: FastifyRequest; readonly call: Call; readonly limiter: RateLimiter },
): Promise<Refusal | null> {
  const { request, call, limiter } = input;
  const credentials = credentialsOf(request, call, target);
  const caller = await surface.authenticate(credentials);
  if (isRefusal(caller)) return (await countCaller(limiter, request, call)) ?? caller;
  call.caller = caller;
  call.version = caller.apiVersion;
  const tooMany = await countCaller(limiter, request, call);
  if (tooMany !== null) return tooMany;
  const version = chooseVersion(
    call.versions,
    headerOf(request, 'service-version'),
    caller.apiVersion,
  );
  if (isRefusal(version)) return version;
  call.version = version;
  const noRoute = checkTarget(target, request);
  if (noRoute !== null || !isRoute(target)) return noRoute;
  call.route = target;
  return (
    surface.authorize?.(target, caller, credentials) ??
    checkScope(target, caller) ??
    checkIdempotencyKey(target, request)
  );
}
