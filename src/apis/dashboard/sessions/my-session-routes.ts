import Type from 'typebox';
import type { SurfaceSettings } from '#apis/dashboard/authorize-person.ts';
import { type PersonRoute, personRoute, sessionOf } from '#apis/dashboard/person-route.ts';
import { Done, listed } from '#apis/dashboard/person-schema.ts';
import { noSessionCookie } from '#apis/dashboard/sessions/session-cookies.ts';
import { answerWith, resourceMissing } from '#core/answer.ts';
import { idOf, Timestamp, textOut } from '#http/schema.ts';
import { deviceName, placeOf } from '#people/device-names.ts';
import { deleteDevicesOf } from '#people/device-queries.ts';
import { deleteSession, deleteSessionsOf, selectSessionsOf } from '#people/session-queries.ts';

const TAG = 'Me';

function listSessionsRoute(settings: SurfaceSettings) {
  return personRoute({
    method: 'GET',
    path: '/sessions',
    operationId: `${settings.cookies.realm}ListSessions`,
    moves: 'nothing',
    tag: TAG,
    summary: 'List my sessions',
    access: 'signed_in',
    response: listed(
      Type.Object({
        id: idOf('ses_', 'session'),
        current: Type.Boolean({ description: 'True for the session of this request.' }),
        address: textOut('The IP address that it was last used from.'),
        user_agent: textOut('How the browser identifies itself.'),
        device: Type.String({ description: 'Browser and system, such as Firefox on Windows.' }),
        place: Type.String({
          description: 'The address, or the kind of network that it belongs to.',
        }),
        created: Timestamp,
        last_seen_at: Timestamp,
        expires_at: Timestamp,
      }),
      'The sessions of the person.',
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
    moves: 'access',
    asks: 'never',
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
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Sign out everywhere, including here',
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

export function mySessionRoutes(settings: SurfaceSettings): PersonRoute[] {
  return [listSessionsRoute(settings), endSessionRoute(settings), signOutEverywhereRoute(settings)];
}
