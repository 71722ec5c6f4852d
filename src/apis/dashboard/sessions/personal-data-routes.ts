import Type from 'typebox';
import type { SurfaceSettings } from '#apis/dashboard/authorize-person.ts';
import { actorOf, type PersonRoute, personRoute, sessionOf } from '#apis/dashboard/person-route.ts';
import { count, Done, RoleField } from '#apis/dashboard/person-schema.ts';
import {
  Confirmation,
  confirmIdentity,
  hasFreshFactor,
} from '#apis/dashboard/sessions/confirm-identity.ts';
import { noSessionCookie } from '#apis/dashboard/sessions/session-cookies.ts';
import { answerWith } from '#core/answer.ts';
import { idOf, nullable, objectType, Timestamp, textOut } from '#http/schema.ts';
import { erasePerson } from '#people/erase-person.ts';
import { exportPerson, MAX_ACTIONS } from '#people/export-person.ts';

const TAG = 'Me';

const Values = Type.Unsafe<unknown>({
  type: ['object', 'null'],
  additionalProperties: true,
  description: 'The changed fields.',
});

const PersonalDataSchema = Type.Object(
  {
    object: objectType('personal_data'),
    exported_at: Timestamp,
    user: Type.Object(
      {
        id: idOf('usr_', 'user'),
        email: textOut('The email address of the person.'),
        name: textOut('The name of the person.'),
        created: Timestamp,
        totp_confirmed_at: nullable(Timestamp),
        recovery_codes_left: count('The number of unused recovery codes.'),
      },
      { description: 'The person.' },
    ),
    accounts: Type.Array(
      Type.Object({
        id: idOf('acct_', 'account'),
        name: textOut('The name of the account.'),
        role: RoleField,
      }),
      { description: 'The accounts that the person is a member of.' },
    ),
    organizations: Type.Array(
      Type.Object({
        id: idOf('org_', 'organization'),
        name: textOut('The name of the organization.'),
        role: RoleField,
      }),
      { description: 'The organizations that the person belongs to.' },
    ),
    sessions: Type.Array(
      Type.Object({
        id: idOf('ses_', 'session'),
        address: textOut('The IP address that it was last used from.'),
        user_agent: textOut('How the browser identifies itself.'),
        created: Timestamp,
        last_seen_at: Timestamp,
        expires_at: Timestamp,
      }),
      { description: 'The sessions of the person.' },
    ),
    devices: Type.Array(
      Type.Object({
        user_agent: textOut('How the browser identifies itself.'),
        address: textOut('The IP address of the last sign-in on it.'),
        created: Timestamp,
        last_used_at: Timestamp,
      }),
      { description: 'Devices that the person has signed in from.' },
    ),
    passkeys: Type.Array(
      Type.Object({
        id: idOf('pkey_', 'passkey'),
        name: textOut('The person’s name for the passkey.'),
        created: Timestamp,
        last_used_at: nullable(Timestamp),
      }),
      { description: 'The passkeys of the person.' },
    ),
    invitations: Type.Array(
      Type.Object({
        account_id: nullable(idOf('acct_', 'account')),
        organization_id: nullable(idOf('org_', 'organization')),
        role: RoleField,
        created: Timestamp,
        accepted_at: nullable(Timestamp),
      }),
      { description: 'Invitations to this email address.' },
    ),
    actions: Type.Array(
      Type.Object({
        created: Timestamp,
        action: textOut('The action, such as api_key.created.'),
        object_id: textOut('The id of the changed object.'),
        before: Values,
        after: Values,
        address: nullable(textOut('The IP address that the request came from, or null.')),
      }),
      { description: `Your actions in the audit log: the newest ${MAX_ACTIONS} entries.` },
    ),
  },
  { description: 'All data that is stored about the person.' },
);

const CONFIRM =
  'Needs a second factor verified in the last five minutes, or current_password as long as no ' +
  'second factor is set up.';

function exportRoute(settings: SurfaceSettings) {
  return personRoute<undefined, typeof Confirmation>({
    method: 'POST',
    path: '/me/export',
    operationId: `${settings.cookies.realm}ExportMyData`,
    moves: 'data',
    tag: TAG,
    summary: 'Download all data about me, in one document',
    description: `Secrets and their hashes are omitted. ${CONFIRM}`,
    access: 'signed_in',
    body: Confirmation,
    response: PersonalDataSchema,
    errors: ['rate_limit_exceeded', 'service_unavailable'],
    handle: async ({ caller, body, now }) => {
      const password = body.current_password;
      const refused = await confirmIdentity(settings, caller, { password, now });
      if (refused !== null) return refused;
      const userId = sessionOf(caller).user_id;
      return answerWith(200, await exportPerson(settings.people.db, { userId, now }));
    },
  });
}

function eraseRoute(settings: SurfaceSettings) {
  return personRoute<undefined, typeof Confirmation>({
    method: 'POST',
    path: '/me/erase',
    operationId: `${settings.cookies.realm}EraseMyData`,
    moves: 'access',
    asks: 'own',
    tag: TAG,
    summary: 'Delete your account: name, address, factors, devices, sessions and memberships',
    description:
      'This cannot be undone. The audit log keeps the person’s actions with their email address. ' +
      'The last owner of an account must first make another member an owner, and an owner needs ' +
      `a second factor. ${CONFIRM}`,
    access: 'signed_in',
    body: Confirmation,
    response: Done,
    errors: ['unexpected_state', 'rate_limit_exceeded', 'service_unavailable'],
    handle: async ({ caller, body, requestId, now }) => {
      const password = body.current_password;
      const refused = await confirmIdentity(settings, caller, { password, now });
      if (refused !== null) return refused;
      const kept = await erasePerson(settings.people, {
        userId: sessionOf(caller).user_id,
        actor: actorOf(caller, requestId),
        factorIsFresh: hasFreshFactor(caller, now),
        now,
      });
      if (kept !== null) return kept;
      const headers = { 'Set-Cookie': noSessionCookie(settings.cookies) };
      return { ...answerWith(200, { status: 'erased' }), headers };
    },
  });
}

export function personalDataRoutes(settings: SurfaceSettings): PersonRoute[] {
  return [exportRoute(settings), eraseRoute(settings)];
}
