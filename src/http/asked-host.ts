import { isIP, isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';

export interface AskedHost {
  /** In lowercase; IPv6 addresses in brackets. */
  readonly name: string;
  /** `null` for the protocol's default. */
  readonly port: number | null;
}

/** Matches host names made of labels. Escapes, user names, blanks and paths do not match. */
const NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?$/;
const MAX_NAME_LENGTH = 255;
const HOST_AND_PORT = /^(\[[^\]]*\]|[^:]*)(?::(\d{0,5}))?$/;
const MAX_PORT = 65_535;

function isName(name: string): boolean {
  if (name.startsWith('[')) return isIPv6(name.slice(1, -1)) && !name.includes('%');
  return name.length <= MAX_NAME_LENGTH && NAME.test(name);
}

/**
 * Parses a Host header or a URL's authority. Returns `null` for a user name, blanks, paths, ports
 * above 65535, and the escapes and punctuation that RFC 3986 also allows: no real host name has
 * them, and programs disagree about their meaning.
 */
export function parseHost(text: string): AskedHost | null {
  const [, written = '', digits = ''] = HOST_AND_PORT.exec(text) ?? [];
  const name = written.toLowerCase();
  const port = digits === '' ? null : Number(digits);
  if (!isName(name) || (port !== null && port > MAX_PORT)) return null;
  return { name, port };
}

const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)/i;

/**
 * Returns the authority of a request target in absolute form (RFC 9112 section 3.2.2); `null` for
 * other forms.
 */
export function authorityOf(target: string): string | null {
  return ABSOLUTE_FORM.exec(target)?.[1] ?? null;
}

/** Returns the path and query of a request target in any form. */
export function pathOfTarget(target: string): string {
  if (target.startsWith('/')) return target;
  const path = target.replace(ABSOLUTE_FORM, '');
  return path === '' || path.startsWith('?') ? `/${path}` : path;
}

/**
 * True if the request was sent to a host that `isOurs` accepts. A target in absolute form names a
 * second host. Both must be accepted, because a proxy in front may have checked either one.
 */
export function isAskedAt(
  { headers, originalUrl }: Pick<FastifyRequest, 'headers' | 'originalUrl'>,
  isOurs: (host: AskedHost) => boolean,
): boolean {
  const authority = authorityOf(originalUrl);
  const named = [headers.host ?? '', ...(authority === null ? [] : [authority])];
  return named.every((text) => {
    const host = parseHost(text);
    return host !== null && isOurs(host);
  });
}

/**
 * Returns a check of the requested host, for data that a browser on this machine or in its network
 * can read without a key. A page of another site can make its own name resolve to our address and
 * then read our responses as its own (DNS rebinding). An IP address, `localhost` and our public
 * name cannot be abused like that.
 */
export function isOwnName(publicUrl: string | null): (host: AskedHost) => boolean {
  const own = publicUrl === null ? null : new URL(publicUrl).hostname;
  return ({ name }) =>
    name === own || name === 'localhost' || isIP(name) !== 0 || name.startsWith('[');
}

const LOOPBACK_ADDRESS = /^(127\.|::1$|::ffff:127\.)/;
/** The host names of this machine; names of other sites may resolve to it as well. */
const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];
/** Headers that proxies add. With any of them, the client is not the one that has connected. */
const OF_PROXIES = /^(forwarded|via|x-real-ip|x-forwarded-\w+)$/;

/** True if a browser on this machine has sent the request itself, under a name of this machine. */
export function isOnOwnMachine(
  request: Pick<FastifyRequest, 'headers' | 'originalUrl'> & { readonly address: string },
): boolean {
  if (!LOOPBACK_ADDRESS.test(request.address)) return false;
  if (Object.keys(request.headers).some((name) => OF_PROXIES.test(name))) return false;
  return isAskedAt(request, ({ name }) => LOOPBACK_NAMES.includes(name));
}
