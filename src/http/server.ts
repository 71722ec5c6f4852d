import fastify, { type FastifyError, type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Clock } from '#core/clock.ts';
import { newId } from '#core/ids.ts';
import type { Log } from '#core/log.ts';
import { type Refusal, refuse } from '#core/refusal.ts';
import { CommitUnknown, DatabaseUnavailable } from '#db/database.ts';
import { type Call, callOf, findCall, openCall, sendRefusal } from '#http/call.ts';
import { checkRequest, type Target } from '#http/checks.ts';
import { answerClientError } from '#http/client-error.ts';
import { createHandler } from '#http/handle.ts';
import type { RateLimiter } from '#http/rate-limit.ts';
import type { AnyRoute, Surface } from '#http/route.ts';

export interface ServerOptions {
  readonly surfaces: readonly Surface[];
  readonly clock: Clock;
  readonly limiter: RateLimiter;
  readonly log: Log;
  /** Addresses or CIDRs whose X-Forwarded-For is believed; none by default. */
  readonly trustedProxies: readonly string[];
  /** Told of every answered request. Must be quick and never throw. */
  readonly onAnswered?: (request: FastifyRequest, call: Call, status: number) => void;
}

/** decisions.md section 2: larger bodies get 413. */
const BODY_LIMIT_BYTES = 64 * 1024;
/** A whole request, headers and body, has to arrive within this: slow senders are cut off. */
const REQUEST_TIMEOUT_MS = 15_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** Longer than a usual load balancer's, so that it never meets a socket that just closed. */
const KEEP_ALIVE_MS = 65_000;
const MAX_HEADER_BYTES = 16 * 1024;
/** Where a URL with a broken escape goes: to a path that nobody has. */
const BROKEN_URL = '/api/v1/%00';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

function isWellFormedUrl(url: string): boolean {
  try {
    decodeURI(url);
    return true;
  } catch {
    return false;
  }
}

/** `/payment_intents/{id}` in the router's spelling. */
function routerPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function toRefusal(error: FastifyError, log: Log, call: Call): Refusal {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return refuse('body_too_large', 'The body is larger than this route takes (64 KiB of JSON).');
  }
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return refuse('content_type_unsupported', 'Send the body as Content-Type: application/json.');
  }
  if (error.code?.startsWith('FST_ERR_CTP') || error.statusCode === 400) {
    return refuse('body_invalid', 'The body could not be read as it was announced.');
  }
  const fields = { request: call.requestId, error };
  if (error instanceof DatabaseUnavailable) {
    log.warn('database unavailable', fields);
    return refuse('service_unavailable', 'Out of service for a moment. Nothing was done: retry.');
  }
  if (error instanceof CommitUnknown) {
    log.error('outcome of a commit unknown', fields);
    return refuse(
      'request_timeout',
      'The answer was lost. Send the request again with the same Idempotency-Key.',
    );
  }
  log.error('request failed', fields);
  return refuse(
    'internal_error',
    'A fault of ours. Send the request again with the same Idempotency-Key.',
  );
}

function keepBytes(
  _request: FastifyRequest,
  body: Buffer,
  done: (error: Error | null, body: Buffer) => void,
): void {
  done(null, body);
}

function addSurface(app: FastifyInstance, surface: Surface, options: ServerOptions): void {
  const check =
    (target: Target) =>
    async (request: FastifyRequest, reply: Parameters<typeof sendRefusal>[0]) => {
      const now = options.clock.now();
      const call = openCall(request, newId('request', now), now);
      const refusal = await checkRequest(surface, target, {
        request,
        call,
        limiter: options.limiter,
      });
      if (refusal !== null) return sendRefusal(reply, call, refusal);
    };
  const unreachable = async () => {
    throw new Error('a request without a route passed the checks');
  };
  const uploads = new Set(surface.routes.flatMap((route) => route.upload?.contentTypes ?? []));
  for (const type of uploads) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, keepBytes);
  }
  const byPath = Map.groupBy(surface.routes, (route) => routerPath(route.path));
  for (const [url, routes] of byPath) {
    for (const route of routes) {
      const { method } = route;
      const bodyLimit = route.upload?.maxBytes ?? BODY_LIMIT_BYTES;
      const handler = createHandler(route);
      app.route({ method, url, bodyLimit, onRequest: check(route), handler });
    }
    const allow = routes.map((route: AnyRoute) => route.method as string);
    const method = METHODS.filter((name) => !allow.includes(name));
    app.route({ method, url, onRequest: check({ allow }), handler: unreachable });
  }
  app.setNotFoundHandler({}, async (request, reply) => {
    await check({ allow: [] })(request, reply);
    return reply;
  });
}

/** The HTTP server with all surfaces; the caller adds what has no surface and listens. */
export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, maxHeaderSize: MAX_HEADER_BYTES },
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: false },
    rewriteUrl: (request) => {
      const url = request.url ?? '/';
      return isWellFormedUrl(url) ? url : BROKEN_URL;
    },
    clientErrorHandler: answerClientError,
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, keepBytes);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const now = options.clock.now();
    const call = findCall(request) ?? openCall(request, newId('request', now), now);
    return sendRefusal(reply, call, toRefusal(error, options.log, call));
  });
  app.addHook('onResponse', async (request, reply) => {
    const call = findCall(request);
    if (call !== undefined) options.onAnswered?.(request, callOf(request), reply.statusCode);
  });
  for (const surface of options.surfaces) {
    await app.register(async (scope) => addSurface(scope, surface, options), {
      prefix: surface.root,
    });
  }
  return app;
}
