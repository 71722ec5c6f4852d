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

/**
 * Whether there is anything at a request's path. The staff's way in can have an address of its own,
 * so that a proxy or a firewall lets only their network in, and a list of the addresses they come
 * from. Everybody else finds nothing there.
 */
export function operatorDoor(
  config: Pick<Config, 'operatorUrl' | 'operatorAllowCidrs'>,
): (request: Pick<FastifyRequest, 'url' | 'ip' | 'headers'>) => boolean {
  const host = config.operatorUrl === null ? null : new URL(config.operatorUrl).host;
  return ({ url, ip, headers }) => {
    if (!isForStaff(url)) return true;
    if (host !== null && headers.host?.toLowerCase() !== host) return false;
    return isAllowedAddress(config.operatorAllowCidrs, ip);
  };
}
