import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Answer, answerRefusal, type Refusal, type RequestRef } from '#core/answer.ts';
import type { ApiVersions } from '#core/api-versions.ts';
import { present } from '#core/assert.ts';
import type { RateDecision } from '#http/rate-limit.ts';
import type { Caller, Route, Stream } from '#http/route.ts';

/** The state of a request while the checks run. */
export interface Call extends RequestRef {
  readonly startedMs: number;
  /** Time at which the response's stream began; `null` for an ordinary response. */
  streamedMs: number | null;
  readonly now: Date;
  readonly versions: ApiVersions;
  caller: Caller | null;
  route: Pick<Route, 'operationId' | 'method' | 'path'> | null;
  version: string;
  rate: RateDecision | null;
  /** The id of the object in the path, or of the object that the request created. */
  objectId: string | null;
  /** The error code in the response; `null` if it is not an error. */
  code: string | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The state of this request; `null` until the checks begin. (A WeakMap keyed by request would
     * cost 2 us per request.)
     */
    call: Call | null;
  }
}

/** Adds the property `call` to every request of this server. Call it before routes are added. */
export function keepCalls(app: FastifyInstance): void {
  app.decorateRequest('call', null);
}

export function openCall(
  request: FastifyRequest,
  begun: Pick<Call, keyof RequestRef | 'now' | 'versions'>,
): Call {
  const call: Call = {
    ...begun,
    startedMs: performance.now(),
    streamedMs: null,
    caller: null,
    route: null,
    version: begun.versions.latest,
    rate: null,
    objectId: null,
    code: null,
  };
  request.call = call;
  return call;
}

export function callOf(request: FastifyRequest): Call {
  return present(request.call, 'call of a request');
}

/**
 * Sets the headers that every response of an API has (behavior.md 2.2). Their names are in
 * lowercase because Fastify would otherwise convert each of them for every response.
 */
function setCommonHeaders(reply: FastifyReply, call: Call): FastifyReply {
  reply
    .header('request-id', call.requestId)
    .header('service-version', call.version)
    .header('cache-control', 'no-store');
  if (call.caller?.responseHeaders !== undefined) reply.headers(call.caller.responseHeaders);
  return call.rate === null ? reply : reply.headers(rateHeaders(call.rate));
}

/**
 * Returns how long, in milliseconds, the caller waited for the response or for the beginning of a
 * stream.
 */
export function tookMs(call: Call): number {
  return (call.streamedMs ?? performance.now()) - call.startedMs;
}

export function rateHeaders(rate: RateDecision) {
  return {
    'ratelimit-limit': String(rate.limit),
    'ratelimit-remaining': String(rate.remaining),
    'ratelimit-reset': String(rate.resetSeconds),
  };
}

const JSON_TYPE = 'application/json; charset=utf-8';

const LEADING_ID = /^\{"id":"(\w{1,64})"/;

/**
 * Returns the id at the beginning of a response body, where our objects have it; `null` if there is
 * none.
 */
function idIn(body: string): string | null {
  return LEADING_ID.exec(body)?.[1] ?? null;
}

export function sendAnswer(reply: FastifyReply, call: Call, answer: Answer): FastifyReply {
  const { body } = answer;
  if (answer.status < 300) call.objectId ??= idIn(body);
  setCommonHeaders(reply.code(answer.status).header('content-type', JSON_TYPE), call);
  if (answer.headers !== undefined) reply.headers(answer.headers);
  return reply.send(body === '' ? body : call.versions.downgrade(body, call.version));
}

export function sendRefusal(reply: FastifyReply, call: Call, refusal: Refusal): FastifyReply {
  call.code = refusal.code;
  return sendAnswer(reply, call, answerRefusal(refusal, call));
}

export function sendStream(reply: FastifyReply, call: Call, answer: Stream): FastifyReply {
  call.streamedMs = performance.now();
  setCommonHeaders(reply.code(answer.status), call).headers(answer.headers);
  if (reply.request.method !== 'HEAD') return reply.send(answer.stream);
  // A HEAD request never reads the stream, which has no end. Left open, it would hold one of the
  // key's slots.
  answer.stream.destroy();
  return reply.send();
}
