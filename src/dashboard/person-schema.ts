import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import Type, { type TSchema } from 'typebox';
import { ROLES } from '#accounts/roles.ts';
import { idOf, nullable, objectType, oneOf, openObject, Timestamp, text } from '#http/schema.ts';

/** Building blocks of the dashboard's and the operators' requests and responses. */

export const Email = text(254, 'An e-mail address.', 3);
export const Password = text(256, '12 to 256 characters.', 1);
export const PersonName = text(100, 'A name of 1 to 100 characters.', 1);
export const MailToken = text(100, 'The token of the link, as it stands behind #token=.', 1);
export const Code = text(40, 'Six digits of the authenticator app, or a recovery code.', 1);
export const RoleField = oneOf(ROLES, 'viewer, member, admin or owner.');
export const Version = Type.Integer({
  minimum: 1,
  description: 'The version that the change was made from; a stale one answers 409.',
});

const Base64Url = Type.String({ pattern: '^[A-Za-z0-9_-]+=*$', maxLength: 16_384 });

/** What the browser's PublicKeyCredential.toJSON() gives; the WebAuthn library checks the rest. */
function credential(response: Record<string, TSchema>, required: string[]): TSchema {
  return Type.Unsafe({
    type: 'object',
    required: ['id', 'rawId', 'type', 'response'],
    properties: {
      id: Base64Url,
      rawId: Base64Url,
      type: { type: 'string', const: 'public-key' },
      response: { type: 'object', required, properties: response },
      clientExtensionResults: { type: 'object' },
    },
  });
}

export const NewPasskey = Type.Unsafe<RegistrationResponseJSON>(
  credential({ clientDataJSON: Base64Url, attestationObject: Base64Url }, [
    'clientDataJSON',
    'attestationObject',
  ]),
);

export const UsedPasskey = Type.Unsafe<AuthenticationResponseJSON>(
  credential({ clientDataJSON: Base64Url, authenticatorData: Base64Url, signature: Base64Url }, [
    'clientDataJSON',
    'authenticatorData',
    'signature',
  ]),
);

/** The argument of navigator.credentials.create or .get, to be parsed by the browser. */
export const PasskeyOptions = openObject(
  'Options of WebAuthn: hand them to the browser as they are.',
);

export const SessionSchema = Type.Object({
  object: objectType('session'),
  id: idOf('ses_', 'session'),
  status: oneOf(['signed_in', 'second_factor_required'] as const, 'What can be done with it.'),
  csrf_token: Type.String({ description: 'Send it as the header Csrf-Token with every change.' }),
  expires_at: Timestamp,
  second_factor_at: nullable(Timestamp),
  user: Type.Object({
    id: idOf('usr_', 'user'),
    email: Type.String(),
    name: Type.String(),
    factors: Type.Object({
      totp: Type.Boolean(),
      passkeys: Type.Integer(),
      first_choice: nullable(
        oneOf(['passkey', 'totp'] as const, 'What to offer first; null: no factor is set up.'),
      ),
      recovery_codes_left: Type.Integer(),
      recovery_codes_to_save: Type.Boolean({
        description: 'Ask to keep the codes, until POST /me/recovery_codes/saved says it is done.',
      }),
    }),
  }),
  accounts: Type.Array(
    Type.Object({
      id: idOf('acct_', 'account'),
      name: Type.String(),
      role: RoleField,
      status: oneOf(['active', 'disabled'] as const, 'Whether it can be used.'),
      kyb_status: Type.String(),
    }),
  ),
});

export const Done = Type.Object({ status: Type.String() });

export function listed(item: TSchema) {
  return Type.Object({ object: Type.Literal('list'), data: Type.Array(item) });
}
