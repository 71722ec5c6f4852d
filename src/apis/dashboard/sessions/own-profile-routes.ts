import Type from 'typebox';
import type { SurfaceSettings } from '#apis/dashboard/authorize-person.ts';
import { type PersonRoute, personRoute, sessionOf } from '#apis/dashboard/person-route.ts';
import { PersonName, UserSchema } from '#apis/dashboard/person-schema.ts';
import { mySessionRoutes } from '#apis/dashboard/sessions/my-session-routes.ts';
import { passkeyRoutes } from '#apis/dashboard/sessions/passkey-routes.ts';
import { personalDataRoutes } from '#apis/dashboard/sessions/personal-data-routes.ts';
import { readUserView } from '#apis/dashboard/sessions/session-routes.ts';
import { totpRoutes } from '#apis/dashboard/sessions/totp-routes.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { readName } from '#core/name-rules.ts';
import { checkOwnNameIsFree } from '#people/cashier-pins.ts';
import { updateUser } from '#people/user-queries.ts';

const TAG = 'Me';

function readMeRoute(settings: SurfaceSettings) {
  return personRoute({
    method: 'GET',
    path: '/me',
    operationId: `${settings.cookies.realm}ReadMe`,
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve my name, email address and second factors',
    access: 'signed_in',
    response: UserSchema,
    handle: async ({ caller }) => {
      const { user } = await readUserView(settings.people.db, sessionOf(caller).user_id);
      return answerWith(200, user);
    },
  });
}

const NameBody = Type.Object({ name: PersonName });
const NameSaved = Type.Object(NameBody.properties, { description: 'The name after the change.' });

function updateMeRoute(settings: SurfaceSettings) {
  return personRoute<undefined, typeof NameBody>({
    method: 'PATCH',
    path: '/me',
    operationId: `${settings.cookies.realm}UpdateMe`,
    moves: 'name',
    asks: 'never',
    tag: TAG,
    summary: 'Change my name',
    access: 'signed_in',
    body: NameBody,
    response: NameSaved,
    handle: async ({ caller, body }) => {
      const name = readName(body.name, 'name');
      if (isRefusal(name)) return name;
      const { user_id: userId } = sessionOf(caller);
      return settings.people.db.transaction(async (tx) => {
        const isTaken = await checkOwnNameIsFree(tx, { userId, name });
        if (isTaken !== null) return isTaken;
        await updateUser(tx, userId, { name });
        return answerWith(200, { name });
      });
    },
  });
}

export function meRoutes(settings: SurfaceSettings): PersonRoute[] {
  return [
    readMeRoute(settings),
    updateMeRoute(settings),
    ...mySessionRoutes(settings),
    ...totpRoutes(settings),
    ...passkeyRoutes(settings),
    ...personalDataRoutes(settings),
  ];
}
