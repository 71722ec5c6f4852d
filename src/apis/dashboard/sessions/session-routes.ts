import Type from 'typebox';
import type { PersonCaller, SurfaceSettings } from '#apis/dashboard/authorize-person.ts';
import { type PersonRoute, personRoute, sessionOf } from '#apis/dashboard/person-route.ts';
import {
  Code,
  Done,
  Email,
  PasskeyOptions,
  Password,
  SessionSchema,
  UsedPasskey,
} from '#apis/dashboard/person-schema.ts';
import {
  deviceCookie,
  noSessionCookie,
  sessionCookie,
} from '#apis/dashboard/sessions/session-cookies.ts';
import { type Answer, answerWith, isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Sql } from '#db/database.ts';
import { knownDevice, rememberDevice } from '#people/known-devices.ts';
import { selectAccountsOf } from '#people/membership-queries.ts';
import { countPasskeys } from '#people/passkey-queries.ts';
import { beginPasskeySignIn, provePasskey, signInWithPasskey } from '#people/passkey-sign-in.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import { type FactorRef, proveSecondFactor } from '#people/second-factor.ts';
import { countRecoveryCodes } from '#people/second-factor-queries.ts';
import { deleteSession } from '#people/session-queries.ts';
import type { OpenedSession } from '#people/sessions.ts';
import { csrfToken } from '#people/sessions.ts';
import { type SignInInput, signIn } from '#people/sign-in.ts';
import { selectUser } from '#people/user-queries.ts';

const TAG = 'Session';

/**
 * Returns the response with a new or strengthened session and its cookie. A full session also gets
 * the cookie of its device.
 */
export async function answerSession(
  settings: SurfaceSettings,
  opened: OpenedSession,
  signedIn: {
    readonly user: { readonly id: string; readonly email: string };
    readonly level: 'password' | 'full';
    readonly secondFactorAt: Date | null;
    readonly status?: number;
    readonly caller: Pick<PersonCaller, 'cookies' | 'visit'>;
    /** True if a mail is sent when the device is new. */
    readonly alert: boolean;
    readonly now: Date;
  },
): Promise<Answer> {
  const { people, cookies } = settings;
  const { user, level } = signedIn;
  const view = await sessionView(people, { ...signedIn, ...opened, userId: user.id });
  const setCookie = [sessionCookie(opened, cookies, signedIn.now)];
  if (level === 'full') {
    const { visit, cookies: sent } = signedIn.caller;
    const device = { userId: user.id, email: user.email, token: sent.device, visit };
    const token = await rememberDevice(people, { ...device, alert: signedIn.alert });
    setCookie.push(deviceCookie(token, cookies));
  }
  return { ...answerWith(signedIn.status ?? 200, view), headers: { 'Set-Cookie': setCookie } };
}

/** Returns the response with the caller's session after its second factor was verified. */
export function answerStrong(
  settings: SurfaceSettings,
  opened: OpenedSession,
  input: { readonly caller: PersonCaller; readonly now: Date },
): Promise<Answer> {
  const { user_id: id, email, level } = sessionOf(input.caller);
  return answerSession(settings, opened, {
    ...input,
    user: { id, email },
    level: 'full',
    secondFactorAt: input.now,
    // No mail if the session was already full, because the person had signed in before.
    alert: level === 'password',
  });
}

export function factorRef(caller: PersonCaller, now: Date): FactorRef {
  const { id, user_id } = sessionOf(caller);
  return { sessionId: id, userId: user_id, now };
}

const Credentials = Type.Object({ email: Email, password: Password });

function signInRoute(settings: SurfaceSettings) {
  const { realm } = settings.cookies;
  return personRoute<undefined, typeof Credentials>({
    method: 'POST',
    path: '/session',
    operationId: `${realm}SignIn`,
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Sign in with email address and password',
    description:
      'Sets the session cookie. If a second factor is set up, the status ' +
      'is second_factor_required, and nothing else works before POST ' +
      '/session/second_factor.',
    access: 'public',
    body: Credentials,
    response: SessionSchema,
    errors: ['sign_in_failed', 'rate_limit_exceeded', 'service_unavailable'],
    handle: async ({ caller, body, now }) => {
      const { visit, cookies } = caller;
      const input = { ...body, realm, deviceToken: cookies.device, visit };
      const result = await signIn(settings.people, input);
      if (isRefusal(result)) return (await elsewhere(settings, input, result)) ?? result;
      const level = result.status === 'signed_in' ? 'full' : 'password';
      const { user, session } = result;
      const signedIn = { user, level, secondFactorAt: null, caller, alert: true, now } as const;
      return answerSession(settings, session, signedIn);
    },
  });
}

