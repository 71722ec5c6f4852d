import type { Socket } from 'node:net';
import { answerRefusal } from '#core/answer.ts';
import { newId } from '#core/ids.ts';
import { refuse } from '#core/refusal.ts';
import { LATEST_API_VERSION } from '#http/versions.ts';

/** What Node's parser says of a request that is not HTTP as it should be. */
const STATUS_BY_CODE: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Answers what never became a request (bad framing, smuggling shapes, headers too large or too
 * slow) and closes the connection: nothing that follows on it can be trusted.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = STATUS_BY_CODE[error.code ?? ''] ?? '400 Bad Request';
  const requestId = newId('request', new Date());
  const refusal = refuse('body_invalid', 'The request is not well-formed HTTP/1.1.');
  const { body } = answerRefusal(refusal, requestId);
  socket.end(
    [
      `HTTP/1.1 ${status}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `Request-Id: ${requestId}`,
      `Service-Version: ${LATEST_API_VERSION}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
