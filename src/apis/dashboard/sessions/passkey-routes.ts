import Type from 'typebox';
import type { SurfaceSettings } from '#apis/dashboard/authorize-person.ts';
import { type PersonRoute, personRoute, sessionOf } from '#apis/dashboard/person-route.ts';
import {
  Done,
  listed,
  NewPasskey,
  PasskeyOptions,
  PersonName,
} from '#apis/dashboard/person-schema.ts';
import { Confirmation, confirmIdentity } from '#apis/dashboard/sessions/confirm-identity.ts';
import { answerStrong, factorRef } from '#apis/dashboard/sessions/session-routes.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { idOf, nullable, Timestamp, textOut } from '#http/schema.ts';
import { selectPasskeys } from '#people/passkey-queries.ts';
import { addPasskey, beginPasskey, removePasskey } from '#people/passkeys.ts';

const TAG = 'Me';

const PasskeyBody = Type.Object({ name: PersonName, response: NewPasskey });
const PasskeySchema = Type.Object({
  id: idOf('pkey_', 'passkey'),
  name: textOut('The person’s name for the passkey.'),
  created: Timestamp,
  last_used_at: nullable(Timestamp),
});

function listPasskeysRoute(settings: SurfaceSettings) {
  return personRoute({
    method: 'GET',
    path: '/me/passkeys',
    operationId: `${settings.cookies.realm}ListPasskeys`,
    moves: 'nothing',
    tag: TAG,
    summary: 'My passkeys',
    access: 'signed_in',
    response: listed(PasskeySchema, 'The passkeys of the person.'),
    handle: async ({ caller }) => {
      const rows = await selectPasskeys(settings.people.db, sessionOf(caller).user_id);
      const data = rows.map(({ id, name, created, last_used_at }) => {
        return { id, name, created, last_used_at };
      });
      return answerWith(200, { object: 'list', data });
    },
  });
}

function beginPasskeyRoute(settings: SurfaceSettings) {
  return personRoute<undefined, typeof Confirmation>({
    method: 'POST',
    path: '/me/passkeys/options',
    operationId: `${settings.cookies.realm}BeginPasskey`,
    moves: 'access',
    asks: 'own',
    tag: TAG,
    summary: 'Begin adding a passkey',
    access: 'signed_in',
    body: Confirmation,
    response: PasskeyOptions,
    errors: ['rate_limit_exceeded', 'service_unavailable'],
    handle: async ({ caller, body, now }) => {
      const password = body.current_password;
      const refused = await confirmIdentity(settings, caller, { password, now });
      if (refused !== null) return refused;
      return answerWith(200, await beginPasskey(settings.people, factorRef(caller, now)));
    },
  });
}

function addPasskeyRoute(settings: SurfaceSettings) {
  return personRoute<undefined, typeof PasskeyBody>({
    method: 'POST',
    path: '/me/passkeys',
    operationId: `${settings.cookies.realm}AddPasskey`,
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Add the passkey that the browser created',
    access: 'signed_in',
    body: PasskeyBody,
    status: 201,
    response: Type.Object(
      { id: idOf('pkey_', 'passkey') },
      { description: 'The id of the new passkey.' },
    ),
    errors: ['already_exists', 'unexpected_state'],
    handle: async ({ caller, body, now }) => {
      const added = await addPasskey(settings.people, factorRef(caller, now), body);
      if (isRefusal(added)) return added;
      const { headers } = await answerStrong(settings, added.session, { caller, now });
      return { ...answerWith(201, { id: added.passkeyId }), headers: headers ?? {} };
    },
  });
}

function removePasskeyRoute(settings: SurfaceSettings) {
  return personRoute({
    method: 'DELETE',
    path: '/me/passkeys/{id}',
    operationId: `${settings.cookies.realm}RemovePasskey`,
    moves: 'access',
    asks: 'fresh',
    tag: TAG,
    summary: 'Remove a passkey',
    access: 'signed_in',
    params: { id: 'passkey' },
    response: Done,
    errors: ['resource_missing', 'unexpected_state'],
    handle: async ({ caller, params, now }) => {
      const refused = await removePasskey(settings.people, factorRef(caller, now), params.id ?? '');
      return refused ?? answerWith(200, { status: 'removed' });
    },
  });
}

export function passkeyRoutes(settings: SurfaceSettings): PersonRoute[] {
  return [
    listPasskeysRoute(settings),
    beginPasskeyRoute(settings),
    addPasskeyRoute(settings),
    removePasskeyRoute(settings),
  ];
}
