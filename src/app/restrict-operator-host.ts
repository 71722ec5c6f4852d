import type { FastifyRequest } from 'fastify';
import { isAllowedAddress } from '#accounts/authenticate-api-key.ts';
import { ROOTS } from '#apis/dashboard/authorize-person.ts';
import { type AskedHost, isAskedAt } from '#http/asked-host.ts';
import type { Config } from '#settings/config.ts';

/** The console's page and its API. */
const OPERATORS = ['/operator', ROOTS.operator];

function isForStaff(url: string): boolean {
  const path = (url.split('?')[0] ?? '').toLowerCase();
  // Decode the path first, because the router also decodes it.
  const decoded = path.includes('%') ? decodeURIComponent(path) : path;
  return OPERATORS.some((root) => decoded === root || decoded.startsWith(`${root}/`));
}

/**
 * Returns a check that is true for exactly the URL's host. The protocol's default port may be
 * added, as some clients do.
 */
function isHostOf(own: URL): (host: AskedHost) => boolean {
  const usual = own.protocol === 'https:' ? 443 : 80;
  const port = own.port === '' ? usual : Number(own.port);
  return (host) => host.name === own.hostname && (host.port ?? usual) === port;
}

/**
 * Decides whether a path exists for this caller. The operator API can have its own host, so that a
 * proxy or firewall admits only the staff's network, and a list of allowed client addresses.
 * Everyone else gets 404 for its paths.
 */
export function operatorDoor(
  config: Pick<Config, 'operatorUrl' | 'operatorAllowCidrs'>,
): (request: Pick<FastifyRequest, 'url' | 'originalUrl' | 'ip' | 'headers'>) => boolean {
  const own = config.operatorUrl === null ? null : isHostOf(new URL(config.operatorUrl));
  return (request) => {
    if (!isForStaff(request.url)) return true;
    if (own !== null && !isAskedAt(request, own)) return false;
    return isAllowedAddress(config.operatorAllowCidrs, request.ip);
  };
}
