import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Answer, answerRefusal, type Refusal } from '#core/answer.ts';
import type { ApiVersions } from '#core/api-versions.ts';
import { assert } from '#core/assert.ts';
import type { RateDecision } from '#http/rate-limit.ts';
import type { Caller, Route, Stream } from '#http/route.ts';

/** What is known of one request while it goes through the checks. */
export interface Call {
  readonly requestId: string;
  readonly startedMs: number;
  /** When a stream began, which may go on for hours; null: the answer is sent at once. */
  streamedMs: number | null;
  readonly now: Date;
  readonly versions: ApiVersions;
  caller: Caller | null;
  route: Pick<Route, 'operationId' | 'method' | 'path'> | null;
  version: string;
  rate: RateDecision | null;
  /** The object in the path, or the one that was made. */
  objectId: string | null;
  /** The code of the refusal or fault that it was answered with. */
  code: string | null;
}

const calls = new WeakMap<FastifyRequest, Call>();

export function openCall(
  request: FastifyRequest,
  begun: Pick<Call, 'requestId' | 'now' | 'versions'>,
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
  calls.set(request, call);
  return call;
}

export function findCall(request: FastifyRequest): Call | undefined {
  return calls.get(request);
}

export function callOf(request: FastifyRequest): Call {
  const call = calls.get(request);
  assert(call !== undefined, 'a request without a call');
  return call;
}

/** The five headers that every response carries (behavior.md 2.2). */
export function commonHeaders(call: Call): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {
    'Request-Id': call.requestId,
    'Service-Version': call.version,
    'Cache-Control': 'no-store',
    ...call.caller?.responseHeaders,
  };
  return call.rate === null ? headers : Object.assign(headers, rateHeaders(call.rate));
}

/** How long the caller waited for its answer, or for the beginning of a stream. */
export function tookMs(call: Call): number {
  return (call.streamedMs ?? performance.now()) - call.startedMs;
}

export function rateHeaders(rate: RateDecision) {
  return {
    'RateLimit-Limit': String(rate.limit),
    'RateLimit-Remaining': String(rate.remaining),
    'RateLimit-Reset': String(rate.resetSeconds),
  };
}

const JSON_TYPE = 'application/json; charset=utf-8';

const LEADING_ID = /^\{"id":"(\w{1,64})"/;

/** The id that an object of ours begins with. */
function idIn(body: string): string | null {
  return LEADING_ID.exec(body)?.[1] ?? null;
}

export function sendAnswer(reply: FastifyReply, call: Call, answer: Answer): FastifyReply {
  const { body } = answer;
  if (answer.status < 300) call.objectId ??= idIn(body);
  return reply
    .code(answer.status)
    .headers({ 'Content-Type': JSON_TYPE, ...commonHeaders(call), ...answer.headers })
    .send(body === '' ? body : call.versions.downgrade(body, call.version));
}

export function sendRefusal(reply: FastifyReply, call: Call, refusal: Refusal): FastifyReply {
  call.code = refusal.code;
  return sendAnswer(reply, call, answerRefusal(refusal, call.requestId));
}

export function sendStream(reply: FastifyReply, call: Call, answer: Stream): FastifyReply {
  call.streamedMs = performance.now();
  return reply
    .code(answer.status)
    .headers({ ...commonHeaders(call), ...answer.headers })
    .send(answer.stream);
}
