import { permissionsOf } from '#core/permissions-policy.ts';

/** For responses that are data. Even if a browser displays one as a page, nothing in it may run. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'";
/** One year, the minimum for browsers' preload lists. */
const HSTS = 'max-age=31536000';

const NO_PERMISSIONS = permissionsOf([]);

export type SecurityHeaders = Readonly<Record<string, string>>;

/**
 * Returns the headers of every response. A page replaces the Content-Security-Policy with its own,
 * and the Permissions-Policy if it uses a feature. Strict-Transport-Security is sent only over
 * https: browsers ignore it over plain http, and a sandbox must stay reachable without https. The
 * names are in lowercase for the reason given in `request-state.ts`.
 */
export function securityHeaders(served: { readonly https: boolean }): SecurityHeaders {
  return {
    'content-security-policy': DATA_POLICY,
    'permissions-policy': NO_PERMISSIONS,
    'x-content-type-options': 'nosniff',
    ...(served.https ? { 'strict-transport-security': HSTS } : {}),
  };
}
