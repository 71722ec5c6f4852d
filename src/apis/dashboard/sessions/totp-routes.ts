import Type from 'typebox';
import type { SurfaceSettings } from '#apis/dashboard/authorize-person.ts';
import { type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { Code, Done } from '#apis/dashboard/person-schema.ts';
import { Confirmation, confirmIdentity } from '#apis/dashboard/sessions/confirm-identity.ts';
import { answerStrong, factorRef } from '#apis/dashboard/sessions/session-routes.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { text, textOut } from '#http/schema.ts';
import { mailFactorRecovery } from '#people/recover-lost-factor.ts';
import {
  beginTotp,
  confirmCodesSaved,
  confirmTotp,
  removeTotp,
  replaceRecoveryCodes,
} from '#people/second-factor.ts';

const TAG = 'Me';

const CodeBody = Type.Object({ code: Code });
const RecoveryCodes = Type.Object(
  {
    recovery_codes: Type.Array(text(40, 'A code that signs in once.', 8), {
      description: 'Ten codes. Each signs in once without the app.',
    }),
  },
  { description: 'The recovery codes, shown only once.' },
);

function beginTotpRoute(settings: SurfaceSettings) {
  return personRoute<undefined, typeof Confirmation>({
    method: 'POST',
    path: '/me/totp',
    operationId: `${settings.cookies.realm}BeginTotp`,
    moves: 'access',
    asks: 'own',
    tag: TAG,
    summary: 'Begin the set-up of an authenticator app',
    access: 'signed_in',
    body: Confirmation,
    response: Type.Object(
      {
        secret: textOut('The secret, for an app that cannot scan.'),
        uri: textOut('The otpauth: link, for the QR code.'),
      },
      { description: 'The data for the authenticator app, shown only once.' },
    ),
    errors: ['unexpected_state', 'rate_limit_exceeded', 'service_unavailable'],
    handle: async ({ caller, body, now }) => {
      const password = body.current_password;
      const refused = await confirmIdentity(settings, caller, { password, now });
      if (refused !== null) return refused;
      const begun = await beginTotp(settings.people, factorRef(caller, now));
      return isRefusal(begun) ? begun : answerWith(200, begun);
    },
  });
}

function confirmTotpRoute(settings: SurfaceSettings) {
  return personRoute<undefined, typeof CodeBody>({
    method: 'POST',
    path: '/me/totp/confirm',
    operationId: `${settings.cookies.realm}ConfirmTotp`,
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Confirm the authenticator app with its first code',
    description: 'Returns ten recovery codes, only once. Each signs in once without the app.',
    access: 'signed_in',
    body: CodeBody,
    response: RecoveryCodes,
    errors: ['unexpected_state', 'rate_limit_exceeded'],
    handle: async ({ caller, body, now }) => {
      const confirmed = await confirmTotp(settings.people, factorRef(caller, now), body.code);
      if (isRefusal(confirmed)) return confirmed;
      const { headers } = await answerStrong(settings, confirmed.session, { caller, now });
      const answer = answerWith(200, { recovery_codes: confirmed.recoveryCodes });
      return { ...answer, headers: headers ?? {} };
    },
  });
}

function removeTotpRoute(settings: SurfaceSettings) {
  return personRoute({
    method: 'DELETE',
    path: '/me/totp',
    operationId: `${settings.cookies.realm}RemoveTotp`,
    moves: 'access',
    asks: 'fresh',
    tag: TAG,
    summary: 'Remove the authenticator app',
    access: 'signed_in',
    response: Done,
    errors: ['unexpected_state'],
    handle: async ({ caller, now }) => {
      const refused = await removeTotp(settings.people, factorRef(caller, now));
      return refused ?? answerWith(200, { status: 'removed' });
    },
  });
}

function replaceRecoveryCodesRoute(settings: SurfaceSettings) {
  return personRoute({
    method: 'POST',
    path: '/me/recovery_codes',
    operationId: `${settings.cookies.realm}ReplaceRecoveryCodes`,
    moves: 'access',
    asks: 'fresh',
    tag: TAG,
    summary: 'Create ten new recovery codes; the old ones become invalid',
    access: 'signed_in',
    response: RecoveryCodes,
    errors: ['unexpected_state'],
    handle: async ({ caller, now }) => {
      const codes = await replaceRecoveryCodes(settings.people, factorRef(caller, now));
      return isRefusal(codes) ? codes : answerWith(200, { recovery_codes: codes });
    },
  });
}

function savedRoute(settings: SurfaceSettings) {
  return personRoute({
    method: 'POST',
    path: '/me/recovery_codes/saved',
    operationId: `${settings.cookies.realm}ConfirmRecoveryCodesSaved`,
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Confirm that the recovery codes are stored',
    access: 'signed_in',
    response: Done,
    errors: ['unexpected_state'],
    handle: async ({ caller, now }) => {
      const refused = await confirmCodesSaved(settings.people, factorRef(caller, now));
      return refused ?? answerWith(200, { status: 'saved' });
    },
  });
}

function factorRecoveryRoute(settings: SurfaceSettings) {
  const { realm } = settings.cookies;
  return personRoute({
    method: 'POST',
    path: '/session/factor_recovery',
    operationId: `${realm}RecoverFactor`,
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Report the second factor as lost',
    description:
      'Sends a mail with a link. 72 hours after its button was clicked the factors end, unless ' +
      'one is used before.',
    access: 'half_signed_in',
    status: 202,
    response: Done,
    errors: ['unexpected_state', 'rate_limit_exceeded'],
    handle: async ({ caller, now }) => {
      const refused = await mailFactorRecovery(settings.people, factorRef(caller, now));
      return refused ?? answerWith(202, { status: 'mail_sent' });
    },
  });
}

/**
 * Declares the routes for the authenticator app, the recovery codes, and regaining access without
 * them.
 */
export function totpRoutes(settings: SurfaceSettings): PersonRoute[] {
  return [
    beginTotpRoute(settings),
    confirmTotpRoute(settings),
    removeTotpRoute(settings),
    replaceRecoveryCodesRoute(settings),
    savedRoute(settings),
    factorRecoveryRoute(settings),
  ];
}
