import Type from 'typebox';
import { readLimit } from '#accounts/read-limit.ts';
import { InvitationSchema, MemberSchema } from '#apis/dashboard/account/account-schema.ts';
import {
  ACCOUNT,
  actorOf,
  type PersonRequest,
  type PersonRoute,
  personRoute,
  sessionOf,
} from '#apis/dashboard/person-route.ts';
import { Done, Email, listed, RoleField, Version } from '#apis/dashboard/person-schema.ts';
import {
  hasTrustedFactor,
  requireFactorForAccess,
} from '#apis/dashboard/sessions/confirm-identity.ts';
import { PinBody, tillRightsInput } from '#apis/dashboard/team/staff-schema.ts';
import { limitPresentment } from '#apis/merchant/limit-schema.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { MAX_AMOUNT, toJsonAtoms } from '#core/money.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { changePin } from '#people/cashier-pins.ts';
import { changeMember, removeMember } from '#people/change-member.ts';
import { type InvitationRow, selectInvitations } from '#people/invitation-queries.ts';
import { inviteMember, withdrawInvitation } from '#people/invite.ts';
import { type MemberRow, selectMembers } from '#people/membership-queries.ts';
import { type OrganizationMember, selectInheritedMembers } from '#people/organization-queries.ts';
import type { TeamRef } from '#people/record-team-changes.ts';
import { liftsLimits } from '#people/role-order.ts';

const TAG = 'Team';

function memberView(row: MemberRow) {
  const { user_id: user, email, name, role, two_factor, version, created } = row;
  const { has_pin, refund_limit, may_discount, pin_locked_at } = row;
  const refund_limit_presentment = limitPresentment(refund_limit, row.refund_limit_presentment);
  const limits = {
    refund_limit: refund_limit === null ? null : toJsonAtoms(refund_limit),
    refund_limit_presentment,
  };
  const pin = { has_pin, pin_blocked: pin_locked_at !== null };
  const atTills = { ...pin, ...limits, may_discount };
  const organization = null;
  return { user, email, name, role, organization, two_factor, ...atTills, version, created };
}

/**
 * Renders a person whose role comes from the account's organization and can only be changed there.
 */
export function inheritedView(row: OrganizationMember) {
  const { user_id: user, organization_id: organization, email, name, role, two_factor } = row;
  const limits = { refund_limit: 0, refund_limit_presentment: null };
  const atTills = { has_pin: false, pin_blocked: false, ...limits, may_discount: false };
  const unchanged = { version: 0, created: row.created };
  return { user, email, name, role, organization, two_factor, ...atTills, ...unchanged };
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

const MemberBody = Type.Object({
  version: Version,
  role: Type.Optional(RoleField),
  ...tillRightsInput,
});

function changeMemberRoute(ctx: ApiContext) {
  return personRoute<undefined, typeof MemberBody>({
    method: 'PATCH',
    path: `${ACCOUNT}/members/{user}`,
    operationId: 'changeRole',
    moves: 'access',
    tag: TAG,
    summary: "Change a member's role or rights at tills",
    description:
      'Omitted fields stay as they are. Making a member an owner, or taking that role ' +
      'away, needs a fresh second factor. All owners get an email with a link that puts ' +
      'all payouts on hold.',
    access: 'owner',
    params: { user: 'user' },
    body: MemberBody,
    response: MemberSchema,
    errors: ['version_conflict', 'unexpected_state', 'rates_unavailable'],
    handle: async (request) => {
      const { version, role, refund_limit, may_discount } = request.body;
      const ref = teamRef(ctx, request);
      const place = { accountId: ref.accountId, param: 'refund_limit', most: MAX_AMOUNT };
      const row = await ctx.db.transaction(async (tx) => {
        const refundLimit =
          refund_limit == null ? refund_limit : await readLimit(tx, refund_limit, place);
        if (isRefusal(refundLimit)) return refundLimit;
        const change = { userId: request.params.user ?? '', version, role };
        return changeMember(tx, ref, { ...change, refundLimit, mayDiscount: may_discount });
      });
      return isRefusal(row) ? row : answerWith(200, memberView(row));
    },
  });
}

function setPinRoute(ctx: ApiContext) {
  return personRoute<undefined, typeof PinBody>({
    method: 'PUT',
    path: `${ACCOUNT}/members/{user}/pin`,
    operationId: 'setPin',
    moves: 'access',
    tag: TAG,
    summary: 'Set the PIN with which a member starts a shift at a till',
    description:
      'The PIN works at every till of the account, in both modes. A shift that was started with ' +
      'an earlier PIN no longer lets its person refund or discount. The PIN of an owner or admin ' +
      'lifts limits, and so needs six digits and, in a live account, a fresh second factor. Rows ' +
      'and the most common PINs are refused. Setting a PIN, also the same one, ends a block.',
    access: 'admin',
    asks: 'own',
    params: { user: 'user' },
    body: PinBody,
    response: MemberSchema,
    errors: ['service_unavailable'],
    handle: async (request) => {
      const { caller, now } = request;
      const pin = { userId: request.params.user ?? '', pin: request.body.pin };
      const members = await selectMembers(ctx.db, caller.tenant.accountId);
      const { role } = members.find(({ user_id: user }) => user === pin.userId) ?? {};
      const isLifting = role !== undefined && liftsLimits(role);
      const { merchant } = ctx.people;
      const unproven = isLifting ? requireFactorForAccess(merchant, caller, now) : null;
      if (unproven !== null) return unproven;
      const row = await changePin({ db: ctx.db, idKey: ctx.keys.id }, teamRef(ctx, request), pin);
      return isRefusal(row) ? row : answerWith(200, memberView(row));
    },
  });
}

function removePinRoute(ctx: ApiContext) {
  return personRoute({
    method: 'DELETE',
    path: `${ACCOUNT}/members/{user}/pin`,
    operationId: 'removePin',
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Remove a member’s PIN, so that the member cannot start a shift',
    access: 'admin',
    params: { user: 'user' },
    response: MemberSchema,
    handle: async (request) => {
      const pin = { userId: request.params.user ?? '', pin: null };
      const row = await changePin({ db: ctx.db, idKey: ctx.keys.id }, teamRef(ctx, request), pin);
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
    description: 'Removing an owner needs a fresh second factor. All owners get an email.',
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
    description: 'An owner who leaves needs a fresh second factor. All owners get an email.',
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
    changeMemberRoute(ctx),
    setPinRoute(ctx),
    removePinRoute(ctx),
    removeRoute(ctx),
    leaveRoute(ctx),
    invitationsRoute(ctx),
    inviteRoute(ctx),
    revokeRoute(ctx),
  ];
}
