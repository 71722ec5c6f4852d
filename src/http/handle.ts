import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TObject, TSchema } from 'typebox';
import type { Answer } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Json } from '#core/canonical-json.ts';
import { type IdKind, isId } from '#core/ids.ts';
import type { Log } from '#core/log.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/refusal.ts';
import { type Call, callOf, sendAnswer, sendRefusal, sendStream } from '#http/call.ts';
import { headerOf } from '#http/checks.ts';
import { requestTimeout } from '#http/faults.ts';
import { checkText, parseJsonObject } from '#http/parse-json.ts';
import type { AnyRoute, Handled, Stream } from '#http/route.ts';
import { DEFAULT_TIME_LIMIT_MS, withinTime } from '#http/time-limit.ts';
import { type Check, compileCheck, parseQuery } from '#http/validate.ts';
import type { CheckHeldKey } from '#idempotency/held-key.ts';
import type { RunKeyed } from '#idempotency/keys-under-way.ts';
import { fingerprint, type IdempotentRequest } from '#idempotency/request.ts';

type Values = { [key: string]: Json };

/** A route with its schemas compiled. */
interface Compiled {
  readonly route: AnyRoute;
  readonly checkBody: Check | null;
  readonly checkQuery: Check | null;
  readonly queryProperties: Record<string, { type?: string }>;
}

function compile(route: AnyRoute): Compiled {
  const query: TSchema | undefined = route.query;
  return {
    route,
    checkBody: route.body === undefined ? null : compileCheck(closed(route.body), 'body'),
    checkQuery: query === undefined ? null : compileCheck(closed(query), 'query'),
    queryProperties: query === undefined ? {} : (query as TObject).properties,
  };
}

/** Requests are closed (an unknown parameter is a typing error); responses stay open. */
function closed(schema: TSchema): TSchema {
  return { ...schema, additionalProperties: false };
}

function checkEncoding(request: FastifyRequest): Refusal | null {
  const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(headerOf(request, 'content-type') ?? '')?.[1];
  if (charset === undefined || /^utf-?8$/i.test(charset)) return null;
  return refuse('body_invalid', 'The body must be UTF-8.');
}

