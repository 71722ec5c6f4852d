import type { FastifyReply, FastifyRequest } from 'fastify';
import { describeError } from '#core/log.ts';
import { inSpan, isTracing, startSpan } from '#core/tracing.ts';
import { callOf } from '#http/call.ts';
import type { AnyRoute } from '#http/route.ts';

const FAULT_FROM = 500;

interface TracedRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly route: AnyRoute;
}

/** Answers the request as a span of the caller's trace, where somebody traces. */
export function traced(asked: TracedRequest, answer: () => Promise<unknown>): Promise<unknown> {
  return isTracing() ? inSpanOfRequest(asked, answer) : answer();
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
