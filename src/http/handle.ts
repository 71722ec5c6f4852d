import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TObject, TSchema } from 'typebox';
import type { Answer } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Json } from '#core/canonical-json.ts';
import { isId } from '#core/ids.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/refusal.ts';
import { type Call, callOf, sendAnswer, sendRefusal, sendStream } from '#http/call.ts';
import { headerOf } from '#http/checks.ts';
import { parseJsonObject } from '#http/parse-json.ts';
import { type AnyRoute, DEFAULT_TIME_LIMIT_MS, type Handled, type Stream } from '#http/route.ts';
import { type Check, compileCheck, parseQuery } from '#http/validate.ts';
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

function readBody(request: FastifyRequest, compiled: Compiled): Values | Refusal {
  const mistyped = checkType(request, compiled.route);
  if (mistyped !== null) return mistyped;
  if (compiled.route.upload !== undefined) return {};
  const raw = request.body;
  if (!Buffer.isBuffer(raw) || raw.length === 0) return {};
  const wrongEncoding = checkEncoding(request);
  if (wrongEncoding !== null) return wrongEncoding;
  const body = parseJsonObject(raw);
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

function checkParams(route: AnyRoute, params: Readonly<Record<string, string>>): Refusal | null {
  for (const [name, kind] of Object.entries(route.params ?? {})) {
    if (kind !== 'text' && !isId(kind, params[name] ?? '')) {
      return resourceMissing(
        kind.replaceAll(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`),
        name,
      );
    }
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

function whenGone(request: FastifyRequest): AbortSignal {
  const controller = new AbortController();
  request.raw.socket.once('close', () => controller.abort());
  return controller.signal;
}

const NO_BYTES = Buffer.alloc(0);

function uploaded(request: FastifyRequest, route: AnyRoute): Buffer {
  const isUpload = route.upload !== undefined && Buffer.isBuffer(request.body);
  return isUpload ? (request.body as Buffer) : NO_BYTES;
}

function read(
  request: FastifyRequest,
  compiled: Compiled,
): Handled<never, unknown, unknown> | Refusal {
  const { route } = compiled;
  const call = callOf(request);
  const body = readBody(request, compiled);
  if (isRefusal(body)) return body;
  const query = readQuery(request, compiled);
  if (isRefusal(query)) return query;
  const params = (request.params ?? {}) as Record<string, string>;
  const wrong = compiled.checkBody?.(body) ?? compiled.checkQuery?.(query);
  if (wrong) return wrong;
  const missing = checkParams(route, params);
  if (missing !== null) return missing;
  let gone: AbortSignal | undefined;
  return {
    caller: call.caller as never,
    params,
    query,
    body,
    bytes: uploaded(request, route),
    contentType: mediaType(request),
    idempotency: route.idempotency === 'ignored' ? null : idempotentRequest(request, call, body),
    requestId: call.requestId,
    now: call.now,
    get gone() {
      gone ??= whenGone(request);
      return gone;
    },
  };
}

function timedOut(): Refusal {
  return refuse(
    'request_timeout',
    'The request took too long. The work may still complete: send it again with the same ' +
      'Idempotency-Key, or read the object.',
  );
}

/** The work's answer, or 503 when its time is over; the work goes on either way. */
async function withinTime<T>(work: Promise<T>, limitMs: number): Promise<T | Refusal> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Refusal>((resolve) => {
    timer = setTimeout(() => resolve(timedOut()), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The last part of a request: body and query, the route's own work, the answer. */
export function createHandler(route: AnyRoute) {
  const compiled = compile(route);
  const limitMs = route.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const call = callOf(request);
    const handled = read(request, compiled);
    if (isRefusal(handled)) return sendRefusal(reply, call, handled);
    const work: Promise<Answer | Refusal | Stream> = route.handle(handled as never);
    const answer = await withinTime(work, limitMs);
    if (isRefusal(answer)) return sendRefusal(reply, call, answer);
    if ('stream' in answer) return sendStream(reply, call, answer);
    return sendAnswer(reply, call, answer);
  };
}
