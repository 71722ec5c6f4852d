import type { IncomingMessage } from 'node:http';
import { type Refusal, refuse } from '#core/answer.ts';

function malformed(message: string): Refusal {
  return { ...refuse('body_invalid', message), headers: { Connection: 'close' } };
}

function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts;
}

/**
 * Shapes of a request that Node's parser lets pass, and that a proxy in front may read in another
 * way than we do: then what one takes for a body is the other's next request (RFC 9112 sections
 * 3.2, 6.1 and 11.2). The connection is closed after the refusal.
 */
export function checkFraming(request: IncomingMessage): Refusal | null {
  if (request.httpVersionMajor !== 1) return malformed('Only HTTP/1.1 and HTTP/1.0 are supported.');
  const encoding = request.headers['transfer-encoding'];
  if (encoding !== undefined) {
    if (request.httpVersionMinor === 0) return malformed('HTTP/1.0 has no Transfer-Encoding.');
    if (encoding.toLowerCase() !== 'chunked') {
      return malformed('The only supported Transfer-Encoding is chunked.');
    }
  }
  const hosts = countHosts(request.rawHeaders);
  if (hosts > 1 || (hosts === 0 && request.httpVersionMinor === 1)) {
    return malformed('Send one Host header.');
  }
  return null;
}
