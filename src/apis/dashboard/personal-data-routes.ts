import Type from 'typebox';
import { noSessionCookie } from '#apis/dashboard/cookies.ts';
import { Confirmation, confirmIdentity, hasFreshFactor } from '#apis/dashboard/fresh-factor.ts';
import { actorOf, type PersonRoute, personRoute, sessionOf } from '#apis/dashboard/person-route.ts';
import { Done, RoleField } from '#apis/dashboard/person-schema.ts';
import type { SurfaceSettings } from '#apis/dashboard/surface.ts';
import { answerWith } from '#core/answer.ts';
import { idOf, nullable, objectType, Timestamp } from '#http/schema.ts';
import { exportPerson, MAX_ACTIONS } from '#people/export-person.ts';
import { erasePerson } from '#people/personal-data.ts';

const TAG = 'Me';

const Values = Type.Unsafe<unknown>({
  type: ['object', 'null'],
  additionalProperties: true,
  description: 'The changed fields.',
});

const PersonalDataSchema = Type.Object({
  object: objectType('personal_data'),
  exported_at: Timestamp,
  user: Type.Object({
    id: idOf('usr_', 'user'),
    email: Type.String(),
    name: Type.String(),
    created: Timestamp,
    totp_confirmed_at: nullable(Timestamp),
    recovery_codes_left: Type.Integer(),
  }),
  accounts: Type.Array(
    Type.Object({ id: idOf('acct_', 'account'), name: Type.String(), role: RoleField }),
  ),
  sessions: Type.Array(
    Type.Object({
      id: idOf('ses_', 'session'),
      address: Type.String(),
      user_agent: Type.String(),
      created: Timestamp,
      last_seen_at: Timestamp,
      expires_at: Timestamp,
    }),
  ),
  devices: Type.Array(
    Type.Object({
      user_agent: Type.String(),
      address: Type.String(),
      created: Timestamp,
      last_used_at: Timestamp,
    }),
  ),
  passkeys: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      created: Timestamp,
      last_used_at: nullable(Timestamp),
    }),
  ),
  invitations: Type.Array(
    Type.Object({
      account_id: idOf('acct_', 'account'),
      role: RoleField,
      created: Timestamp,
      accepted_at: nullable(Timestamp),
    }),
  ),
  actions: Type.Array(
    Type.Object({
      created: Timestamp,
      action: Type.String(),
      object_id: Type.String(),
      before: Values,
      after: Values,
      address: nullable(Type.String()),
    }),
    { description: `What you did, from the audit log: the newest ${MAX_ACTIONS} entries.` },
  ),
});

const CONFIRM =
  'Needs a second factor proven in the last five minutes, or current_password as long as no ' +
  'second factor is set up.';

function exportRoute(settings: SurfaceSettings) {
  return personRoute<undefined, typeof Confirmation>({
    method: 'POST',
    path: '/me/export',
    operationId: `${settings.cookies.realm}ExportMyData`,
    tag: TAG,
    summary: 'Everything that is kept about me, in one document',
    description: `Secrets and their hashes are left out. ${CONFIRM}`,
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
    tag: TAG,
    summary: 'Erase me: name, address, factors, devices, sessions and memberships',
    description:
      'Cannot be undone. The audit log still says who did what, with the mail address of then. ' +
      'The last owner of an account must first make somebody else owner, and an owner needs a ' +
      `second factor. ${CONFIRM}`,
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

/** A person's data: taken along, or erased. */
export function personalDataRoutes(settings: SurfaceSettings): PersonRoute[] {
  return [exportRoute(settings), eraseRoute(settings)];
}
