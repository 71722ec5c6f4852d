import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import Type, { type TSchema } from 'typebox';
import { idOf, nullable, objectType, oneOf, openObject, Timestamp, text } from '#http/schema.ts';
import { ROLES } from '#people/roles.ts';
import { STAFF_ROLES } from '#people/user-queries.ts';

/** Building blocks of the dashboard's and the operators' requests and responses. */

export const Email = text(254, 'An email address.', 3);
export const Password = text(256, '12 to 256 characters.', 1);
export const PersonName = text(100, 'A name of 1 to 100 characters.', 1);
export const MailToken = text(100, 'The token of the link: the part after #token=.', 1);
export const Code = text(
  40,
  'Six digits of the authenticator app, also as `123 456`, or a recovery code.',
  1,
);
export const RoleField = oneOf(ROLES, 'viewer, member, admin or owner.');
export const KYB_STATUSES = ['none', 'pending', 'approved', 'rejected'] as const;
export const EmailOut = Type.String({ maxLength: 254, description: 'An email address.' });

/** A name that people gave, as it is shown. */
export function nameOut(description: string) {
  return Type.String({ maxLength: 500, description });
}

export function count(description: string) {
  return Type.Integer({ minimum: 0, description });
}

export const Version = Type.Integer({
  minimum: 1,
  description: 'The version that the change was made from; a stale one answers 409.',
});

function base64Url(description: string) {
  return Type.String({ pattern: '^[A-Za-z0-9_-]+=*$', maxLength: 16_384, description });
}

const ClientData = base64Url('What the browser had signed: JSON, in base64url.');

/** What the browser's PublicKeyCredential.toJSON() gives; the WebAuthn library checks the rest. */
function credential(response: Record<string, TSchema>): TSchema {
  return Type.Unsafe({
    type: 'object',
    required: ['id', 'rawId', 'type', 'response'],
    properties: {
      id: base64Url('The id of the credential, in base64url.'),
      rawId: base64Url('The same id, as the browser gives it a second time.'),
      type: { type: 'string', const: 'public-key', description: 'The only type there is.' },
      response: {
        type: 'object',
        required: Object.keys(response),
        properties: response,
        description: 'What the authenticator answered.',
      },
      clientExtensionResults: {
        type: 'object',
        description: 'What the extensions of the browser answered. Not used.',
      },
    },
    description: 'What `PublicKeyCredential.toJSON()` gives in the browser.',
  });
}

export const NewPasskey = Type.Unsafe<RegistrationResponseJSON>(
  credential({
    clientDataJSON: ClientData,
    attestationObject: base64Url('The new public key, and who made it: CBOR, in base64url.'),
  }),
);

export const UsedPasskey = Type.Unsafe<AuthenticationResponseJSON>(
  credential({
    clientDataJSON: ClientData,
    authenticatorData: base64Url('What the authenticator says of itself, in base64url.'),
    signature: base64Url('The signature of the passkey over both, in base64url.'),
  }),
);

/** The argument of navigator.credentials.create or .get, to be parsed by the browser. */
export const PasskeyOptions = openObject('WebAuthn options: pass them to the browser unchanged.');

export const SessionSchema = Type.Object(
  {
    object: objectType('session'),
    id: idOf('ses_', 'session'),
    status: oneOf(
      ['signed_in', 'second_factor_required'] as const,
      'Whether the sign-in is complete.',
    ),
    csrf_token: Type.String({ description: 'Send it as the header Csrf-Token with every change.' }),
    expires_at: Timestamp,
    second_factor_at: nullable(Timestamp),
    user: Type.Object(
      {
        id: idOf('usr_', 'user'),
        email: EmailOut,
        name: nameOut('The name of the person.'),
        factors: Type.Object(
          {
            totp: Type.Boolean({ description: 'Whether an authenticator app is set up.' }),
            passkeys: count('How many passkeys are set up.'),
            first_choice: nullable(
              oneOf(
                ['passkey', 'totp'] as const,
                'What to offer first; null: no factor is set up.',
              ),
            ),
            recovery_codes_left: count('How many recovery codes have not been used.'),
            recovery_codes_to_save: Type.Boolean({
              description: 'Ask the person to store them; POST /me/recovery_codes/saved ends it.',
            }),
          },
          { description: 'The second factors of the person.' },
        ),
      },
      { description: 'The person who is signed in.' },
    ),
    staff_role: nullable(
      oneOf(STAFF_ROLES, "Of the network's staff: support only looks. null: a merchant's person."),
    ),
    accounts: Type.Array(
      Type.Object({
        id: idOf('acct_', 'account'),
        name: nameOut('The name of the account.'),
        role: RoleField,
        status: oneOf(['active', 'disabled'] as const, 'Whether it can be used.'),
        kyb_status: oneOf(KYB_STATUSES, 'How far the business verification is.'),
      }),
      { description: 'The accounts that the person is a member of.' },
    ),
  },
  { description: 'The session: the person, the accounts, and what is still to be proven.' },
);

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

export const Done = Type.Object(
  { status: oneOf(DEEDS, 'What was done.') },
  { description: 'What was done.' },
);

/** A list that is never so long that it needs pages. */
export function listed(item: TSchema, description: string) {
  return Type.Object(
    { object: objectType('list'), data: Type.Array(item, { description }) },
    { description },
  );
}
