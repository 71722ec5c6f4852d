import Type from 'typebox';
import { confirmPassword } from '#accounts/change-password.ts';
import { readName } from '#accounts/names.ts';
import { countPasskeys, selectPasskeys } from '#accounts/passkey-queries.ts';
import { addPasskey, beginPasskey, removePasskey } from '#accounts/passkeys.ts';
import {
  beginTotp,
  confirmTotp,
  removeTotp,
  replaceRecoveryCodes,
} from '#accounts/second-factor.ts';
import { deleteSession, deleteSessionsOf, selectSessionsOf } from '#accounts/session-queries.ts';
import { isFactorFresh } from '#accounts/sessions.ts';
import { selectUser, updateUserName } from '#accounts/user-queries.ts';
import { answerWith } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/refusal.ts';
import { type PersonCaller, sessionOf } from '#dashboard/caller.ts';
import { noSessionCookie } from '#dashboard/cookies.ts';
import { personRoute } from '#dashboard/person-route.ts';
import {
  Code,
  Done,
  listed,
  NewPasskey,
  PasskeyOptions,
  Password,
  PersonName,
} from '#dashboard/person-schema.ts';
import { answerStrong, factorRef } from '#dashboard/session-routes.ts';
import type { SurfaceSettings } from '#dashboard/surface.ts';
import type { AnyRoute } from '#http/route.ts';
import { idOf, nullable, Timestamp } from '#http/schema.ts';

const TAG = 'Me';

/** What opens a door for later: a second factor proven a moment ago, or the session is not enough. */
export function requireFreshFactor(caller: PersonCaller, now: Date): Refusal | null {
  if (isFactorFresh(sessionOf(caller).second_factor_at, now)) return null;
  return refuse(
    'second_factor_required',
    'Prove your second factor now (POST /session/second_factor), then repeat this within five ' +
      'minutes. Without one, set up an authenticator app or a passkey first.',
  );
}

/** To add or remove factors: the present factor, or the password as long as there is none. */
async function confirmIdentity(
  settings: SurfaceSettings,
  caller: PersonCaller,
  of: { readonly password: string | undefined; readonly now: Date },
): Promise<Refusal | null> {
  const { db } = settings.people;
  const userId = sessionOf(caller).user_id;
  const user = present(await selectUser(db, userId), 'user');
  const hasFactor = user.totp_confirmed_at !== null || (await countPasskeys(db, userId)) > 0;
  if (hasFactor) return requireFreshFactor(caller, of.now);
  if (of.password === undefined) {
    return refuse('parameter_missing', 'current_password is required.', 'current_password');
  }
  const confirmed = await confirmPassword(settings.people, {
    userId,
    password: of.password,
    now: of.now,
  });
  return isRefusal(confirmed) ? confirmed : null;
}

const NameBody = Type.Object({ name: PersonName });
const Confirmation = Type.Object({ current_password: Type.Optional(Password) });

