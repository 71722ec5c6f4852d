import type { FastifyRequest } from 'fastify';
import { isAllowedAddress } from '#accounts/authenticate.ts';
import { ROOTS } from '#apis/dashboard/surface.ts';
import type { Config } from '#settings/config.ts';

/** The console's page and its API. */
const OPERATORS = ['/operator', ROOTS.operator];

function isForStaff(url: string): boolean {
  const path = (url.split('?')[0] ?? '').toLowerCase();
  // A path is decoded before it finds its route.
  const decoded = path.includes('%') ? decodeURIComponent(path) : path;
  return OPERATORS.some((root) => decoded === root || decoded.startsWith(`${root}/`));
}

/** As URLs write it: in lower case, without the protocol's own port, which some clients send. */
function hostAsked(protocol: string, host: string | undefined): string | null {
  return URL.parse(`${protocol}//${host}`)?.host ?? null;
}

/**
 * Whether there is anything at a request's path. The staff's way in can have an address of its own,
 * so that a proxy or a firewall lets only their network in, and a list of the addresses they come
 * from. Everybody else finds nothing there.
 */
export function operatorDoor(
  config: Pick<Config, 'operatorUrl' | 'operatorAllowCidrs'>,
): (request: Pick<FastifyRequest, 'url' | 'ip' | 'headers'>) => boolean {
  const own = config.operatorUrl === null ? null : new URL(config.operatorUrl);
  return ({ url, ip, headers }) => {
    if (!isForStaff(url)) return true;
    if (own !== null && hostAsked(own.protocol, headers.host) !== own.host) return false;
    return isAllowedAddress(config.operatorAllowCidrs, ip);
  };
}
