import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import {
  type CookieSettings,
  type ReadCookies,
  readCookies,
  sessionCookie,
} from '#apis/dashboard/sessions/session-cookies.ts';
import type { EntryListener } from '#audit/audit.ts';
import { type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { isOnOwnMachine } from '#http/asked-host.ts';
import { LATEST_API_VERSION } from '#http/choose-version.ts';
import { addressKey } from '#http/rate-limit.ts';
import type { Caller, Credentials } from '#http/route.ts';
import type { PeopleDeps, Visit } from '#people/people-context.ts';
import { hasRole, ROLES, type Role } from '#people/role-order.ts';
import type { SessionRow } from '#people/session-queries.ts';
import { findSession, isCsrfToken } from '#people/sessions.ts';
import type { SignInInput } from '#people/sign-in.ts';
import type { Realm } from '#people/user-queries.ts';

/**
 * The callers that may use a route. `public`: anyone. `half_signed_in`: a person whose second
 * factor may still be missing. `signed_in`: every signed-in person. A role: people with that role
 * or a higher one in the account or organization of the path. `operator`: staff with a verified
 * second factor; support staff can only read. `support`: the same, but support staff can also
 * submit the reason that they must give before reading.
 */
export type Access = 'public' | 'half_signed_in' | 'signed_in' | Role | 'operator' | 'support';

/**
 * The caller of a route for browsers, signed in or not. Below an account's path, it has the fields
 * of the merchant API's caller, so that both APIs share handlers.
 */
export interface PersonCaller
  extends Caller,
    Omit<MerchantCaller, 'idempotencySpace' | 'rateKey' | 'scopes' | 'tenant' | 'apiVersion'> {
  readonly realm: Realm;
  readonly session: SessionRow | null;
  /**
   * The person's role in the account or organization of the path; `null` if the path has neither,
   * or the person has no role in it.
   */
  readonly role: Role | null;
  readonly accountStatus: 'active' | 'disabled' | null;
  /** True in live mode; on paths without a mode, true if the account or organization is live. */
  readonly isRealMoney: boolean;
  readonly cookies: ReadCookies;
  readonly visit: Visit;
  /** True if a browser on this machine has sent the request, without a proxy. */
  readonly isOnOwnMachine: boolean;
  /**
   * Called when the route's change is entered in the audit log, in order to mail the owners; `null`
   * if they get no mail.
   */
  readonly onEntry: EntryListener | null;
  readonly lastEventId: string | null;
}

export interface SurfaceSettings {
  readonly people: PeopleDeps;
  readonly cookies: CookieSettings;
  /**
   * True if no public address is configured. Any address of this server is then accepted, if the
   * page's Origin names the request's host. (After DNS rebinding, a browser sends none of our
   * cookies.)
   */
  readonly anyOwnHost: boolean;
  /** Finds the cell to which a person belongs; undefined in a network of one cell. */
  readonly elsewhere?: SignInElsewhere;
}

/** @returns the address of the cell that accepts them; `null` if none does. */
export type SignInElsewhere = (input: SignInInput) => Promise<string | null>;

export const ROOTS: Record<Realm, string> = {
  merchant: '/api/dashboard/v1',
  operator: '/api/operator/v1',
};

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];
const IN_ORGANIZATION =
  /^\/api\/dashboard\/v1\/organizations\/(org_[0-9A-Za-z]+)(?:\/(test|live))?(?:\/|$)/;
const IN_ACCOUNT = /^\/api\/dashboard\/v1\/accounts\/(acct_[0-9A-Za-z]+)(?:\/(test|live))?(?:\/|$)/;

function header(request: Credentials, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}

interface PathScope {
  readonly accountId: string | null;
  readonly organizationId: string | null;
  readonly mode: string | null;
}

/**
 * Returns the account or organization and the mode in the path. Paths of the operator API name
 * neither.
 */
export function scopeOf(path: string): PathScope {
  const [, organizationId = null, itsMode = null] = IN_ORGANIZATION.exec(path) ?? [];
  const [, accountId = null, mode = itsMode] = IN_ACCOUNT.exec(path) ?? [];
  return { accountId, organizationId, mode };
}

