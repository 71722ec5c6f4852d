import Type from 'typebox';
import { InvitationSchema, MemberSchema } from '#apis/dashboard/account/account-schema.ts';
import {
  actorOf,
  ORGANIZATION,
  type PersonRequest,
  type PersonRoute,
  personRoute,
  sessionOf,
} from '#apis/dashboard/person-route.ts';
import {
  Done,
  Email,
  listed,
  nameOut,
  PersonName,
  RoleField,
} from '#apis/dashboard/person-schema.ts';
import { hasTrustedFactor } from '#apis/dashboard/sessions/confirm-identity.ts';
import { mailAccountChange } from '#apis/dashboard/team/mail-owners-of-changes.ts';
import { inheritedView, invitationView } from '#apis/dashboard/team/team-routes.ts';
import { answerWith, isRefusal, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { readName } from '#core/name-rules.ts';
import type { Sql } from '#db/database.ts';
import { idOf, objectType, Timestamp } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectInvitations } from '#people/invitation-queries.ts';
import {
  type Organization,
  organizations,
  selectOrganizationMembers,
} from '#people/organization-queries.ts';
import {
  createOrganization,
  inviteToOrganization,
  type OrganizationRef,
  removeFromOrganization,
  selectAccountsIn,
  selectOrganizationsOf,
  withdrawFromOrganization,
} from '#people/organizations.ts';
import { ROLES, type Role } from '#people/role-order.ts';

const TAG = 'Organizations';
/**
 * Maximum number of organizations per owner: enough for one person's businesses, but too few to
 * flood the network with empty ones.
 */
const MAX_OWNED = 20;

const OrganizationSchema = Type.Object(
  {
    id: idOf('org_', 'organization'),
    object: objectType('organization'),
    name: nameOut('The name of the organization.'),
    role: RoleField,
    accounts: Type.Array(
      Type.Object({
        id: idOf('acct_', 'account'),
        name: nameOut('The name of the account.'),
        time_zone: nameOut('The time zone of the account (IANA).'),
      }),
      { description: 'The accounts of the organization.' },
    ),
    created: Timestamp,
  },
  { title: 'Organization', description: 'The organization, with your role in it.' },
);

async function viewOf(sql: Sql, { id, name, created }: Organization, role: Role) {
  const owned = await selectAccountsIn(sql, id);
  const accounts = owned.map((one) => ({ id: one.id, name: one.name, time_zone: one.time_zone }));
  return { id, object: 'organization', name, role, accounts, created };
}

/**
 * Returns the organization, actor and time of a change, for the audit log. The owners of each
 * account get an email if real money is at stake.
 */
function refOf(ctx: ApiContext, request: PersonRequest, summary: string): OrganizationRef {
  const { caller, params, requestId, now } = request;
  const people = ctx.people.merchant;
  const session = sessionOf(caller);
  const mail: OrganizationRef['mailChange'] = (tx, { id: accountId, name }, detail) => {
    const tenant = { accountId, livemode: true };
    const done = { session: { ...session, account_name: name }, tenant, summary, detail, now };
    return mailAccountChange(tx, people, done);
  };
  return {
    organizationId: params.org ?? '',
    actor: actorOf(caller, requestId),
    factorIsFresh: hasTrustedFactor(caller, now),
    people,
    mailChange: caller.isRealMoney ? mail : null,
    now,
  };
}

function listRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: '/organizations',
    operationId: 'listOrganizations',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the organizations that I belong to',
    access: 'signed_in',
    response: listed(OrganizationSchema, 'The organizations of the person.'),
    handle: async ({ caller }) => {
      const rows = await selectOrganizationsOf(db, sessionOf(caller).user_id);
      const data = rows.map((row) => viewOf(db, row, row.role));
      return answerWith(200, { object: 'list', data: await Promise.all(data) });
    },
  });
}

const NewOrganization = Type.Object({ name: PersonName });

function createRoute({ db }: ApiContext) {
  return personRoute<undefined, typeof NewOrganization>({
    method: 'POST',
    path: '/organizations',
    operationId: 'createOrganization',
    moves: 'data',
    tag: TAG,
    summary: 'Create an organization, owned by me',
    description: 'Put accounts into it with `PUT /accounts/{account}/organization`.',
    access: 'signed_in',
    settings: { name: 'inner' },
    body: NewOrganization,
    status: 201,
    response: OrganizationSchema,
    errors: ['unexpected_state'],
    handle: async ({ caller, body, requestId, now }) => {
      const name = readName(body.name, 'name');
      if (isRefusal(name)) return name;
      const ownerId = sessionOf(caller).user_id;
      const own = await selectOrganizationsOf(db, ownerId);
      if (own.filter(({ role }) => role === 'owner').length >= MAX_OWNED) {
        const message = `A person can own at most ${MAX_OWNED} organizations.`;
        return refuse('unexpected_state', message);
      }
      const actor = actorOf(caller, requestId);
      const made = await db.transaction((tx) =>
        createOrganization(tx, { name, ownerId, actor, now }),
      );
      return answerWith(201, await viewOf(db, made, 'owner'));
    },
  });
}

function readRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: ORGANIZATION,
    operationId: 'readOrganization',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve an organization with its accounts',
    access: 'viewer',
    response: OrganizationSchema,
    handle: async ({ caller, params }) => {
      const row = present(
        await organizations.find(db, 'where id = $1', [params.org]),
        'organization',
      );
      return answerWith(200, await viewOf(db, row, present(caller.role, 'role')));
    },
  });
}

function membersRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${ORGANIZATION}/members`,
    operationId: 'listOrganizationMembers',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the people of an organization',
    access: 'viewer',
    response: listed(MemberSchema, 'The people, each with the role in all accounts.'),
    handle: async ({ params }) => {
      const rows = await selectOrganizationMembers(db, params.org ?? '');
      return answerWith(200, { object: 'list', data: rows.map(inheritedView) });
    },
  });
}

function removeRoute(ctx: ApiContext) {
  return personRoute({
    method: 'DELETE',
    path: `${ORGANIZATION}/members/{user}`,
    operationId: 'removeOrganizationMember',
    moves: 'access',
    asks: 'own',
    tag: TAG,
    summary: 'Remove a person from an organization',
    description:
      'The rights in its accounts end with the next request; roles in single accounts stay. ' +
      'Removing an owner needs a fresh second factor.',
    access: 'owner',
    params: { user: 'user' },
    response: Done,
    errors: ['unexpected_state'],
    handle: async (request) => {
      const userId = request.params.user ?? '';
      const ref = refOf(ctx, request, 'Remove a person from the organization');
      const refused = await ctx.db.transaction((tx) => removeFromOrganization(tx, ref, userId));
      return refused ?? answerWith(200, { status: 'removed' });
    },
  });
}

function leaveRoute(ctx: ApiContext) {
  return personRoute({
    method: 'POST',
    path: `${ORGANIZATION}/leave`,
    operationId: 'leaveOrganization',
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Leave an organization',
    description: 'An owner who leaves needs a fresh second factor.',
    access: ROLES[0],
    response: Done,
    errors: ['unexpected_state'],
    handle: async (request) => {
      const userId = sessionOf(request.caller).user_id;
      const ref = refOf(ctx, request, 'Leave the organization');
      const refused = await ctx.db.transaction((tx) => removeFromOrganization(tx, ref, userId));
      return refused ?? answerWith(200, { status: 'left' });
    },
  });
}

function invitationsRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${ORGANIZATION}/invitations`,
    operationId: 'listOrganizationInvitations',
    moves: 'nothing',
    tag: TAG,
    summary: 'List invitations that are still open',
    access: 'owner',
    response: listed(InvitationSchema, 'Open invitations.'),
    handle: async ({ params, now }) => {
      const to = { organizationId: params.org ?? '' };
      const rows = await selectInvitations(db, { to, now });
      return answerWith(200, { object: 'list', data: rows.map(invitationView) });
    },
  });
}

const InvitationBody = Type.Object({ email: Email, role: RoleField });

function inviteRoute(ctx: ApiContext) {
  return personRoute<undefined, typeof InvitationBody>({
    method: 'POST',
    path: `${ORGANIZATION}/invitations`,
    operationId: 'inviteToOrganization',
    moves: 'access',
    tag: TAG,
    summary: 'Invite a person by email, once for all accounts',
    description:
      'The person gets this role in every account of the organization. Inviting an owner needs a ' +
      'fresh second factor.',
    access: 'owner',
    body: InvitationBody,
    status: 201,
    response: InvitationSchema,
    errors: ['already_exists', 'unexpected_state', 'rate_limit_exceeded'],
    handle: async (request) => {
      const ref = refOf(ctx, request, 'Invite a person to the organization');
      const row = await inviteToOrganization(ref, request.body);
      return isRefusal(row) ? row : answerWith(201, invitationView(row));
    },
  });
}

function revokeRoute(ctx: ApiContext) {
  return personRoute({
    method: 'DELETE',
    path: `${ORGANIZATION}/invitations/{id}`,
    operationId: 'revokeOrganizationInvitation',
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Revoke an invitation',
    access: 'owner',
    params: { id: 'invitation' },
    response: Done,
    handle: async (request) => {
      const id = request.params.id ?? '';
      const ref = refOf(ctx, request, 'Revoke an invitation to the organization');
      const refused = await ctx.db.transaction((tx) => withdrawFromOrganization(tx, ref, id));
      return refused ?? answerWith(200, { status: 'revoked' });
    },
  });
}

export function organizationRoutes(ctx: ApiContext): PersonRoute[] {
  return [
    listRoute(ctx),
    createRoute(ctx),
    readRoute(ctx),
    membersRoute(ctx),
    removeRoute(ctx),
    leaveRoute(ctx),
    invitationsRoute(ctx),
    inviteRoute(ctx),
    revokeRoute(ctx),
  ];
}
