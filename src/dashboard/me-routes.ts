import Type from 'typebox';
import { deviceName, placeOf } from '#accounts/device-names.ts';
import { deleteDevicesOf } from '#accounts/device-queries.ts';
import { readName } from '#accounts/names.ts';
import { deleteSession, deleteSessionsOf, selectSessionsOf } from '#accounts/session-queries.ts';
import { updateUserName } from '#accounts/user-queries.ts';
import { answerWith } from '#core/answer.ts';
import { isRefusal, resourceMissing } from '#core/refusal.ts';
import { type PersonCaller, sessionOf } from '#dashboard/caller.ts';
import { noSessionCookie } from '#dashboard/cookies.ts';
import { passkeyRoutes } from '#dashboard/passkey-routes.ts';
import { personRoute } from '#dashboard/person-route.ts';
import { Done, listed, PersonName } from '#dashboard/person-schema.ts';
import { personalDataRoutes } from '#dashboard/personal-data-routes.ts';
import type { SurfaceSettings } from '#dashboard/surface.ts';
import { totpRoutes } from '#dashboard/totp-routes.ts';
import type { AnyRoute } from '#http/route.ts';
import { idOf, Timestamp } from '#http/schema.ts';

const TAG = 'Me';

const NameBody = Type.Object({ name: PersonName });

function updateMeRoute(settings: SurfaceSettings) {
  return personRoute<undefined, typeof NameBody>({
    method: 'PATCH',
    path: '/me',
    operationId: `${settings.cookies.realm}UpdateMe`,
    tag: TAG,
    summary: 'Change the own name',
    access: 'signed_in',
    body: NameBody,
    response: NameBody,
    handle: async ({ caller, body }) => {
      const name = readName(body.name, 'name');
      if (isRefusal(name)) return name;
      await settings.people.db.transaction((tx) =>
        updateUserName(tx, { id: sessionOf(caller).user_id, name }),
      );
      return answerWith(200, { name });
    },
  });
}

function listSessionsRoute(settings: SurfaceSettings) {
  return personRoute({
    method: 'GET',
    path: '/sessions',
    operationId: `${settings.cookies.realm}ListSessions`,
    tag: TAG,
    summary: 'Where I am signed in',
    access: 'signed_in',
    response: listed(
      Type.Object({
        id: idOf('ses_', 'session'),
        current: Type.Boolean(),
        address: Type.String(),
        user_agent: Type.String(),
        device: Type.String({ description: 'Browser and system, such as Firefox on Windows.' }),
        place: Type.String({ description: 'The address, or what kind of network it is of.' }),
        created: Timestamp,
        last_seen_at: Timestamp,
        expires_at: Timestamp,
      }),
    ),
    handle: async ({ caller, now }) => {
      const { id, user_id: userId } = sessionOf(caller);
      const rows = await selectSessionsOf(settings.people.db, { userId, now });
      const data = rows.map((row) => ({
        ...row,
        device: deviceName(row.user_agent),
        place: placeOf(row.address),
        current: row.id === id,
      }));
      return answerWith(200, { object: 'list', data });
    },
  });
}

function endSessionRoute(settings: SurfaceSettings) {
  return personRoute({
    method: 'DELETE',
    path: '/sessions/{id}',
    operationId: `${settings.cookies.realm}EndSession`,
    tag: TAG,
    summary: 'End one of my sessions',
    access: 'signed_in',
    params: { id: 'session' },
    response: Done,
    errors: ['resource_missing'],
    handle: async ({ caller, params }) => {
      const { user_id: userId } = sessionOf(caller);
      const ended = await deleteSession(settings.people.db, { id: params.id ?? '', userId });
      return ended ? answerWith(200, { status: 'signed_out' }) : resourceMissing('session');
    },
  });
}

function signOutEverywhereRoute(settings: SurfaceSettings) {
  return personRoute({
    method: 'DELETE',
    path: '/sessions',
    operationId: `${settings.cookies.realm}SignOutEverywhere`,
    tag: TAG,
    summary: 'Sign out everywhere, here included',
    access: 'signed_in',
    response: Done,
    handle: async ({ caller }) => {
      const userId = sessionOf(caller).user_id;
      await settings.people.db.transaction(async (tx) => {
        await deleteSessionsOf(tx, { userId, exceptId: null });
        await deleteDevicesOf(tx, userId);
      });
      const headers = { 'Set-Cookie': noSessionCookie(settings.cookies) };
      return { ...answerWith(200, { status: 'signed_out' }), headers };
    },
  });
}

/** A person's own affairs, the same for merchants' people and for staff. */
export function meRoutes(settings: SurfaceSettings): AnyRoute<PersonCaller>[] {
  return [
    updateMeRoute(settings),
    listSessionsRoute(settings),
    endSessionRoute(settings),
    signOutEverywhereRoute(settings),
    ...totpRoutes(settings),
    ...passkeyRoutes(settings),
    ...personalDataRoutes(settings),
  ];
}
