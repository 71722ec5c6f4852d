import Type from 'typebox';
import type { PersonCaller, SurfaceSettings } from '#apis/dashboard/authorize-person.ts';
import { type PersonRoute, personRoute, sessionOf } from '#apis/dashboard/person-route.ts';
import { Done, Email, MailToken, Password } from '#apis/dashboard/person-schema.ts';
import { deviceCookie } from '#apis/dashboard/sessions/session-cookies.ts';
import { type Answer, answerWith, isRefusal } from '#core/answer.ts';
import { changePassword } from '#people/change-password.ts';
import { requestPasswordReset } from '#people/email-links.ts';
import { rememberDevice } from '#people/known-devices.ts';
import { completePasswordReset } from '#people/reset-password.ts';

const TAG = 'Password';

const ResetRequest = Type.Object({ email: Email });

function requestRoute(settings: SurfaceSettings) {
  const { realm } = settings.cookies;
  return personRoute<undefined, typeof ResetRequest>({
    method: 'POST',
    path: '/password_reset',
    operationId: `${realm}RequestPasswordReset`,
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Ask for a link to choose a new password',
    description: 'The response is the same whether or not there is such a user.',
    access: 'public',
    body: ResetRequest,
    status: 202,
    response: Done,
    errors: ['rate_limit_exceeded'],
    handle: async ({ caller, body }) => {
      const { visit } = caller;
      const refused = await requestPasswordReset(settings.people, { realm, ...body, visit });
      return refused ?? answerWith(202, { status: 'mail_sent' });
    },
  });
}

/** The change removed all known devices, so this device is remembered again. */
async function passwordChanged(
  settings: SurfaceSettings,
  user: { readonly id: string; readonly email: string },
  caller: PersonCaller,
): Promise<Answer> {
  const { id: userId, email } = user;
  const device = { userId, email, token: null, visit: caller.visit, alert: false };
  const token = await rememberDevice(settings.people, device);
  const headers = { 'Set-Cookie': deviceCookie(token, settings.cookies) };
  return { ...answerWith(200, { status: 'password_changed' }), headers };
}

const ResetBody = Type.Object({ token: MailToken, password: Password });

function resetRoute(settings: SurfaceSettings) {
  const { realm } = settings.cookies;
  return personRoute<undefined, typeof ResetBody>({
    method: 'POST',
    path: '/password_reset/complete',
    operationId: `${realm}CompletePasswordReset`,
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Choose a new password with the link',
    description: 'Ends all sessions. Sign in afterwards; the second factor is still required.',
    access: 'public',
    body: ResetBody,
    response: Done,
    errors: ['rate_limit_exceeded', 'service_unavailable'],
    handle: async ({ caller, body }) => {
      const { visit } = caller;
      const user = await completePasswordReset(settings.people, { realm, ...body, visit });
      if (isRefusal(user)) return user;
      // The caller has proven access to the mailbox, so this device becomes known and others'
      // failed guesses no longer block it.
      return passwordChanged(settings, user, caller);
    },
  });
}

const ChangeBody = Type.Object({ current_password: Password, password: Password });

function changeRoute(settings: SurfaceSettings) {
  return personRoute<undefined, typeof ChangeBody>({
    method: 'POST',
    path: '/me/password',
    operationId: `${settings.cookies.realm}ChangePassword`,
    moves: 'access',
    asks: 'own',
    tag: TAG,
    summary: 'Change my password',
    description: 'All my other sessions end.',
    access: 'signed_in',
    body: ChangeBody,
    response: Done,
    errors: ['rate_limit_exceeded', 'service_unavailable'],
    handle: async ({ caller, body, now }) => {
      const { id: sessionId, user_id: userId } = sessionOf(caller);
      const changed = await changePassword(settings.people, {
        userId,
        sessionId,
        currentPassword: body.current_password,
        password: body.password,
        now,
      });
      return isRefusal(changed) ? changed : passwordChanged(settings, changed, caller);
    },
  });
}

export function passwordRoutes(settings: SurfaceSettings): PersonRoute[] {
  return [requestRoute(settings), resetRoute(settings), changeRoute(settings)];
}
