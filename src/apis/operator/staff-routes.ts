import Type from 'typebox';
import { type PersonRoute, personRoute, sessionOf } from '#apis/dashboard/person-route.ts';
import { Done, listed } from '#apis/dashboard/person-schema.ts';
import type { ProposalRow } from '#apis/operator/proposal-queries.ts';
import { propose } from '#apis/operator/propose-and-approve.ts';
import {
  byOf,
  ProposalId,
  ReasonBody,
  recordByStaff,
  waitingOf,
} from '#apis/operator/staff-changes.ts';
import { answerWith, isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { idOf, oneOf, Timestamp, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { deleteSessionsOf } from '#people/session-queries.ts';
import {
  STAFF_ROLES,
  selectOperators,
  selectUser,
  updateStaffRole,
  updateUser,
} from '#people/user-queries.ts';

const TAG = 'Staff';

const RoleField = oneOf(STAFF_ROLES, 'support sees everything and changes nothing.');

const OperatorSchema = Type.Object({
  id: idOf('usr_', 'user'),
  email: textOut('The email address of the person.'),
  name: textOut('The name of the person.'),
  status: oneOf(['active', 'disabled'] as const, 'active: the person may sign in.'),
  role: RoleField,
  created: Timestamp,
});

function operatorsRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: '/operators',
    operationId: 'listOperators',
    moves: 'nothing',
    tag: TAG,
    summary: "List the network's staff",
    access: 'operator',
    response: listed(OperatorSchema, 'The people who run the network.'),
    handle: async () => {
      const rows = await selectOperators(db);
      const data = rows.map(({ id, email, name, status, staff_role: role, created }) => {
        return { id, email, name, status, role, created };
      });
      return answerWith(200, { object: 'list', data });
    },
  });
}

function notYourself(what: string): Refusal {
  return refuse('unexpected_state', `You cannot ${what}. Ask a colleague.`);
}

function disableRoute({ db }: ApiContext) {
  return personRoute<undefined, typeof ReasonBody>({
    method: 'POST',
    path: '/operators/{id}/disable',
    operationId: 'disableOperator',
    moves: 'access',
    // One operator can remove another alone, because the other may be an attacker. Afterwards, the
    // remaining operator cannot act alone for a week.
    alone: true,
    tag: TAG,
    summary: 'Remove a colleague’s access, everywhere and at once',
    access: 'operator',
    params: { id: 'user' },
    body: ReasonBody,
    response: Done,
    errors: ['resource_missing', 'unexpected_state'],
    handle: async (request) => {
      const id = request.params.id ?? '';
      const { reason } = request.body;
      if (id === sessionOf(request.caller).user_id) return notYourself('disable yourself');
      const done = await db.transaction(async (tx) => {
        const user = await selectUser(tx, id);
        if (user?.realm !== 'operator') return false;
        await updateUser(tx, id, { status: 'disabled' });
        await deleteSessionsOf(tx, { userId: id, exceptId: null });
        const action = 'operator.disabled';
        await recordByStaff(tx, request, { action, objectId: id, livemode: null, reason });
        return true;
      });
      return done ? answerWith(200, { status: 'disabled' }) : resourceMissing('operator');
    },
  });
}

const RoleBody = Type.Object({ ...ReasonBody.properties, role: RoleField });

function roleRoute(ctx: ApiContext) {
  return personRoute<undefined, typeof RoleBody>({
    method: 'POST',
    path: '/operators/{id}/role',
    operationId: 'changeOperatorRole',
    moves: 'access',
    tag: TAG,
    summary: "Change a colleague's role: operators make changes, support only reads",
    description:
      'A colleague must agree before a person becomes an operator. Taking the role away takes ' +
      'effect at once.',
    access: 'operator',
    params: { id: 'user' },
    body: RoleBody,
    response: Type.Object(
      { role: RoleField, proposal: ProposalId },
      { description: 'The role as it is now.' },
    ),
    errors: ['resource_missing', 'unexpected_state', 'already_exists'],
    handle: async (request) => {
      const id = request.params.id ?? '';
      const { reason, role } = request.body;
      if (id === sessionOf(request.caller).user_id) return notYourself('change your own role');
      const made = await ctx.db.transaction<ProposalRow | Refusal | null>(async (tx) => {
        const user = await selectUser(tx, id);
        if (user?.realm !== 'operator') return resourceMissing('operator');
        if (user.staff_role === role) return null;
        if (role === 'operator') {
          const wish = { kind: 'make_operator', livemode: true, subject: id, payload: {} } as const;
          return propose(tx, { ...wish, reason }, byOf(ctx, request));
        }
        await updateStaffRole(tx, { id, role });
        const action = 'operator.role_changed';
        await recordByStaff(tx, request, { action, objectId: id, livemode: null, reason });
        return null;
      });
      if (made !== null && isRefusal(made)) return made;
      const proposal = made === null ? null : waitingOf(made);
      return answerWith(200, { role: proposal === null ? role : 'support', proposal });
    },
  });
}

export function staffRoutes(ctx: ApiContext): PersonRoute[] {
  return [operatorsRoute(ctx), disableRoute(ctx), roleRoute(ctx)];
}
