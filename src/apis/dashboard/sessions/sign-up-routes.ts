import Type from 'typebox';
import { completeSignUp } from '#accounts/complete-sign-up.ts';
import { shopFields, TimeZone } from '#apis/dashboard/account/account-schema.ts';
import type { SurfaceSettings } from '#apis/dashboard/authorize-person.ts';
import { type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import {
  Email,
  MailToken,
  Password,
  PersonName,
  RoleField,
  SessionSchema,
} from '#apis/dashboard/person-schema.ts';
import { answerSession } from '#apis/dashboard/sessions/session-routes.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { idOf, nullable, Timestamp, textOut } from '#http/schema.ts';
import { acceptInvitation } from '#people/accept-invitation.ts';
import { requestSignUp } from '#people/email-links.ts';
import { readInvitation } from '#people/read-invitation.ts';

const TAG = 'Sign-up';

const SignUpRequest = Type.Object({ email: Email });

const MailSent = Type.Object(
  {
    status: Type.Literal('mail_sent', { description: 'The change that was made.' }),
    link: Type.Optional(
      textOut('The mailed link. Only a sandbox returns it, to browsers on its own machine.'),
    ),
  },
  { description: 'The change that was made.' },
);

function requestRoute(settings: SurfaceSettings) {
  return personRoute<undefined, typeof SignUpRequest>({
    method: 'POST',
    path: '/sign_up',
    operationId: 'requestSignUp',
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Request a link to open an account',
    description: 'The response is the same whether or not the address is already known.',
    access: 'public',
    body: SignUpRequest,
    status: 202,
    response: MailSent,
    errors: ['rate_limit_exceeded'],
    handle: async ({ caller, body }) => {
      const input = { realm: 'merchant', ...body, visit: caller.visit } as const;
      const sent = await requestSignUp(settings.people, input);
      if (isRefusal(sent)) return sent;
      const isSandbox = settings.people.factorAgeMs === 0;
      const shows = isSandbox && sent !== null && caller.isOnOwnMachine;
      return answerWith(202, { status: 'mail_sent', ...(shows ? { link: sent } : {}) });
    },
  });
}

const SignUpBody = Type.Object({
  token: MailToken,
  name: PersonName,
  account_name: PersonName,
  password: Password,
  currency: Type.Optional(shopFields.currency),
  time_zone: Type.Optional(TimeZone),
});

function completeRoute(settings: SurfaceSettings) {
  return personRoute<undefined, typeof SignUpBody>({
    method: 'POST',
    path: '/sign_up/complete',
    operationId: 'completeSignUp',
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Open the account with the link',
    access: 'public',
    body: SignUpBody,
    status: 201,
    response: SessionSchema,
    errors: ['rate_limit_exceeded', 'service_unavailable'],
    handle: async ({ caller, body, requestId, now }) => {
      const result = await completeSignUp(settings.people, {
        token: body.token,
        name: body.name,
        accountName: body.account_name,
        password: body.password,
        shop: { currency: body.currency, timeZone: body.time_zone },
        requestId,
        visit: caller.visit,
      });
      if (isRefusal(result)) return result;
      const { user } = result;
      const signedIn = {
        user,
        level: 'full',
        secondFactorAt: null,
        caller,
        alert: false,
        now,
      } as const;
      return answerSession(settings, result.session, { ...signedIn, status: 201 });
    },
  });
}

const LookupBody = Type.Object({ token: MailToken });

function lookupRoute(settings: SurfaceSettings) {
  return personRoute<undefined, typeof LookupBody>({
    method: 'POST',
    path: '/invitations/lookup',
    operationId: 'lookUpInvitation',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve the account or organization and the role that an invitation link offers',
    access: 'public',
    body: LookupBody,
    response: Type.Object(
      {
        account_name: textOut('The name of the account or organization.'),
        email: textOut('The email address that was invited.'),
        role: RoleField,
        has_user: Type.Boolean({ description: 'true: sign in first, then accept.' }),
        expires_at: Timestamp,
      },
      { description: 'The offer of the link, and until when it is valid.' },
    ),
    errors: ['rate_limit_exceeded'],
    handle: async ({ caller, body }) => {
      const invited = await readInvitation(settings.people, body.token, caller.visit);
      if (isRefusal(invited)) return invited;
      const { invitation, user } = invited;
      return answerWith(200, {
        account_name: invitation.account_name,
        email: invitation.email,
        role: invitation.role,
        has_user: user !== undefined,
        expires_at: invitation.expires_at.toISOString(),
      });
    },
  });
}

const AcceptBody = Type.Object({
  token: MailToken,
  name: Type.Optional(PersonName),
  password: Type.Optional(Password),
});

const AcceptedSchema = Type.Object(
  {
    account: nullable(idOf('acct_', 'account')),
    organization: nullable(idOf('org_', 'organization')),
    role: RoleField,
  },
  { description: 'The account or the organization, and the role in it.' },
);

function acceptRoute(settings: SurfaceSettings) {
  return personRoute<undefined, typeof AcceptBody>({
    method: 'POST',
    path: '/invitations/accept',
    operationId: 'acceptInvitation',
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Join a team with an invitation link',
    description: 'Existing users sign in first. For anyone else, name and password create a user.',
    access: 'public',
    body: AcceptBody,
    response: AcceptedSchema,
    errors: ['session_missing', 'rate_limit_exceeded', 'service_unavailable'],
    handle: async ({ caller, body, requestId, now }) => {
      const isFull = caller.session?.level === 'full';
      const result = await acceptInvitation(settings.people, {
        token: body.token,
        signedInAs: isFull ? (caller.session?.user_id ?? null) : null,
        name: body.name ?? null,
        password: body.password ?? null,
        requestId,
        visit: caller.visit,
      });
      if (isRefusal(result)) return result;
      const { invitation, session, user } = result;
      const { account_id: account, organization_id: organization, role } = invitation;
      const answer = answerWith(200, { account, organization, role });
      if (session === null) return answer;
      const signedIn = {
        user,
        level: 'full',
        secondFactorAt: null,
        caller,
        alert: false,
        now,
      } as const;
      const { headers } = await answerSession(settings, session, signedIn);
      return { ...answer, headers: headers ?? {} };
    },
  });
}

/** Staff can be created only by a command on the server. */
export function signUpRoutes(settings: SurfaceSettings): PersonRoute[] {
  return [
    requestRoute(settings),
    completeRoute(settings),
    lookupRoute(settings),
    acceptRoute(settings),
  ];
}
