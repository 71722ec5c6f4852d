import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Answer, isRefusal, type Refusal, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { type IdKind, isId } from '#core/ids.ts';
import { requestTimeout } from '#http/answer-faults.ts';
import { headerOf } from '#http/checks-before-body.ts';
import type { Drain } from '#http/drain.ts';
import { checkText } from '#http/parse-json.ts';
import {
  type Compiled,
  compile,
  mediaType,
  readBody,
  readQuery,
  type Values,
} from '#http/read-body.ts';
import { type Call, callOf, sendAnswer, sendRefusal, sendStream } from '#http/request-state.ts';
import type { AnyRoute, Handled, Stream } from '#http/route.ts';
import { DEFAULT_TIME_LIMIT_MS, withinTime } from '#http/time-limit.ts';
import type { CheckHeldKey } from '#idempotency/held-key.ts';
import type { RunKeyed } from '#idempotency/keys-in-progress.ts';
import { fingerprint, type IdempotentRequest } from '#idempotency/request-fingerprint.ts';
import type { Log } from '#observability/log.ts';
import { describeError } from '#observability/log.ts';
import { inSpan, isTracing, startSpan } from '#observability/tracing.ts';

function nameOfKind(kind: IdKind | 'text', param: string): string {
  if (kind === 'text') return param;
  return kind.replaceAll(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`);
}

function checkParams(route: AnyRoute, params: Readonly<Record<string, string>>): Refusal | null {
  for (const [name, kind] of Object.entries(route.params ?? {})) {
    const value = params[name] ?? '';
    const isShapely = kind === 'text' ? checkText(value, name) === null : isId(kind, value);
    if (!isShapely) return resourceMissing(nameOfKind(kind, name), name);
  }
  return null;
}

/** Returns the members of a body that a request with the same key must repeat. */
function repeated(body: Values, { credentials }: AnyRoute): Values {
  if (credentials === undefined) return body;
  const members = Object.entries(body).filter(([name]) => !credentials.includes(name));
  return Object.fromEntries(members);
}

function idempotentRequest(
  request: FastifyRequest,
  call: Call,
  body: Values,
): IdempotentRequest | null {
  const key = headerOf(request, 'idempotency-key');
  if (key === undefined) return null;
  const caller = present(call.caller, 'caller');
  const path = (request.url.split('?')[0] ?? '').replace(/^\/api/, '');
  const { method } = request;
  return {
    tenant: caller.tenant,
    caller: caller.idempotencySpace,
    key,
    method,
    path,
    fingerprint: fingerprint(method, path, body),
    docsUrl: call.docsUrl,
  };
}

const NO_BYTES = Buffer.alloc(0);

function uploaded(request: FastifyRequest, route: AnyRoute): Buffer {
  const isUpload = route.upload !== undefined && Buffer.isBuffer(request.body);
  return isUpload ? (request.body as Buffer) : NO_BYTES;
}

interface Sent {
  readonly body: Values;
  readonly query: Values;
}

/** Upgrades the request to the newest version, the only one that validation and handlers know. */
function inNewestShape(compiled: Compiled, call: Call, sent: Sent): Sent {
  const { versions, version } = call;
  if (version === versions.latest) return sent;
  const { operationId } = compiled.route;
  const part = compiled.checkBody === null ? 'query' : 'body';
  return { ...sent, [part]: versions.upgradeRequest(operationId, sent[part], version) };
}

function readRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  { compiled, drain }: { readonly compiled: Compiled; readonly drain: Drain },
): Handled<never, unknown, unknown> | Refusal {
  const { route } = compiled;
  const call = callOf(request);
  const sentBody = readBody(request, compiled);
  if (isRefusal(sentBody)) return sentBody;
  const sentQuery = readQuery(request, compiled);
  if (isRefusal(sentQuery)) return sentQuery;
  const { body, query } = inNewestShape(compiled, call, { body: sentBody, query: sentQuery });
  const params = (request.params ?? {}) as Record<string, string>;
  const wrong = compiled.checkBody?.(body) ?? compiled.checkQuery?.(query);
  if (wrong) return wrong;
  const missing = checkParams(route, params);
  if (missing !== null) return missing;
  // Set only after the checks above: a malformed id names no object, and may contain characters
  // that the log cannot store.
  call.objectId = params.id ?? null;
  return {
    caller: call.caller as never,
    params,
    query,
    body,
    bytes: uploaded(request, route),
    contentType: mediaType(request),
    lastEventId: headerOf(request, 'last-event-id') || null,
    idempotency:
      route.idempotency === 'ignored'
        ? null
        : idempotentRequest(request, call, repeated(sentBody, route)),
    requestId: call.requestId,
    now: call.now,
    // A function, not a getter: each object literal with a getter gets its own hidden class, which
    // retains everything of the request (7 KB) until the next full garbage collection.
    whenGone: () => drain.waiting(reply.raw, { isPoll: route.method === 'GET' }),
  };
}

/**
 * If another request holds the idempotency key, that is reported first, even if this request has
 * other problems.
 */
async function refusalOf(
  request: FastifyRequest,
  refusal: Refusal,
  context: { readonly route: AnyRoute; readonly checkHeldKey: CheckHeldKey | undefined },
): Promise<Refusal> {
  const { route, checkHeldKey } = context;
  if (route.idempotency === 'ignored' || checkHeldKey === undefined) return refusal;
  const call = callOf(request);
  const sent = idempotentRequest(request, call, {});
  return (sent && (await checkHeldKey(sent, call.now))) ?? refusal;
}

export interface HandlerDeps {
  readonly log: Log;
  readonly checkHeldKey: CheckHeldKey | undefined;
  readonly runKeyed: RunKeyed;
  readonly drain: Drain;
  /**
   * Wraps each request's handler. It also gets the route, because tests compare each route's writes
   * with its declaration.
   */
  readonly around:
    | ((route: AnyRoute, work: () => Promise<unknown>) => Promise<unknown>)
    | undefined;
}

/**
 * Creates the last steps of a request: parsing the body and query, calling the route's handler, and
 * responding.
 */
export function createHandler(route: AnyRoute, deps: HandlerDeps) {
  const { log, checkHeldKey, runKeyed, drain } = deps;
  const compiled = compile(route);
  const work = (handled: Handled<never, unknown, unknown>) =>
    handled.idempotency === null
      ? route.handle(handled as never)
      : runKeyed(handled.idempotency, () => route.handle(handled as never));
  const limitMs = route.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS;
  const handle = async (request: FastifyRequest, reply: FastifyReply) => {
    const call = callOf(request);
    const handled = readRequest(request, reply, { compiled, drain });
    if (isRefusal(handled)) {
      const refusal = await refusalOf(request, handled, { route, checkHeldKey });
      return sendRefusal(reply, call, refusal);
    }
    const answer = await withinTime<Answer | Refusal | Stream>(work(handled), {
      ms: limitMs - (performance.now() - call.startedMs),
      late: requestTimeout,
      onLateFault: (error) =>
        log.error("a request's handler failed after the request had timed out", {
          request: call.requestId,
          error,
        }),
    });
    if (isRefusal(answer)) return sendRefusal(reply, call, answer);
    if ('stream' in answer) return sendStream(reply, call, answer);
    return sendAnswer(reply, call, answer);
  };
  const { around } = deps;
  return (request: FastifyRequest, reply: FastifyReply) => {
    const answer = () => handle(request, reply);
    return traced({ request, reply, route }, () => around?.(route, answer) ?? answer());
  };
}

const FAULT_FROM = 500;

interface TracedRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly route: AnyRoute;
}

function traced(request: TracedRequest, answer: () => Promise<unknown>): Promise<unknown> {
  return isTracing() ? inSpanOfRequest(request, answer) : answer();
}

async function inSpanOfRequest(
  { request, reply, route }: TracedRequest,
  answer: () => Promise<unknown>,
): Promise<unknown> {
  const { traceparent } = request.headers;
  const span = startSpan(route.operationId, {
    parent: typeof traceparent === 'string' ? traceparent : null,
    kind: 'server',
    attributes: {
      'http.request.method': request.method,
      'http.route': route.path,
      'tapline.request_id': callOf(request).requestId,
    },
  });
  if (span === null) return answer();
  try {
    const answered = await inSpan(span, answer);
    span.set({ 'http.response.status_code': reply.statusCode });
    if (reply.statusCode >= FAULT_FROM) span.fail(`status ${reply.statusCode}`);
    return answered;
  } catch (error) {
    span.fail(describeError(error));
    throw error;
  } finally {
    span.end();
  }
}