function profileRoutes(settings: SurfaceSettings) {
  const { realm } = settings.cookies;
  const { db } = settings.people;
  return [
    personRoute<undefined, typeof NameBody>({
      method: 'PATCH',
      path: '/me',
      operationId: `${realm}UpdateMe`,
      tag: TAG,
      summary: 'Change the own name',
      access: 'signed_in',
      body: NameBody,
      response: NameBody,
      handle: async ({ caller, body }) => {
        const name = readName(body.name, 'name');
        if (isRefusal(name)) return name;
        await db.transaction((tx) => updateUserName(tx, { id: sessionOf(caller).user_id, name }));
        return answerWith(200, { name });
      },
    }),
    personRoute({
      method: 'GET',
      path: '/sessions',
      operationId: `${realm}ListSessions`,
      tag: TAG,
      summary: 'Where I am signed in',
      access: 'signed_in',
      response: listed(
        Type.Object({
          id: idOf('ses_', 'session'),
          current: Type.Boolean(),
          address: Type.String(),
          user_agent: Type.String(),
          created: Timestamp,
          last_seen_at: Timestamp,
          expires_at: Timestamp,
        }),
      ),
      handle: async ({ caller, now }) => {
        const { id, user_id: userId } = sessionOf(caller);
        const rows = await selectSessionsOf(db, { userId, now });
        const data = rows.map((row) => ({ ...row, current: row.id === id }));
        return answerWith(200, { object: 'list', data });
      },
    }),
    personRoute({
      method: 'DELETE',
      path: '/sessions/{id}',
      operationId: `${realm}EndSession`,
      tag: TAG,
      summary: 'End one of my sessions',
      access: 'signed_in',
      params: { id: 'session' },
      response: Done,
      errors: ['resource_missing'],
      handle: async ({ caller, params }) => {
        const { user_id: userId } = sessionOf(caller);
        const ended = await deleteSession(db, { id: params.id ?? '', userId });
        return ended ? answerWith(200, { status: 'signed_out' }) : resourceMissing('session');
      },
    }),
    personRoute({
      method: 'DELETE',
      path: '/sessions',
      operationId: `${realm}SignOutEverywhere`,
      tag: TAG,
      summary: 'Sign out everywhere, here included',
      access: 'signed_in',
      response: Done,
      handle: async ({ caller }) => {
        await deleteSessionsOf(db, { userId: sessionOf(caller).user_id, exceptId: null });
        const headers = { 'Set-Cookie': noSessionCookie(settings.cookies) };
        return { ...answerWith(200, { status: 'signed_out' }), headers };
      },
    }),
  ];
}

const CodeBody = Type.Object({ code: Code });
const RecoveryCodes = Type.Object({ recovery_codes: Type.Array(Type.String()) });

function totpRoutes(settings: SurfaceSettings) {
  const { people, cookies } = settings;
  return [
    personRoute<undefined, typeof Confirmation>({
      method: 'POST',
      path: '/me/totp',
      operationId: `${cookies.realm}BeginTotp`,
      tag: TAG,
      summary: 'Begin the set-up of an authenticator app',
      access: 'signed_in',
      body: Confirmation,
      response: Type.Object({ secret: Type.String(), uri: Type.String() }),
      errors: ['unexpected_state', 'rate_limit_exceeded'],
      handle: async ({ caller, body, now }) => {
        const password = body.current_password;
        const refused = await confirmIdentity(settings, caller, { password, now });
        if (refused !== null) return refused;
        const begun = await beginTotp(people, factorRef(caller, now));
        return isRefusal(begun) ? begun : answerWith(200, begun);
      },
    }),
    personRoute<undefined, typeof CodeBody>({
      method: 'POST',
      path: '/me/totp/confirm',
      operationId: `${cookies.realm}ConfirmTotp`,
      tag: TAG,
      summary: 'Confirm the authenticator app with its first code',
      description: 'Returns ten recovery codes, this once. Each signs in once without the app.',
      access: 'signed_in',
      body: CodeBody,
      response: RecoveryCodes,
      errors: ['unexpected_state'],
      handle: async ({ caller, body, now }) => {
        const confirmed = await confirmTotp(people, factorRef(caller, now), body.code);
        if (isRefusal(confirmed)) return confirmed;
        const { headers } = await answerStrong(settings, confirmed.session, { caller, now });
        const answer = answerWith(200, { recovery_codes: confirmed.recoveryCodes });
        return { ...answer, headers: headers ?? {} };
      },
    }),
    personRoute({
      method: 'DELETE',
      path: '/me/totp',
      operationId: `${cookies.realm}RemoveTotp`,
      tag: TAG,
      summary: 'Remove the authenticator app',
      access: 'signed_in',
      response: Done,
      errors: ['unexpected_state'],
      handle: async ({ caller, now }) => {
        const stale = requireFreshFactor(caller, now);
        if (stale !== null) return stale;
        const refused = await removeTotp(people, factorRef(caller, now));
        return refused ?? answerWith(200, { status: 'removed' });
      },
    }),
    personRoute({
      method: 'POST',
      path: '/me/recovery_codes',
      operationId: `${cookies.realm}ReplaceRecoveryCodes`,
      tag: TAG,
      summary: 'Ten new recovery codes; the old ones are void',
      access: 'signed_in',
      response: RecoveryCodes,
      errors: ['unexpected_state'],
      handle: async ({ caller, now }) => {
        const stale = requireFreshFactor(caller, now);
        if (stale !== null) return stale;
        const codes = await replaceRecoveryCodes(people, factorRef(caller, now));
        return isRefusal(codes) ? codes : answerWith(200, { recovery_codes: codes });
      },
    }),
  ];
}

