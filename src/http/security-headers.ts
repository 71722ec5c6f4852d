import { permissionsOf } from '#core/permissions-policy.ts';

/** Responses contain data, never a page, so a browser that displays one must run nothing in it. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'";
/** A year, which browsers require before they preload it. */
const HSTS = 'max-age=31536000';

const NO_PERMISSIONS = permissionsOf([]);

export type SecurityHeaders = Readonly<Record<string, string>>;

/**
 * Returns the headers of every response. A page sets its own Content-Security-Policy, and its own
 * Permissions-Policy if it uses a feature. Over plain http browsers ignore
 * Strict-Transport-Security, and a sandbox must not be locked to https. The names are in lowercase
 * for the reason given in `call.ts`.
 */
export function securityHeaders(served: { readonly https: boolean }): SecurityHeaders {
  return {
    'content-security-policy': DATA_POLICY,
    'permissions-policy': NO_PERMISSIONS,
    'x-content-type-options': 'nosniff',
    ...(served.https ? { 'strict-transport-security': HSTS } : {}),
  };
}
