import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import Type, { type TSchema } from 'typebox';
import { idOf, nullable, objectType, oneOf, openObject, Timestamp, text } from '#http/schema.ts';
import { ROLES } from '#people/role-order.ts';
import { STAFF_ROLES } from '#people/user-queries.ts';

/** Schemas that requests and responses of the dashboard and the operator API share. */

export const Email = text(254, 'An email address.', 3);
export const Password = text(256, '12 to 256 characters.', 1);
export const PersonName = text(100, 'A name of 1 to 100 characters.', 1);
export const MailToken = text(100, 'The token of the link: the part after #token=.', 1);
export const Code = text(
  40,
  'Six digits of the authenticator app, also as `123 456`, or a recovery code.',
  1,
);
export const RoleField = oneOf(ROLES, 'cashier, viewer, member, admin or owner.');
export const KYB_STATUSES = ['none', 'pending', 'approved', 'rejected'] as const;
export const EmailOut = Type.String({ maxLength: 254, description: 'An email address.' });

export function nameOut(description: string) {
  return Type.String({ maxLength: 500, description });
}

export function count(description: string) {
  return Type.Integer({ minimum: 0, description });
}

export const Version = Type.Integer({
  minimum: 1,
  description: 'The version that the change was made from; a stale one returns 409.',
});

function base64Url(description: string) {
  return Type.String({ pattern: '^[A-Za-z0-9_-]+=*$', maxLength: 16_384, description });
}

const ClientData = base64Url('The data that the browser had signed: JSON, in base64url.');

/**
 * Schema of the browser's PublicKeyCredential.toJSON(). The WebAuthn library checks the details.
 */
function credential(response: Record<string, TSchema>): TSchema {
  return Type.Unsafe({
    type: 'object',
    required: ['id', 'rawId', 'type', 'response'],
    properties: {
      id: base64Url('The id of the credential, in base64url.'),
      rawId: base64Url('The same id, which browsers repeat.'),
      type: { type: 'string', const: 'public-key', description: 'The only type.' },
      response: {
        type: 'object',
        required: Object.keys(response),
        properties: response,
        description: 'The response of the authenticator.',
      },
      clientExtensionResults: {
        type: 'object',
        description: 'The results of the browser’s extensions. Not used.',
      },
    },
    description: 'The output of `PublicKeyCredential.toJSON()` in the browser.',
  });
}

export const NewPasskey = Type.Unsafe<RegistrationResponseJSON>(
  credential({
    clientDataJSON: ClientData,
    attestationObject: base64Url('The new public key and its attestation: CBOR, in base64url.'),
  }),
);

export const UsedPasskey = Type.Unsafe<AuthenticationResponseJSON>(
  credential({
    clientDataJSON: ClientData,
    authenticatorData: base64Url('The authenticator data, in base64url.'),
    signature: base64Url('The signature of the passkey over both, in base64url.'),
  }),
);

/** The argument of navigator.credentials.create or .get, which the page must parse first. */
export const PasskeyOptions = openObject('WebAuthn options: pass them to the browser unchanged.');

export const UserSchema = Type.Object(
  {
    id: idOf('usr_', 'user'),
    email: EmailOut,
    name: nameOut('The name of the person.'),
    factors: Type.Object(
      {
        totp: Type.Boolean({ description: 'True if an authenticator app is set up.' }),
        passkeys: count('The number of passkeys.'),
        first_choice: nullable(
          oneOf(
            ['passkey', 'totp'] as const,
            'The factor to offer first; `null` if none is set up.',
          ),
        ),
        recovery_codes_left: count('The number of unused recovery codes.'),
        recovery_codes_to_save: Type.Boolean({
          description: 'True: ask the person to store them, until POST /me/recovery_codes/saved.',
        }),
      },
      { description: 'The second factors of the person.' },
    ),
  },
  { description: 'The person who is signed in.' },
);

export const SessionSchema = Type.Object(
  {
    object: objectType('session'),
    id: idOf('ses_', 'session'),
    status: oneOf(
      ['signed_in', 'second_factor_required'] as const,
      'Whether the sign-in is complete.',
    ),
    csrf_token: text(100, 'Send it as the header Csrf-Token with every change.', 1),
    expires_at: Timestamp,
    second_factor_at: nullable(Timestamp),
    user: UserSchema,
    staff_role: nullable(
      oneOf(
        STAFF_ROLES,
        "The role in the network's staff: support only reads. `null` for a merchant's person.",
      ),
    ),
    accounts: Type.Array(
      Type.Object({
        id: idOf('acct_', 'account'),
        name: nameOut('The name of the account.'),
        role: RoleField,
        status: oneOf(['active', 'disabled'] as const, 'disabled: the account cannot be used.'),
        kyb_status: oneOf(KYB_STATUSES, 'The status of the business verification.'),
      }),
      { description: 'The accounts that the person is a member of.' },
    ),
  },
  { description: 'The session: the person, the accounts, and the missing second factor.' },
);

/** Results of changes that return no object. */
const ACTIONS = [
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

export const Done = Type.Object(
  { status: oneOf(ACTIONS, 'The change that was made.') },
  { description: 'The change that was made.' },
);

/** Schema of a list that is short enough to need no pages. */
export function listed(item: TSchema, description: string) {
  return Type.Object(
    { object: objectType('list'), data: Type.Array(item, { description }) },
    { description },
  );
}