function mediaType(request: FastifyRequest): string {
  return (headerOf(request, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

function wrongType(expected: readonly string[]): Refusal {
  return refuse('content_type_unsupported', `Send the body as ${expected.join(' or ')}.`);
}

/** A route takes either JSON or the bytes that it declares. */
function checkType(request: FastifyRequest, route: AnyRoute): Refusal | null {
  const allowed = route.upload?.contentTypes ?? ['application/json'];
  const isEmpty = !Buffer.isBuffer(request.body) || request.body.length === 0;
  if (isEmpty && route.upload === undefined) return null;
  return allowed.includes(mediaType(request)) ? null : wrongType(allowed);
}

/** Nothing is unpacked here: what is packed would pass every check of its size as it is. */
function checkContentEncoding(request: FastifyRequest): Refusal | null {
  const encoding = headerOf(request, 'content-encoding');
  if (encoding === undefined || /^\s*(identity)?\s*$/i.test(encoding)) return null;
  return refuse('content_type_unsupported', 'Send the body as it is: no Content-Encoding.');
}

function readBody(request: FastifyRequest, compiled: Compiled): Values | Refusal {
  const packed = checkContentEncoding(request);
  if (packed !== null) return packed;
  const mistyped = checkType(request, compiled.route);
  if (mistyped !== null) return mistyped;
  if (compiled.route.upload !== undefined) return {};
  const raw = request.body;
  if (!Buffer.isBuffer(raw) || raw.length === 0) return {};
  const wrongEncoding = checkEncoding(request);
  if (wrongEncoding !== null) return wrongEncoding;
  const body = parseJsonObject(raw, compiled.route.multiline);
  if (isRefusal(body) || compiled.checkBody !== null) return body;
  const name = Object.keys(body)[0];
  if (name === undefined) return body;
  return refuse('parameter_unknown', `This request takes no body; ${name} is unknown.`, name);
}

function readQuery(request: FastifyRequest, compiled: Compiled): Values | Refusal {
  const at = request.url.indexOf('?');
  const search = at < 0 ? '' : request.url.slice(at + 1);
  const query = parseQuery(search, compiled.queryProperties);
  if (isRefusal(query) || compiled.checkQuery !== null) return query;
  const name = Object.keys(query)[0];
  if (name === undefined) return query;
  return refuse('parameter_unknown', `${name} is not a parameter of this request.`, name);
}

/** `webhookEndpoint` as people call it. */
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
  };
}

/** The response's own event: a listener on a kept-alive socket would outlive the request. */
function whenGone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  if (reply.raw.destroyed) controller.abort();
  else reply.raw.once('close', () => controller.abort());
  return controller.signal;
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

/** Validation and business know the newest version only. */
function inNewestShape(compiled: Compiled, call: Call, sent: Sent): Sent {
  const { versions, version } = call;
  if (version === versions.latest) return sent;
  const { operationId } = compiled.route;
  const part = compiled.checkBody === null ? 'query' : 'body';
  return { ...sent, [part]: versions.upgradeRequest(operationId, sent[part], version) };
}

function read(
  request: FastifyRequest,
  reply: FastifyReply,
  compiled: Compiled,
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
  // Only now: a misshapen id is nobody's object, and may hold what no log can store.
  call.objectId = params.id ?? null;
  return {
    caller: call.caller as never,
    params,
    query,
    body,
    bytes: uploaded(request, route),
    contentType: mediaType(request),
    idempotency:
      route.idempotency === 'ignored' ? null : idempotentRequest(request, call, sentBody),
    requestId: call.requestId,
    now: call.now,
    // Not a getter: each object literal with one gets a hidden class of its own, which keeps all
    // that the request holds (7 KB) until the next full garbage collection.
    whenGone: () => whenGone(reply),
  };
}

/** A key that another request holds is the first thing to say, whatever is wrong with this one. */
async function refusalOf(
  request: FastifyRequest,
  refusal: Refusal,
  of: { readonly route: AnyRoute; readonly checkHeldKey: CheckHeldKey | undefined },
): Promise<Refusal> {
  const { route, checkHeldKey } = of;
  if (route.idempotency === 'ignored' || checkHeldKey === undefined) return refusal;
  const call = callOf(request);
  const sent = idempotentRequest(request, call, {});
  return (sent && (await checkHeldKey(sent, call.now))) ?? refusal;
}

export interface HandlerDeps {
  readonly log: Log;
  readonly checkHeldKey: CheckHeldKey | undefined;
  readonly runKeyed: RunKeyed;
}

/** The last part of a request: body and query, the route's own work, the answer. */
export function createHandler(route: AnyRoute, { log, checkHeldKey, runKeyed }: HandlerDeps) {
  const compiled = compile(route);
  const work = (handled: Handled<never, unknown, unknown>) =>
    handled.idempotency === null
      ? route.handle(handled as never)
      : runKeyed(handled.idempotency, () => route.handle(handled as never));
  const limitMs = route.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const call = callOf(request);
    const handled = read(request, reply, compiled);
    if (isRefusal(handled)) {
      const refusal = await refusalOf(request, handled, { route, checkHeldKey });
      return sendRefusal(reply, call, refusal);
    }
    const answer = await withinTime<Answer | Refusal | Stream>(work(handled), {
      ms: limitMs - (performance.now() - call.startedMs),
      late: requestTimeout,
      onLateFault: (error) =>
        log.error('work failed after its time limit', { request: call.requestId, error }),
    });
    if (isRefusal(answer)) return sendRefusal(reply, call, answer);
    if ('stream' in answer) return sendStream(reply, call, answer);
    return sendAnswer(reply, call, answer);
  };
}