/**
 * Returns a refusal with the address of the cell that accepts the password; `null` if there is
 * none. Only a caller with the right password learns it, so the response does not reveal who has an
 * account.
 */
async function elsewhere(
  settings: SurfaceSettings,
  input: SignInInput,
  { code }: Refusal,
): Promise<Refusal | null> {
  if (code !== 'sign_in_failed') return null;
  const url = (await settings.elsewhere?.(input)) ?? null;
  return url === null
    ? null
    : refuse(code, `Your account is at another address. Sign in at ${url}`);
}

function readRoute(settings: SurfaceSettings) {
  return personRoute({
    method: 'GET',
    path: '/session',
    operationId: `${settings.cookies.realm}ReadSession`,
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve my session: user, accounts, CSRF token',
    access: 'half_signed_in',
    response: SessionSchema,
    handle: async ({ caller }) => {
      const row = sessionOf(caller);
      const view = await sessionView(settings.people, {
        sessionId: row.id,
        userId: row.user_id,
        level: row.level,
        secondFactorAt: row.second_factor_at,
        expiresAt: row.expires_at,
      });
      return answerWith(200, view);
    },
  });
}

function signOutRoute(settings: SurfaceSettings) {
  return personRoute({
    method: 'DELETE',
    path: '/session',
    operationId: `${settings.cookies.realm}SignOut`,
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Sign out',
    access: 'half_signed_in',
    response: Done,
    handle: async ({ caller }) => {
      const { id, user_id: userId } = sessionOf(caller);
      await deleteSession(settings.people.db, { id, userId });
      const answer = answerWith(200, { status: 'signed_out' });
      return { ...answer, headers: { 'Set-Cookie': noSessionCookie(settings.cookies) } };
    },
  });
}

const CodeBody = Type.Object({ code: Code });

function secondFactorRoute(settings: SurfaceSettings) {
  return personRoute<undefined, typeof CodeBody>({
    method: 'POST',
    path: '/session/second_factor',
    operationId: `${settings.cookies.realm}ProveSecondFactor`,
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Verify the second factor with a code',
    description:
      'At sign-in, and again before a change that moves money or enables it: such ' +
      'routes need a verification from the last five minutes.',
    access: 'half_signed_in',
    body: CodeBody,
    response: SessionSchema,
    errors: ['sign_in_failed', 'rate_limit_exceeded'],
    handle: async ({ caller, body, now }) => {
      const { realm, email } = sessionOf(caller);
      const token = caller.cookies.device;
      const device = await knownDevice(settings.people.db, token, { realm, email, now });
      const proof = { code: body.code, device };
      const opened = await proveSecondFactor(settings.people, factorRef(caller, now), proof);
      return isRefusal(opened) ? opened : answerStrong(settings, opened, { caller, now });
    },
  });
}

function passkeyOptionsRoute(settings: SurfaceSettings) {
  const { realm } = settings.cookies;
  return personRoute({
    method: 'POST',
    path: '/session/passkey_options',
    operationId: `${realm}BeginPasskeySignIn`,
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Begin signing in with a passkey',
    access: 'public',
    response: PasskeyOptions,
    handle: async ({ now }) =>
      answerWith(200, await beginPasskeySignIn(settings.people, { realm, userId: null, now })),
  });
}

const PasskeyBody = Type.Object({ response: UsedPasskey });

