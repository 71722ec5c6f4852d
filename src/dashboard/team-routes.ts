import Type from 'typebox';
import { type InvitationRow, selectInvitations } from '#accounts/invitation-queries.ts';
import { type MemberRow, selectMembers } from '#accounts/membership-queries.ts';
import { MAIL_TOPIC } from '#accounts/people.ts';
import {
  changeRole,
  inviteMember,
  removeMember,
  type TeamRef,
  withdrawInvitation,
} from '#accounts/team.ts';
import { answerWith } from '#core/answer.ts';
import { isRefusal } from '#core/refusal.ts';
import { InvitationSchema, MemberSchema } from '#dashboard/account-schema.ts';
import { actorOf, type PersonCaller, sessionOf } from '#dashboard/caller.ts';
import { ACCOUNT, type DashboardDeps } from '#dashboard/dashboard-deps.ts';
import { hasFreshFactor } from '#dashboard/fresh-factor.ts';
import { personRoute } from '#dashboard/person-route.ts';
import { Done, Email, listed, RoleField, Version } from '#dashboard/person-schema.ts';
import type { AnyRoute, Handled } from '#http/route.ts';

const TAG = 'Team';

function memberView(row: MemberRow) {
  const { user_id: user, email, name, role, two_factor, version, created } = row;
  return { user, email, name, role, two_factor, version, created };
}

function invitationView(row: InvitationRow) {
  const { id, email, role, created, expires_at } = row;
  return { id, email, role, created, expires_at };
}

function teamRef(
  { settings }: DashboardDeps,
  { caller, requestId, now }: Handled<PersonCaller, unknown, unknown>,
): TeamRef {
  return {
    accountId: caller.tenant.accountId,
    accountName: caller.standing.name,
    actor: actorOf(caller, requestId),
    factorIsFresh: hasFreshFactor(caller, now),
    people: settings.people,
    now,
  };
}

function membersRoute({ db }: DashboardDeps) {
  return personRoute({
    method: 'GET',
    path: `${ACCOUNT}/members`,
    operationId: 'listMembers',
    tag: TAG,
    summary: 'The team',
    access: 'viewer',
    response: listed(MemberSchema),
    handle: async ({ caller }) => {
      const rows = await selectMembers(db, caller.tenant.accountId);
      return answerWith(200, { object: 'list', data: rows.map(memberView) });
    },
  });
}

const RoleBody = Type.Object({ role: RoleField, version: Version });

function changeRoleRoute(deps: DashboardDeps) {
  return personRoute<undefined, typeof RoleBody>({
    method: 'PATCH',
    path: `${ACCOUNT}/members/{user}`,
    operationId: 'changeRole',
    tag: TAG,
    summary: "Change a member's role",
    description:
      'Making somebody owner, and taking that role away, asks for a fresh second factor. All ' +
      'owners get a mail with a link that holds the payouts.',
    access: 'owner',
    params: { user: 'user' },
    body: RoleBody,
    response: MemberSchema,
    errors: ['version_conflict', 'unexpected_state'],
    handle: async (request) => {
      const change = { userId: request.params.user ?? '', ...request.body };
      const ref = teamRef(deps, request);
      const row = await deps.db.transaction((tx) => changeRole(tx, ref, change));
      deps.wakeups.send(MAIL_TOPIC);
      return isRefusal(row) ? row : answerWith(200, memberView(row));
    },
  });
}

function removeRoute(deps: DashboardDeps) {
  return personRoute({
    method: 'DELETE',
    path: `${ACCOUNT}/members/{user}`,
    operationId: 'removeMember',
    tag: TAG,
    summary: 'Take a member out of the team',
    description: 'Taking an owner out asks for a fresh second factor; all owners are told by mail.',
    access: 'owner',
    params: { user: 'user' },
    response: Done,
    errors: ['unexpected_state'],
    handle: async (request) => {
      const userId = request.params.user ?? '';
      const ref = teamRef(deps, request);
      const refused = await deps.db.transaction((tx) => removeMember(tx, ref, userId));
      deps.wakeups.send(MAIL_TOPIC);
      return refused ?? answerWith(200, { status: 'removed' });
    },
  });
}

function leaveRoute(deps: DashboardDeps) {
  return personRoute({
    method: 'POST',
    path: `${ACCOUNT}/leave`,
    operationId: 'leaveTeam',
    tag: TAG,
    summary: 'Leave the team',
    description: 'An owner who leaves proves a fresh second factor; all owners are told by mail.',
    access: 'viewer',
    response: Done,
    errors: ['unexpected_state'],
    handle: async (request) => {
      const userId = sessionOf(request.caller).user_id;
      const ref = teamRef(deps, request);
      const refused = await deps.db.transaction((tx) => removeMember(tx, ref, userId));
      deps.wakeups.send(MAIL_TOPIC);
      return refused ?? answerWith(200, { status: 'left' });
    },
  });
}

function invitationsRoute({ db }: DashboardDeps) {
  return personRoute({
    method: 'GET',
    path: `${ACCOUNT}/invitations`,
    operationId: 'listInvitations',
    tag: TAG,
    summary: 'Invitations that are still open',
    access: 'owner',
    response: listed(InvitationSchema),
    handle: async ({ caller, now }) => {
      const { accountId } = caller.tenant;
      const rows = await selectInvitations(db, { accountId, now });
      return answerWith(200, { object: 'list', data: rows.map(invitationView) });
    },
  });
}

const InvitationBody = Type.Object({ email: Email, role: RoleField });

function inviteRoute(deps: DashboardDeps) {
  return personRoute<undefined, typeof InvitationBody>({
    method: 'POST',
    path: `${ACCOUNT}/invitations`,
    operationId: 'inviteMember',
    tag: TAG,
    summary: 'Invite somebody by e-mail',
    description:
      'The link is valid for 7 days; a second invitation replaces the first. Inviting an owner ' +
      'asks for a fresh second factor.',
    access: 'owner',
    body: InvitationBody,
    status: 201,
    response: InvitationSchema,
    errors: ['already_exists', 'unexpected_state', 'rate_limit_exceeded'],
    handle: async (request) => {
      const row = await inviteMember(teamRef(deps, request), request.body);
      return isRefusal(row) ? row : answerWith(201, invitationView(row));
    },
  });
}

function revokeRoute(deps: DashboardDeps) {
  return personRoute({
    method: 'DELETE',
    path: `${ACCOUNT}/invitations/{id}`,
    operationId: 'revokeInvitation',
    tag: TAG,
    summary: 'Take an invitation back',
    access: 'owner',
    params: { id: 'invitation' },
    response: Done,
    handle: async (request) => {
      const id = request.params.id ?? '';
      const ref = teamRef(deps, request);
      const refused = await deps.db.transaction((tx) => withdrawInvitation(tx, ref, id));
      return refused ?? answerWith(200, { status: 'revoked' });
    },
  });
}

export function teamRoutes(deps: DashboardDeps): AnyRoute<PersonCaller>[] {
  return [
    membersRoute(deps),
    changeRoleRoute(deps),
    removeRoute(deps),
    leaveRoute(deps),
    invitationsRoute(deps),
    inviteRoute(deps),
    revokeRoute(deps),
  ];
}
