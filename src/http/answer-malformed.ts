import type { Socket } from 'node:net';
import { answerRefusal, DEFAULT_WEB_URL, refuse } from '#core/answer.ts';
import type { Clock } from '#core/clock.ts';
import { newId } from '#core/ids.ts';
import { LATEST_API_VERSION } from '#http/choose-version.ts';
import type { Connections } from '#http/pipelined-requests.ts';
import { addressKey, type RateLimiter } from '#http/rate-limit.ts';
import { rateHeaders } from '#http/request-state.ts';
import { securityHeaders } from '#http/security-headers.ts';
import type { Log } from '#observability/log.ts';

/** Node's parser errors that get a status other than 400. */
const STATUS_BY_CODE: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Malformed requests are logged only while their address has at least this many requests left in
 * its quota.
 */
const LOGGED_REMAINING = 1;

/**
 * Responds to malformed input (bad framing, smuggling attempts, headers too large or too slow) and
 * closes the connection, because whatever follows on it cannot be trusted. If an earlier request on
 * the connection has no response yet, closes it without responding, because the client could
 * mistake the response for the other request's.
 */
export function createClientErrorHandler(deps: {
  readonly clock: Clock;
  readonly limiter: RateLimiter;
  readonly log: Log;
  readonly connections: Connections;
  readonly https?: boolean;
  /** Default: {@link DEFAULT_WEB_URL}. */
  readonly docsUrl?: () => string;
}) {
  const always = securityHeaders({ https: deps.https === true });
  return async (error: NodeJS.ErrnoException, socket: Socket): Promise<void> => {
    if (!deps.connections.distrust(socket)) return;
    const isSilent = error.code === 'ECONNRESET' || !socket.writable;
    if (isSilent || deps.connections.owesAnswer(socket)) {
      socket.destroy();
      return;
    }
    const now = deps.clock.now();
    const address = socket.remoteAddress ?? '';
    const rate = await deps.limiter.take(addressKey(address));
    const requestId = newId('request', now);
    if (rate.remaining >= LOGGED_REMAINING) {
      deps.log.warn('malformed request', { request: requestId, address, code: error.code });
    }
    const refusal = refuse('body_invalid', 'The request is not well-formed HTTP/1.1.');
    const docsUrl = deps.docsUrl?.() ?? DEFAULT_WEB_URL;
    const { body } = answerRefusal(refusal, { requestId, docsUrl });
    const headers = {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      'Request-Id': requestId,
      'Service-Version': LATEST_API_VERSION,
      ...always,
      ...rateHeaders(rate),
      Connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const status = STATUS_BY_CODE[error.code ?? ''] ?? '400 Bad Request';
    socket.end([`HTTP/1.1 ${status}`, ...lines, '', body].join('\r\n'));
  };
}