const PasskeyBody = Type.Object({ name: PersonName, response: NewPasskey });
const PasskeySchema = Type.Object({
  id: idOf('pkey_', 'passkey'),
  name: Type.String(),
  created: Timestamp,
  last_used_at: nullable(Timestamp),
});

function passkeyRoutes(settings: SurfaceSettings) {
  const { people, cookies } = settings;
  return [
    personRoute({
      method: 'GET',
      path: '/me/passkeys',
      operationId: `${cookies.realm}ListPasskeys`,
      tag: TAG,
      summary: 'My passkeys',
      access: 'signed_in',
      response: listed(PasskeySchema),
      handle: async ({ caller }) => {
        const rows = await selectPasskeys(people.db, sessionOf(caller).user_id);
        const data = rows.map(({ id, name, created, last_used_at }) => {
          return { id, name, created, last_used_at };
        });
        return answerWith(200, { object: 'list', data });
      },
    }),
    personRoute<undefined, typeof Confirmation>({
      method: 'POST',
      path: '/me/passkeys/options',
      operationId: `${cookies.realm}BeginPasskey`,
      tag: TAG,
      summary: 'Begin adding a passkey',
      access: 'signed_in',
      body: Confirmation,
      response: PasskeyOptions,
      errors: ['rate_limit_exceeded'],
      handle: async ({ caller, body, now }) => {
        const password = body.current_password;
        const refused = await confirmIdentity(settings, caller, { password, now });
        if (refused !== null) return refused;
        return answerWith(200, await beginPasskey(people, factorRef(caller, now)));
      },
    }),
    personRoute<undefined, typeof PasskeyBody>({
      method: 'POST',
      path: '/me/passkeys',
      operationId: `${cookies.realm}AddPasskey`,
      tag: TAG,
      summary: 'Add the passkey that the browser made',
      access: 'signed_in',
      body: PasskeyBody,
      status: 201,
      response: Type.Object({ id: idOf('pkey_', 'passkey') }),
      errors: ['already_exists', 'unexpected_state'],
      handle: async ({ caller, body, now }) => {
        const added = await addPasskey(people, factorRef(caller, now), body);
        if (isRefusal(added)) return added;
        const { headers } = await answerStrong(settings, added.session, { caller, now });
        return { ...answerWith(201, { id: added.passkeyId }), headers: headers ?? {} };
      },
    }),
    personRoute({
      method: 'DELETE',
      path: '/me/passkeys/{id}',
      operationId: `${cookies.realm}RemovePasskey`,
      tag: TAG,
      summary: 'Remove a passkey',
      access: 'signed_in',
      params: { id: 'passkey' },
      response: Done,
      errors: ['resource_missing', 'unexpected_state'],
      handle: async ({ caller, params, now }) => {
        const stale = requireFreshFactor(caller, now);
        if (stale !== null) return stale;
        const refused = await removePasskey(people, factorRef(caller, now), params.id ?? '');
        return refused ?? answerWith(200, { status: 'removed' });
      },
    }),
  ];
}

/** A person's own affairs, the same for merchants' people and for staff. */
export function meRoutes(settings: SurfaceSettings): AnyRoute<PersonCaller>[] {
  return [...profileRoutes(settings), ...totpRoutes(settings), ...passkeyRoutes(settings)];
}
