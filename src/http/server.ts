import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { DEFAULT_WEB_URL, type Refusal, refuse } from '#core/answer.ts';
import { API_VERSIONS, type ApiVersions } from '#core/api-versions.ts';
import { assert } from '#core/assert.ts';
import type { Clock } from '#core/clock.ts';
import { newId } from '#core/ids.ts';
import { refusalOfFault, serviceUnavailable } from '#http/answer-faults.ts';
import { createClientErrorHandler } from '#http/answer-malformed.ts';
import { pathOfTarget } from '#http/asked-host.ts';
import { checkFraming } from '#http/check-framing.ts';
import { checkRequest, type Target } from '#http/checks-before-body.ts';
import { createDrain, type Drain } from '#http/drain.ts';
import { hintFor } from '#http/foreign-paths.ts';
import { createHandler, type HandlerDeps } from '#http/handle-request.ts';
import { type Connections, createConnections } from '#http/pipelined-requests.ts';
import { addressKey, type RateLimiter } from '#http/rate-limit.ts';
import { type Call, keepCalls, openCall, sendRefusal } from '#http/request-state.ts';
import type { Surface } from '#http/route.ts';
import { MOVES } from '#http/second-factor-by-effect.ts';
import { securityHeaders } from '#http/security-headers.ts';
import { CHECK_TIME_LIMIT_MS, withinTime } from '#http/time-limit.ts';
import type { CheckHeldKey } from '#idempotency/held-key.ts';
import { createKeysInProgress } from '#idempotency/keys-in-progress.ts';
import type { Log } from '#observability/log.ts';

export interface ServerOptions {
  readonly surfaces: readonly Surface[];
  readonly clock: Clock;
  readonly limiter: RateLimiter;
  readonly log: Log;
  /** Addresses or CIDR ranges of the proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  /** Called for every answered request. Must be quick and never throw. */
  readonly onAnswered?: (request: FastifyRequest, call: Call, status: number) => void;
  /** Responds to paths outside every surface. Default: 404 as JSON. */
  readonly notFound?: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
  /** Looks up whether another request holds the same idempotency key. */
  readonly checkHeldKey?: CheckHeldKey;
  /** Default: the real versions of the API. */
  readonly versions?: ApiVersions;
  /** True if people reach the service over https; default: false. */
  readonly https?: boolean;
  /** Root URL of the documentation that errors link to; default: {@link DEFAULT_WEB_URL}. */
  readonly docsUrl?: () => string;
  /** Default: {@link TIME_LIMITS}. */
  readonly timeLimits?: TimeLimits;
  /** Shuts the server down. Default: a drain that never starts. */
  readonly drain?: Drain;
  /** Returns false if the caller must get a 404 at this path. Default: true for all. */
  readonly isThere?: (request: FastifyRequest) => boolean;
  /** Wraps each request's handler; default: none. */
  readonly around?: HandlerDeps['around'];
}

/** Time limits for a client that sends a request, in milliseconds. */
export interface TimeLimits {
  readonly headersMs: number;
  /** Headers and body. */
  readonly requestMs: number;
  /** Interval at which Node checks the two limits above (Node's default is 30 s). */
  readonly checkEveryMs: number;
}

/** Node's defaults would let a slow sender hold a socket for 60 to 300 s. */
const TIME_LIMITS: TimeLimits = { headersMs: 10_000, requestMs: 15_000, checkEveryMs: 1_000 };

/** The limit of behavior.md 2.1: larger bodies get 413. */
const BODY_LIMIT_BYTES = 64 * 1024;
/**
 * Longer than the keep-alive time of usual load balancers, so that none sends a request on a socket
 * that we just closed.
 */
const KEEP_ALIVE_MS = 65_000;
/**
 * Closes a connection after this long without data in either direction. Longer than any of our long
 * polls, waits and heartbeats.
 */
const SILENCE_MS = 120_000;
const MAX_HEADER_BYTES = 16 * 1024;
/**
 * Far longer than any id, so that our checks refuse a parameter that is too long, and not the
 * router.
 */
const MAX_PARAM_LENGTH = MAX_HEADER_BYTES;
/**
 * Replaces a path with an invalid escape, so that the request gets a 404. No route has this path.
 */
const BROKEN_PATH = '/api/v1/%00';

