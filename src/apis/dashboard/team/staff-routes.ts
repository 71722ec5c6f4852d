import type Type from 'typebox';
import {
  addStaff,
  changeStaffPin,
  editStaff,
  removeStaff,
  type StaffEdit,
  type StaffRef,
  selectStaff,
  selectStaffRole,
  staffObject,
} from '#accounts/staff.ts';
import {
  ACCOUNT,
  actorOf,
  type PersonRequest,
  type PersonRoute,
  personRoute,
} from '#apis/dashboard/person-route.ts';
import { listed } from '#apis/dashboard/person-schema.ts';
import { requireFactorForAccess } from '#apis/dashboard/sessions/confirm-identity.ts';
import {
  NewStaffBody,
  PinBody,
  RemovalQuery,
  StaffBody,
  StaffSchema,
} from '#apis/dashboard/team/staff-schema.ts';
import { answerWith, isRefusal, type Refusal } from '#core/answer.ts';
import type { ApiContext } from '#payments/api-context.ts';

const TAG = 'Staff';
const PATH = `${ACCOUNT}/staff`;

function refOf({ caller, params, requestId, now }: PersonRequest): StaffRef {
  const { accountId } = caller.tenant;
  return { accountId, id: params.id ?? '', actor: actorOf(caller, requestId), now };
}

/** Rights that move money at a till need a fresh factor in a live account. */
function checkRights(
  ctx: ApiContext,
  { caller, now }: PersonRequest,
  { role, refund_limit, may_discount }: StaffEdit,
): Refusal | null {
  const isSerious = role === 'manager' || refund_limit !== undefined || may_discount !== undefined;
  return isSerious ? requireFactorForAccess(ctx.people.merchant, caller, now) : null;
}

function listRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: PATH,
    operationId: 'listStaff',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the people who work at tills without a sign-in',
    access: 'viewer',
    response: listed(StaffSchema, 'The staff, by name, without removed people.'),
    handle: async ({ caller }) => {
      const rows = await selectStaff(db, caller.tenant.accountId);
      return answerWith(200, { object: 'list', data: rows.map(staffObject) });
    },
  });
}

function addRoute(ctx: ApiContext) {
  const { db, keys } = ctx;
  return personRoute<undefined, typeof NewStaffBody>({
    method: 'POST',
    path: PATH,
    operationId: 'addStaff',
    moves: 'access',
    // See `checkRights`.
    asks: 'own',
    tag: TAG,
    summary: 'Add a person who signs in at tills with a PIN',
    description:
      'The name must be unique among the people at the till. Rows of digits and the most common ' +
      'PINs are refused. Without `refund_limit` and `may_discount`, a cashier may neither refund ' +
      'nor discount, and a manager may do both. In a live account, setting either of them, and ' +
      'the role manager, needs a fresh second factor.',
    access: 'admin',
    body: NewStaffBody,
    status: 201,
    response: StaffSchema,
    errors: ['unexpected_state', 'rates_unavailable', 'service_unavailable'],
    handle: async (request) => {
      const unproven = checkRights(ctx, request, request.body);
      if (unproven !== null) return unproven;
      const row = await addStaff({ db, idKey: keys.id }, refOf(request), request.body);
      return isRefusal(row) ? row : answerWith(201, staffObject(row));
    },
  });
}

function editRoute(ctx: ApiContext) {
  const { db } = ctx;
  return personRoute<undefined, typeof StaffBody>({
    method: 'PATCH',
    path: `${PATH}/{id}`,
    operationId: 'updateStaff',
    moves: 'access',
    // See `checkRights`.
    asks: 'own',
    tag: TAG,
    summary: 'Change the name, role or rights of a person at tills',
    description:
      'Omitted fields stay as they are; a right that is the old role’s default follows a new ' +
      'role. A cashier with a PIN of less than six digits becomes a manager only with a new one. ' +
      'The factor is needed as for a new person.',
    access: 'admin',
    params: { id: 'staff' },
    body: StaffBody,
    response: StaffSchema,
    errors: ['version_conflict', 'rates_unavailable'],
    handle: async (request) => {
      const unproven = checkRights(ctx, request, request.body);
      if (unproven !== null) return unproven;
      const row = await db.transaction((tx) => editStaff(tx, refOf(request), request.body));
      return isRefusal(row) ? row : answerWith(200, staffObject(row));
    },
  });
}

function removeRoute({ db }: ApiContext) {
  return personRoute<typeof RemovalQuery>({
    method: 'DELETE',
    path: `${PATH}/{id}`,
    operationId: 'removeStaff',
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Remove a person from the tills',
    description:
      'The PIN ends at once, also where the person is signed in; the shift continues without a ' +
      'person. Sales keep the person’s id and name.',
    access: 'admin',
    params: { id: 'staff' },
    query: RemovalQuery,
    response: StaffSchema,
    errors: ['version_conflict'],
    handle: async (request) => {
      const { version, erase = false } = request.query as Type.Static<typeof RemovalQuery>;
      const row = await db.transaction((tx) => removeStaff(tx, refOf(request), { version, erase }));
      return isRefusal(row) ? row : answerWith(200, staffObject(row));
    },
  });
}

function pinRoute(ctx: ApiContext) {
  const { db, keys } = ctx;
  return personRoute<undefined, typeof PinBody>({
    method: 'PUT',
    path: `${PATH}/{id}/pin`,
    operationId: 'setStaffPin',
    moves: 'access',
    asks: 'own',
    tag: TAG,
    summary: 'Set the PIN of a person at tills',
    description:
      'Setting it, also the same one again, ends a block. A shift that was started with an ' +
      'earlier PIN continues without a person. A manager’s PIN needs six digits and, in a live ' +
      'account, a fresh second factor.',
    access: 'admin',
    params: { id: 'staff' },
    body: PinBody,
    response: StaffSchema,
    errors: ['service_unavailable'],
    handle: async (request) => {
      const ref = refOf(request);
      const role = await selectStaffRole(db, ref);
      const unproven = role === null ? null : checkRights(ctx, request, { role });
      if (unproven !== null) return unproven;
      const row = await changeStaffPin({ db, idKey: keys.id }, ref, request.body.pin);
      return isRefusal(row) ? row : answerWith(200, staffObject(row));
    },
  });
}

export function staffRoutes(ctx: ApiContext): PersonRoute[] {
  return [listRoute(ctx), addRoute(ctx), editRoute(ctx), removeRoute(ctx), pinRoute(ctx)];
}