/** Returns the caller: the user of the session in the cookie, or a visitor. */
export async function identify(
  settings: SurfaceSettings,
  request: Credentials,
): Promise<PersonCaller> {
  const { people, cookies: cookieSettings } = settings;
  const { realm } = cookieSettings;
  const { now, address } = request;
  const cookies = readCookies(header(request, 'cookie'), cookieSettings);
  const { accountId, organizationId, mode } = scopeOf(request.path);
  const livemode = mode === 'live';
  const token = cookies.session;
  const input = { realm, now, accountId, organizationId, livemode };
  const session = token === null ? null : await findSession(people, { ...input, token });
  const row = session?.row ?? null;
  const rotated = session?.rotated ?? null;
  const tenant = { accountId: accountId ?? '', livemode };
  return {
    realm,
    session: row,
    role: row?.role ?? null,
    accountStatus: row?.account_status ?? null,
    isRealMoney: livemode || (mode === null && row?.account_is_live === true),
    cookies,
    onEntry: null,
    visit: { address, userAgent: header(request, 'user-agent') ?? '', now },
    isOnOwnMachine: isOnOwnMachine({ ...request, originalUrl: request.path }),
    lastEventId: header(request, 'last-event-id') ?? null,
    tenant,
    keyId: row?.id ?? '',
    rateKey: row === null ? addressKey(address) : `user ${row.user_id}`,
    idempotencySpace: row?.user_id ?? '',
    scopes: null,
    apiVersion: LATEST_API_VERSION,
    address,
    merchant: {
      tenant,
      name: row?.account_name ?? '',
      kybApproved: row?.kyb_status === 'approved',
      merchantNumber: row?.merchant_number ?? null,
      keyHash: null,
    },
    ...(rotated === null
      ? {}
      : { responseHeaders: { 'Set-Cookie': sessionCookie(rotated, cookieSettings, now) } }),
  };
}

function crossSite(): Refusal {
  return refuse(
    'csrf_token_invalid',
    "Only this service's own pages can make changes. Send the csrf_token from GET /session " +
      'in the Csrf-Token header.',
  );
}

/** All browsers send `Origin` with forms, so a request without it is not another site's form. */
function comesFromElsewhere(settings: SurfaceSettings, request: Credentials): boolean {
  const site = header(request, 'sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const origin = header(request, 'origin');
  if (origin === undefined || settings.people.passkeys.origins.includes(origin)) return false;
  const host = header(request, 'host');
  return !settings.anyOwnHost || ![`http://${host}`, `https://${host}`].includes(origin);
}

/** Refuses a changing request from another site, or without the session's CSRF token. */
function checkCsrf(
  settings: SurfaceSettings,
  caller: PersonCaller,
  request: Credentials,
): Refusal | null {
  if (SAFE_METHODS.includes(request.method)) return null;
  if (comesFromElsewhere(settings, request)) return crossSite();
  if (caller.session === null) return null;
  const token = header(request, 'csrf-token') ?? '';
  return isCsrfToken(settings.people.secretKey, caller.session.id, token) ? null : crossSite();
}

function sessionMissing(): Refusal {
  return refuse('session_missing', 'Sign in first. There is no session, or it has ended.');
}

function secondFactorMissing(): Refusal {
  return refuse(
    'second_factor_required',
    'Verify your second factor first: POST /session/second_factor.',
  );
}

function checkRole(access: Role, caller: PersonCaller, request: Credentials): Refusal | null {
  const { role } = caller;
  const isOfOrganization = request.path.startsWith(`${ROOTS.merchant}/organizations/`);
  if (role === null) {
    return isOfOrganization
      ? resourceMissing('organization', 'org')
      : resourceMissing('account', 'account');
  }
  if (!hasRole(role, access)) {
    return refuse('role_missing', `This requires the ${access} role; yours is ${role}.`);
  }
  if (caller.accountStatus === 'disabled' && !SAFE_METHODS.includes(request.method)) {
    return refuse('account_disabled', 'The account is disabled. Contact the network operator.');
  }
  return null;
}

/** Refuses changes by support staff, who may only read. */
function checkStaff(
  access: 'operator' | 'support',
  { session }: PersonCaller,
  request: Credentials,
): Refusal | null {
  if (session?.second_factor_at == null) return secondFactorMissing();
  if (access === 'support' || session.staff_role === 'operator') return null;
  if (SAFE_METHODS.includes(request.method)) return null;
  return refuse('role_missing', 'Support staff have read-only access. Ask an operator.');
}

export function isAccess(text: string | undefined): text is Access {
  const others = ['public', 'half_signed_in', 'signed_in', 'operator', 'support'];
  return text !== undefined && (others.includes(text) || ROLES.some((role) => role === text));
}

/**
 * Checks, in this order: session (401), cross-site request and second factor (403), account (404),
 * role (403).
 */
export function authorizePerson(
  settings: SurfaceSettings,
  access: Access,
  input: { readonly caller: PersonCaller; readonly request: Credentials },
): Refusal | null {
  const { caller, request } = input;
  if (access === 'public') {
    return comesFromElsewhere(settings, request) ? crossSite() : null;
  }
  if (caller.session === null) return sessionMissing();
  const forged = checkCsrf(settings, caller, request);
  if (forged !== null || access === 'half_signed_in') return forged;
  if (caller.session.level !== 'full') return secondFactorMissing();
  if (access === 'signed_in') return null;
  if (access === 'operator' || access === 'support') return checkStaff(access, caller, request);
  return checkRole(access, caller, request);
}