function isWellFormedPath(url: string): boolean {
  if (!url.includes('%')) return true;
  try {
    decodeURI(url.split('?')[0] ?? '');
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the path and query of a request URL. Proxies may send `http://host/path` (RFC 9112
 * section 3.2.2).
 */
function rewriteUrl(request: { readonly url?: string | undefined }): string {
  const url = pathOfTarget(request.url ?? '/');
  return isWellFormedPath(url) ? url : BROKEN_PATH;
}

/** Converts a path such as `/payment_intents/{id}` to the router's notation. */
function routerPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function keepBytes(
  _request: FastifyRequest,
  body: Buffer,
  done: (error: Error | null, body: Buffer) => void,
): void {
  done(null, body);
}

type Check = (target: Target) => (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

function startCall(request: FastifyRequest, options: ServerOptions): Call {
  const now = options.clock.now();
  const versions = options.versions ?? API_VERSIONS;
  const docsUrl = options.docsUrl?.() ?? DEFAULT_WEB_URL;
  return openCall(request, { requestId: newId('request', now), docsUrl, now, versions });
}

/** Sends a refusal before the caller's key is known. The request counts against its IP address. */
async function refuseEarly(
  refusal: Refusal | ((call: Call) => Refusal),
  input: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  options: ServerOptions,
): Promise<FastifyReply> {
  const call = input.request.call ?? startCall(input.request, options);
  call.rate ??= await options.limiter.take(addressKey(input.request.ip));
  return sendRefusal(input.reply, call, typeof refusal === 'function' ? refusal(call) : refusal);
}

function createCheck(surface: Surface, options: ServerOptions): Check {
  const { limiter, log } = options;
  return (target) => async (request, reply) => {
    const call = startCall(request, options);
    const refusal = await withinTime(checkRequest(surface, target, { request, call, limiter }), {
      ms: CHECK_TIME_LIMIT_MS,
      late: serviceUnavailable,
      onLateFault: (error) =>
        log.warn("a request's checks failed after the request had timed out", {
          request: call.requestId,
          error,
        }),
    });
    if (refusal !== null) return refuseEarly(refusal, { request, reply }, options);
  };
}

async function unreachable(): Promise<never> {
  throw new Error('a request without a route passed the checks');
}

/** Returns a function that lists the methods of a path; an empty list for an unknown path. */
function createAllowed(surface: Surface): (path: string) => string[] {
  const patterns = surface.routes.map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${surface.root}${path.replaceAll(/\{\w+\}/g, '[^/]*')}$`),
  }));
  return (path) => [
    ...new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)),
  ];
}

function addSurface(
  app: FastifyInstance,
  surface: Surface,
  { options, deps }: { readonly options: ServerOptions; readonly deps: HandlerDeps },
): void {
  const check = createCheck(surface, options);
  for (const route of surface.routes) {
    const { method } = route;
    assert(MOVES.includes(route.moves), `${route.operationId} does not declare what it moves`);
    const url = routerPath(route.path);
    const bodyLimit = route.upload?.maxBytes ?? BODY_LIMIT_BYTES;
    const handler = createHandler(route, deps);
    app.route({ method, url, bodyLimit, onRequest: check(route), handler });
  }
  const allowed = createAllowed(surface);
  // Runs before the body is read, so that the key is checked first even if the path is unknown.
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    const allow = allowed(request.url.split('?')[0] ?? '');
    check({ allow })(request, reply).catch(done);
  });
  app.setNotFoundHandler(unreachable);
}

/**
 * Returns the function that makes the error for a path without a route. It has a hint for clients
 * that omitted `/api`, if there is a route with it, or that request a Stripe path.
 */
function createNothingAt(surfaces: readonly Surface[]): (path: string) => Refusal {
  const allowed = surfaces.map(createAllowed);
  return (path) => {
    const full = `/api${path}`;
    const exists = allowed.some((methodsAt) => methodsAt(full).length > 0);
    const hint = exists ? ` The API is under /api: send this request to ${full}.` : hintFor(full);
    return refuse('route_missing', `There is nothing at this path.${hint}`);
  };
}

/**
 * Adds the behavior that all routes share: security headers, framing checks, and responses to
 * errors and unknown paths.
 */
function addCommonAnswers(
  app: FastifyInstance,
  options: ServerOptions,
  { connections, drain }: { readonly connections: Connections; readonly drain: Drain },
): void {
  const headers = securityHeaders({ https: options.https === true });
  const nothingAt = createNothingAt(options.surfaces);
  const notFound = (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?')[0] ?? '';
    return refuseEarly(nothingAt(path), { request, reply }, options);
  };
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers);
    const { socket } = request.raw;
    if (!connections.begin(socket, reply.raw)) return reply.hijack();
    if (drain.isClosing()) reply.raw.shouldKeepAlive = false;
    const refusal = checkFraming(request.raw, request.originalUrl);
    if (refusal === null && (options.isThere?.(request) ?? true)) return done();
    if (refusal === null) return void notFound(request, reply).catch(done);
    connections.distrust(socket);
    const { log } = options;
    log.warn('malformed request', { address: request.ip, why: refusal.message });
    refuseEarly(refusal, { request, reply }, options).catch(done);
  });
  app.setErrorHandler((error: FastifyError, request, reply) =>
    refuseEarly(
      (call) => refusalOfFault(error, options.log, call.requestId),
      { request, reply },
      options,
    ),
  );
  app.setNotFoundHandler(options.notFound ?? notFound);
  app.addHook('onResponse', (request, reply, done) => {
    if (request.call !== null) options.onAnswered?.(request, request.call, reply.statusCode);
    done();
  });
  // A request with an unknown Expect header must not bypass the rules above.
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  );
}

function createApp(options: ServerOptions, connections: Connections): FastifyInstance {
  const timeLimits = options.timeLimits ?? TIME_LIMITS;
  return fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: timeLimits.requestMs,
    connectionTimeout: SILENCE_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: {
      headersTimeout: timeLimits.headersMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      connectionsCheckingInterval: timeLimits.checkEveryMs,
      // Turned off here, because `checkFraming` checks it and refuses in our own error format.
      requireHostHeader: false,
    },
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    exposeHeadRoutes: true,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, ignoreTrailingSlash: false },
    rewriteUrl,
    clientErrorHandler: createClientErrorHandler({ ...options, connections }),
  });
}

/**
 * Builds the HTTP server with all surfaces. The caller then adds routes outside of surfaces, and
 * listens.
 */
export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const connections = createConnections();
  const drain = options.drain ?? createDrain();
  const app = createApp(options, connections);
  keepCalls(app);
  app.removeAllContentTypeParsers();
  // Accepts every media type here: it is checked later together with the body, because an empty
  // body needs none.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, keepBytes);
  addCommonAnswers(app, options, { connections, drain });
  const { log, checkHeldKey, around } = options;
  const deps = { log, checkHeldKey, runKeyed: createKeysInProgress(), drain, around };
  for (const surface of options.surfaces) {
    await app.register(async (scope) => addSurface(scope, surface, { options, deps }), {
      prefix: surface.root,
    });
  }
  return app;
}
