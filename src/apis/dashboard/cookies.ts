import { DEVICE_MS } from '#people/devices.ts';
import type { OpenedSession } from '#people/sessions.ts';
import type { Realm } from '#people/user-queries.ts';

/** Whether browsers reach the web apps over https: then cookies say so, and their names as well. */
export interface CookieSettings {
  readonly realm: Realm;
  readonly secure: boolean;
}

/** `__Host-`: set by this very host over https, for all its paths; no subdomain can plant it. */
function nameOf(base: string, settings: CookieSettings): string {
  const name = settings.realm === 'operator' ? `tapline_operator_${base}` : `tapline_${base}`;
  return settings.secure ? `__Host-${name}` : name;
}

/** Our values are tokens: letters, digits and `_-.`, which a cookie carries as they are. */
function writeCookie(
  name: string,
  value: string,
  settings: CookieSettings,
  maxAge: number,
): string {
  const secure = settings.secure ? '; Secure' : '';
  return `${name}=${value}; Max-Age=${maxAge}; Path=/; HttpOnly; SameSite=Strict${secure}`;
}

/** The value of the first cookie of that name, as it was sent. */
function readCookie(header: string, name: string): string | null {
  const pairs = header.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
}

/** The cookies of ours that a request carries. */
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
