import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import Type, { type TSchema } from 'typebox';
import { idOf, nullable, objectType, oneOf, openObject, Timestamp, text } from '#http/schema.ts';
import { ROLES } from '#people/roles.ts';
import { STAFF_ROLES } from '#people/user-queries.ts';

/** Building blocks of the dashboard's and the operators' requests and responses. */

export const Email = text(254, 'An e-mail address.', 3);
export const Password = text(256, '12 to 256 characters.', 1);
export const PersonName = text(100, 'A name of 1 to 100 characters.', 1);
export const MailToken = text(100, 'The token of the link: the part after #token=.', 1);
export const Code = text(40, 'Six digits of the authenticator app, or a recovery code.', 1);
export const RoleField = oneOf(ROLES, 'viewer, member, admin or owner.');
export const KYB_STATUSES = ['none', 'pending', 'approved', 'rejected'] as const;
export const EmailOut = Type.String({ maxLength: 254, description: 'An e-mail address.' });
export const NameOut = Type.String({ maxLength: 500, description: 'A name.' });
export const Count = Type.Integer({ minimum: 0, description: 'How many there are.' });
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
export const PasskeyOptions = openObject('WebAuthn options: pass them to the browser unchanged.');

export const SessionSchema = Type.Object({
  object: objectType('session'),
  id: idOf('ses_', 'session'),
  status: oneOf(
    ['signed_in', 'second_factor_required'] as const,
    'Whether the sign-in is complete.',
  ),
  csrf_token: Type.String({ description: 'Send it as the header Csrf-Token with every change.' }),
  expires_at: Timestamp,
  second_factor_at: nullable(Timestamp),
  user: Type.Object({
    id: idOf('usr_', 'user'),
    email: EmailOut,
    name: NameOut,
    factors: Type.Object({
      totp: Type.Boolean(),
      passkeys: Count,
      first_choice: nullable(
        oneOf(['passkey', 'totp'] as const, 'What to offer first; null: no factor is set up.'),
      ),
      recovery_codes_left: Count,
      recovery_codes_to_save: Type.Boolean({
        description: 'Ask the person to store them; POST /me/recovery_codes/saved ends it.',
      }),
    }),
  }),
  staff_role: nullable(
    oneOf(STAFF_ROLES, "Of the network's staff: support only looks. null: a merchant's person."),
  ),
  accounts: Type.Array(
    Type.Object({
      id: idOf('acct_', 'account'),
      name: NameOut,
      role: RoleField,
      status: oneOf(['active', 'disabled'] as const, 'Whether it can be used.'),
      kyb_status: oneOf(KYB_STATUSES, 'Verification.'),
    }),
  ),
});

/** What a change came to that has no object of its own. */
const DEEDS = [
  'accepted',
  'blocked',
  'disabled',
  'enabled',
  'erased',
  'left',
  'lifted',
  'mail_sent',
  'password_changed',
  'removed',
  'resolved',
  'revoked',
  'saved',
  'signed_out',
  'unblocked',
] as const;

export const Done = Type.Object({ status: oneOf(DEEDS, 'What was done.') });

export function listed(item: TSchema) {
  return Type.Object({ object: Type.Literal('list'), data: Type.Array(item) });
}