function passkeyRoute(settings: SurfaceSettings) {
  const { realm } = settings.cookies;
  return personRoute<undefined, typeof PasskeyBody>({
    method: 'POST',
    path: '/session/passkey',
    operationId: `${realm}SignInWithPasskey`,
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Sign in with a passkey',
    access: 'public',
    body: PasskeyBody,
    response: SessionSchema,
    errors: ['sign_in_failed', 'rate_limit_exceeded'],
    handle: async ({ caller, body, now }) => {
      const { visit } = caller;
      const result = await signInWithPasskey(settings.people, { realm, ...body, visit });
      if (isRefusal(result)) return result;
      const { user, session } = result;
      const signedIn = {
        user,
        level: 'full',
        secondFactorAt: now,
        caller,
        alert: true,
        now,
      } as const;
      return answerSession(settings, session, signedIn);
    },
  });
}

function factorOptionsRoute(settings: SurfaceSettings) {
  const { realm } = settings.cookies;
  return personRoute({
    method: 'POST',
    path: '/session/second_factor/passkey_options',
    operationId: `${realm}BeginPasskeyFactor`,
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Begin verifying the second factor with a passkey',
    access: 'half_signed_in',
    response: PasskeyOptions,
    handle: async ({ caller, now }) => {
      const userId = sessionOf(caller).user_id;
      return answerWith(200, await beginPasskeySignIn(settings.people, { realm, userId, now }));
    },
  });
}

function factorPasskeyRoute(settings: SurfaceSettings) {
  const { realm } = settings.cookies;
  return personRoute<undefined, typeof PasskeyBody>({
    method: 'POST',
    path: '/session/second_factor/passkey',
    operationId: `${realm}ProvePasskey`,
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Verify the second factor with a passkey',
    access: 'half_signed_in',
    body: PasskeyBody,
    response: SessionSchema,
    errors: ['sign_in_failed'],
    handle: async ({ caller, body, now }) => {
      const ref = { ...factorRef(caller, now), realm };
      const opened = await provePasskey(settings.people, ref, body.response);
      return isRefusal(opened) ? opened : answerStrong(settings, opened, { caller, now });
    },
  });
}

export function sessionRoutes(settings: SurfaceSettings): PersonRoute[] {
  return [
    signInRoute(settings),
    readRoute(settings),
    signOutRoute(settings),
    secondFactorRoute(settings),
    passkeyOptionsRoute(settings),
    passkeyRoute(settings),
    factorOptionsRoute(settings),
    factorPasskeyRoute(settings),
  ];
}

async function sessionView(
  people: PeopleDeps,
  opened: {
    readonly sessionId: string;
    readonly userId: string;
    readonly level: 'password' | 'full';
    readonly secondFactorAt: Date | null;
    readonly expiresAt: Date;
  },
): Promise<object> {
  const { db, secretKey } = people;
  const isFull = opened.level === 'full';
  const [{ row, user }, accounts] = await Promise.all([
    readUserView(db, opened.userId),
    isFull ? selectAccountsOf(db, opened.userId) : [],
  ]);
  return {
    object: 'session',
    id: opened.sessionId,
    status: isFull ? 'signed_in' : 'second_factor_required',
    csrf_token: csrfToken(secretKey, opened.sessionId),
    expires_at: opened.expiresAt.toISOString(),
    second_factor_at: opened.secondFactorAt?.toISOString() ?? null,
    user,
    staff_role: row.realm === 'operator' ? row.staff_role : null,
    accounts: accounts.map((account) => ({
      id: account.account_id,
      name: account.name,
      role: account.role,
      status: account.status,
      kyb_status: account.kyb_status,
    })),
  };
}

export async function readUserView(db: Sql, userId: string) {
  const [user, passkeys, codes] = await Promise.all([
    selectUser(db, userId),
    countPasskeys(db, userId),
    countRecoveryCodes(db, userId),
  ]);
  const row = present(user, 'user');
  const { id, email, name, totp_confirmed_at, recovery_codes_saved_at } = row;
  const totp = totp_confirmed_at !== null;
  const factors = {
    totp,
    passkeys,
    first_choice: passkeys > 0 ? 'passkey' : totp ? 'totp' : null,
    recovery_codes_left: codes,
    recovery_codes_to_save: codes > 0 && recovery_codes_saved_at === null,
  };
  return { row, user: { id, email, name, factors } };
}
