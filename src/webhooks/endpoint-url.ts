import { isIP } from 'node:net';
import { type Refusal, refuse } from '#core/answer.ts';
import type { Resolver } from '#webhooks/dns-resolver.ts';
import type { AddressPolicy } from '#webhooks/refuse-private-addresses.ts';

/** Longer URLs are refused, with a limit similar to that of browsers and proxies. */
export const MAX_URL_LENGTH = 2048;
/**
 * The creation of an endpoint waits this long for DNS. A name that does not resolve in time is
 * accepted, because it may resolve later.
 */
const LOOKUP_MS = 2_000;
const LOWEST_FREE_PORT = 1024;
const HIGHEST_PORT = 65_535;
const WELL_KNOWN_PORTS = [80, 443];

function notAllowed(why: string): Refusal {
  return refuse('url_not_allowed', `This URL is not allowed: ${why}`, 'url');
}

function isPortAllowed(port: number): boolean {
  return WELL_KNOWN_PORTS.includes(port) || (port >= LOWEST_FREE_PORT && port <= HIGHEST_PORT);
}

/**
 * Refuses URLs that the parser would change silently: it strips white space and control characters,
 * replaces backslashes, and drops empty user names and fragments.
 */
function checkSpelling(raw: string): Refusal | null {
  const strange = [...raw].some((c) => (c.codePointAt(0) ?? 0) <= 0x20 || c === '\u007f');
  if (strange) return notAllowed('it contains white space or control characters.');
  if (raw.includes('\\')) return notAllowed('it contains a backslash.');
  if (raw.includes('#')) return notAllowed('it has a fragment (#…). Leave it out.');
  const authority = /^[a-z]+:\/\/([^/?]*)/i.exec(raw)?.[1];
  if (authority === undefined || authority === '') {
    return notAllowed('it must be https:// or http:// followed by a host.');
  }
  if (authority.includes('@')) {
    return notAllowed(
      'it contains a user name or password. Verify the signature of each event instead.',
    );
  }
  return null;
}

/** Returns advice for a developer whose receiver is on this machine or in the same network. */
function howToAllow(url: URL): string {
  const isLocal = /^(localhost|127\..*|\[::1\])$/.test(url.hostname);
  const sandbox = isLocal
    ? 'The sandbox allows http://127.0.0.1:… and http://localhost:… in test mode. '
    : '';
  return (
    `${sandbox}An operator can allow addresses in their own network with ` +
    'WEBHOOK_ALLOW_CIDRS, for example ' +
    `WEBHOOK_ALLOW_CIDRS=${isLocal ? '127.0.0.0/8' : '10.0.0.0/8'}.`
  );
}

export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

/** Returns the host to resolve or connect to, without the brackets of an IPv6 literal. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/**
 * Checks the rules of behavior.md 11.8 that need no DNS look-up. The parser has already normalized
 * the host: numeric, octal, hexadecimal, short and full-width notations of IPv4 are dotted quads.
 */
export function parseEndpointUrl(raw: string, livemode: boolean): URL | Refusal {
  if (raw.length > MAX_URL_LENGTH) {
    return notAllowed(`it is longer than ${MAX_URL_LENGTH} characters.`);
  }
  const misspelled = checkSpelling(raw);
  if (misspelled !== null) return misspelled;
  const url = URL.canParse(raw) ? new URL(raw) : null;
  if (url === null) return notAllowed('it is not a valid URL.');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return notAllowed('only https (in test mode also http) is supported.');
  }
  if (livemode && url.protocol !== 'https:') return notAllowed('live endpoints must use https.');
  if (!isPortAllowed(portOf(url))) {
    return notAllowed('the port must be 80, 443 or from 1024 to 65535.');
  }
  return url;
}

/**
 * Checks a URL that tills' browsers call. It may be in any network, but pages on https may call
 * http only on their own machine.
 */
export function checkTillUrl(raw: string): Refusal | null {
  const url = parseEndpointUrl(raw, false);
  if (!(url instanceof URL)) return url;
  if (url.protocol === 'https:' || ['127.0.0.1', 'localhost'].includes(url.hostname)) return null;
  return notAllowed('tills call only https, or http on 127.0.0.1 or localhost.');
}

export interface UrlCheck {
  readonly livemode: boolean;
  readonly policy: AddressPolicy;
  readonly resolver: Resolver;
}

/**
 * Checks all rules for URLs, at creation and at every change. A name that does not resolve yet is
 * accepted, because each delivery resolves it again and connects only to an address just checked.
 */
export async function checkEndpointUrl(raw: string, check: UrlCheck): Promise<Refusal | null> {
  const url = parseEndpointUrl(raw, check.livemode);
  if (!(url instanceof URL)) return url;
  const host = hostOf(url);
  const addresses =
    isIP(host) === 0
      ? await check.resolver.resolve(host, AbortSignal.timeout(LOOKUP_MS)).catch(() => [])
      : [host];
  for (const address of addresses) {
    const reason = check.policy.forUrl(url).refusalOf(address);
    if (reason !== null)
      return notAllowed(
        `its host has an address that is not allowed (${reason}). ${howToAllow(url)}`,
      );
  }
  return null;
}
