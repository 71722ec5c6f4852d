import Type from 'typebox';
import { InvitationSchema, MemberSchema } from '#apis/dashboard/account-schema.ts';
import { hasTrustedFactor } from '#apis/dashboard/fresh-factor.ts';
import {
  ACCOUNT,
  actorOf,
  type PersonRequest,
  type PersonRoute,
  personRoute,
  sessionOf,
} from '#apis/dashboard/person-route.ts';
import { Done, Email, listed, RoleField, Version } from '#apis/dashboard/person-schema.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { type InvitationRow, selectInvitations } from '#people/invitation-queries.ts';
import { inviteMember, withdrawInvitation } from '#people/invite.ts';
import { type MemberRow, selectMembers } from '#people/membership-queries.ts';
import { type OrganizationMember, selectInheritedMembers } from '#people/organization-queries.ts';
import { changeRole, removeMember } from '#people/team.ts';
import type { TeamRef } from '#people/team-changes.ts';

const TAG = 'Team';

function memberView(row: MemberRow) {
  const { user_id: user, email, name, role, two_factor, version, created } = row;
  return { user, email, name, role, organization: null, two_factor, version, created };
}

/** A person of the account's organization, whose role is changed there. */
export function inheritedView(row: OrganizationMember) {
  const { user_id: user, organization_id: organization, email, name, role, two_factor } = row;
  return { user, email, name, role, organization, two_factor, version: 0, created: row.created };
}

export function invitationView(row: InvitationRow) {
  const { id, email, role, created, expires_at } = row;
  return { id, email, role, created, expires_at };
}

function teamRef(ctx: ApiContext, { caller, requestId, now }: PersonRequest): TeamRef {
  return {
    accountId: caller.tenant.accountId,
    accountName: caller.merchant.name,
    actor: actorOf(caller, requestId),
    factorIsFresh: hasTrustedFactor(caller, now),
    people: ctx.people.merchant,
    now,
  };
}

function membersRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${ACCOUNT}/members`,
    operationId: 'listMembers',
    moves: 'nothing',
    tag: TAG,
    summary: 'The team',
    description: 'People whose `organization` is set have their role through it.',
    access: 'viewer',
    response: listed(MemberSchema, 'The members of the account.'),
    handle: async ({ caller }) => {
      const { accountId } = caller.tenant;
      const own = (await selectMembers(db, accountId)).map(memberView);
      const inherited = (await selectInheritedMembers(db, accountId)).map(inheritedView);
      return answerWith(200, { object: 'list', data: [...own, ...inherited] });
    },
  });
}

const RoleBody = Type.Object({ role: RoleField, version: Version });

function changeRoleRoute(ctx: ApiContext) {
  return personRoute<undefined, typeof RoleBody>({
    method: 'PATCH',
    path: `${ACCOUNT}/members/{user}`,
    operationId: 'changeRole',
    moves: 'access',
    tag: TAG,
    summary: "Change a member's role",
    description:
      'Making a member an owner, or taking that role away, needs a fresh second factor. All ' +
      'owners get a mail with a link that puts all payouts on hold.',
    access: 'owner',
    params: { user: 'user' },
    body: RoleBody,
    response: MemberSchema,
    errors: ['version_conflict', 'unexpected_state'],
    handle: async (request) => {
      const change = { userId: request.params.user ?? '', ...request.body };
      const ref = teamRef(ctx, request);
      const row = await ctx.db.transaction((tx) => changeRole(tx, ref, change));
      return isRefusal(row) ? row : answerWith(200, memberView(row));
    },
  });
}

function removeRoute(ctx: ApiContext) {
  return personRoute({
    method: 'DELETE',
    path: `${ACCOUNT}/members/{user}`,
    operationId: 'removeMember',
    moves: 'access',
    asks: 'own',
    tag: TAG,
    summary: 'Remove a member from the team',
    description: 'Removing an owner needs a fresh second factor. All owners get a mail.',
    access: 'owner',
    params: { user: 'user' },
    response: Done,
    errors: ['unexpected_state'],
    handle: async (request) => {
      const userId = request.params.user ?? '';
      const ref = teamRef(ctx, request);
      const refused = await ctx.db.transaction((tx) => removeMember(tx, ref, userId));
      return refused ?? answerWith(200, { status: 'removed' });
    },
  });
}

function leaveRoute(ctx: ApiContext) {
  return personRoute({
    method: 'POST',
    path: `${ACCOUNT}/leave`,
    operationId: 'leaveTeam',
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Leave the team',
    description: 'An owner who leaves needs a fresh second factor. All owners get a mail.',
    access: 'viewer',
    response: Done,
    errors: ['unexpected_state'],
    handle: async (request) => {
      const userId = sessionOf(request.caller).user_id;
      const ref = teamRef(ctx, request);
      const refused = await ctx.db.transaction((tx) => removeMember(tx, ref, userId));
      return refused ?? answerWith(200, { status: 'left' });
    },
  });
}

function invitationsRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${ACCOUNT}/invitations`,
    operationId: 'listInvitations',
    moves: 'nothing',
    tag: TAG,
    summary: 'List invitations that are still open',
    access: 'owner',
    response: listed(InvitationSchema, 'Open invitations.'),
    handle: async ({ caller, now }) => {
      const { accountId } = caller.tenant;
      const rows = await selectInvitations(db, { to: { accountId }, now });
      return answerWith(200, { object: 'list', data: rows.map(invitationView) });
    },
  });
}

const InvitationBody = Type.Object({ email: Email, role: RoleField });

function inviteRoute(ctx: ApiContext) {
  return personRoute<undefined, typeof InvitationBody>({
    method: 'POST',
    path: `${ACCOUNT}/invitations`,
    operationId: 'inviteMember',
    moves: 'access',
    tag: TAG,
    summary: 'Invite a person by email',
    description:
      'The link is valid for 7 days; a second invitation replaces the first. Inviting an owner ' +
      'needs a fresh second factor.',
    access: 'owner',
    body: InvitationBody,
    status: 201,
    response: InvitationSchema,
    errors: ['already_exists', 'unexpected_state', 'rate_limit_exceeded'],
    handle: async (request) => {
      const row = await inviteMember(teamRef(ctx, request), request.body);
      return isRefusal(row) ? row : answerWith(201, invitationView(row));
    },
  });
}

function revokeRoute(ctx: ApiContext) {
  return personRoute({
    method: 'DELETE',
    path: `${ACCOUNT}/invitations/{id}`,
    operationId: 'revokeInvitation',
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Revoke an invitation',
    access: 'owner',
    params: { id: 'invitation' },
    response: Done,
    handle: async (request) => {
      const id = request.params.id ?? '';
      const ref = teamRef(ctx, request);
      const refused = await ctx.db.transaction((tx) => withdrawInvitation(tx, ref, id));
      return refused ?? answerWith(200, { status: 'revoked' });
    },
  });
}

export function teamRoutes(ctx: ApiContext): PersonRoute[] {
  return [
    membersRoute(ctx),
    changeRoleRoute(ctx),
    removeRoute(ctx),
    leaveRoute(ctx),
    invitationsRoute(ctx),
    inviteRoute(ctx),
    revokeRoute(ctx),
  ];
}
