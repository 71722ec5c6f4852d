import { permissionsOf } from '#core/permissions-policy.ts';

/** Answers hold data, never a page: a browser that shows one as a page runs nothing of it. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'";
/** A year, as browsers ask for before they remember it. */
const HSTS = 'max-age=31536000';

const NO_PERMISSIONS = permissionsOf([]);

export type SecurityHeaders = Readonly<Record<string, string>>;

/**
 * What every answer carries. A page sets a Content-Security-Policy of its own, and a
 * Permissions-Policy where it uses something. Over plain http
 * browsers ignore Strict-Transport-Security, and a sandbox must not be locked to https. The
 * names are in lower case for the reason given in `call.ts`.
 */
export function securityHeaders(served: { readonly https: boolean }): SecurityHeaders {
  return {
    'content-security-policy': DATA_POLICY,
    'permissions-policy': NO_PERMISSIONS,
    'x-content-type-options': 'nosniff',
    ...(served.https ? { 'strict-transport-security': HSTS } : {}),
  };
}
