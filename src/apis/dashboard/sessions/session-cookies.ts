import { DEVICE_MS } from '#people/known-devices.ts';
import type { OpenedSession } from '#people/sessions.ts';
import type { Realm } from '#people/user-queries.ts';

/**
 * The cookies of one realm. `secure` is true if browsers use https; cookies then get the attribute
 * `Secure` and the prefix `__Host-`.
 */
export interface CookieSettings {
  readonly realm: Realm;
  readonly secure: boolean;
}

/**
 * Only this host can set a `__Host-` cookie, over https and for all paths, so a subdomain cannot
 * plant one.
 */
function nameOf(base: string, settings: CookieSettings): string {
  const name = settings.realm === 'operator' ? `tapline_operator_${base}` : `tapline_${base}`;
  return settings.secure ? `__Host-${name}` : name;
}

/** Values are tokens of letters, digits and `_-.`, so they need no escaping. */
function writeCookie(
  name: string,
  value: string,
  settings: CookieSettings,
  maxAge: number,
): string {
  const secure = settings.secure ? '; Secure' : '';
  return `${name}=${value}; Max-Age=${maxAge}; Path=/; HttpOnly; SameSite=Strict${secure}`;
}

function readCookie(header: string, name: string): string | null {
  const pairs = header.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
}

export interface ReadCookies {
  readonly session: string | null;
  readonly device: string | null;
}

export function readCookies(header: string | undefined, settings: CookieSettings): ReadCookies {
  return {
    session: readCookie(header ?? '', nameOf('session', settings)),
    device: readCookie(header ?? '', nameOf('device', settings)),
  };
}

export function sessionCookie(session: OpenedSession, settings: CookieSettings, now: Date): string {
  const seconds = Math.max(0, Math.floor((session.expiresAt.getTime() - now.getTime()) / 1000));
  return writeCookie(nameOf('session', settings), session.token, settings, seconds);
}

export function noSessionCookie(settings: CookieSettings): string {
  return writeCookie(nameOf('session', settings), '', settings, 0);
}

export function deviceCookie(token: string, settings: CookieSettings): string {
  return writeCookie(nameOf('device', settings), token, settings, DEVICE_MS / 1000);
}
