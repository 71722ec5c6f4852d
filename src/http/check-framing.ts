import type { IncomingMessage } from 'node:http';
import { type Refusal, refuse } from '#core/answer.ts';
import { authorityOf, parseHost } from '#http/asked-host.ts';

function malformed(message: string): Refusal {
  return { ...refuse('body_invalid', message), headers: { Connection: 'close' } };
}

function hostsOf(rawHeaders: readonly string[]): string[] {
  const hosts: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts.push(rawHeaders[i + 1] ?? '');
  }
  return hosts;
}

function checkHost({ rawHeaders, httpVersionMinor }: IncomingMessage): Refusal | null {
  const hosts = hostsOf(rawHeaders);
  if (hosts.length > 1 || (hosts.length === 0 && httpVersionMinor === 1)) {
    return malformed('Send one Host header.');
  }
  const [host] = hosts;
  if (host === undefined || parseHost(host) !== null) return null;
  return malformed('The Host header must be a host name or IP address, with an optional port.');
}

/** The start of a URL's fragment, which clients must not send. */
const FRAGMENT = '#';

function checkTarget(target: string, method: string | undefined): Refusal | null {
  if (target.includes(FRAGMENT)) return malformed('A request target must not have a fragment.');
  if (target.startsWith('/') || (target === '*' && method === 'OPTIONS')) return null;
  const authority = authorityOf(target);
  if (authority !== null && parseHost(authority) !== null) return null;
  return malformed('The request target must be a path, or a URL with a valid host.');
}

/**
 * Refuses requests that Node's parser accepts but a proxy in front may read differently: the proxy
 * could take part of a body for the next request, or see another host (RFC 9112 sections 3.2, 6.1
 * and 11.2). The connection closes after the refusal. `target` is the complete request target, as
 * it was sent.
 */
export function checkFraming(request: IncomingMessage, target: string): Refusal | null {
  if (request.httpVersionMajor !== 1) return malformed('Only HTTP/1.1 and HTTP/1.0 are supported.');
  const encoding = request.headers['transfer-encoding'];
  if (encoding !== undefined) {
    if (request.httpVersionMinor === 0)
      return malformed('HTTP/1.0 does not support Transfer-Encoding.');
    if (encoding.toLowerCase() !== 'chunked') {
      return malformed('The only supported Transfer-Encoding is chunked.');
    }
  }
  return checkHost(request) ?? checkTarget(target, request.method);
}
