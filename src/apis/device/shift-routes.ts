import Type from 'typebox';
import { terminalInactive } from '#accounts/recheck-credentials.ts';
import { shiftView } from '#accounts/shift-rows.ts';
import { startShift, startShiftWithoutPerson } from '#accounts/start-shift.ts';
import { type DeviceRoute, deviceRoute } from '#apis/device/device-route.ts';
import { pinContext } from '#apis/device/pin-context.ts';
import { PersonAtTill } from '#apis/merchant/payment-schema.ts';
import { SHIFT_REPORT_EXAMPLE, ShiftReportSchema } from '#apis/merchant/shift-schema.ts';
import { Pin, SHIFT_EXAMPLE, ShiftSchema } from '#apis/merchant/terminal-schema.ts';
import { writeShiftMail } from '#apis/pay/shift-report-text.ts';
import { answerWith, isRefusal, refuse } from '#core/answer.ts';
import { objectType, oneOf, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectCashiers } from '#people/cashier-pins.ts';
import { ROLES } from '#people/role-order.ts';
import { endShift } from '#shifts/end-shift.ts';

const CashierList = Type.Object(
  {
    object: objectType('list'),
    data: Type.Array(
      Type.Object({
        id: PersonAtTill,
        name: textOut('The name of the person.'),
        role: oneOf(
          [...ROLES, 'manager'] as const,
          'The role in the team, or of the staff member.',
        ),
        lifts: Type.Boolean({
          description:
            'True if the person’s PIN may be sent as `manager`: owners and admins whose PIN is ' +
            'known to have six digits, and managers.',
        }),
      }),
      { description: 'The people, by name.' },
    ),
  },
  { description: 'The members and the staff of the account who have a PIN.' },
);

const CASHIER_EXAMPLE = {
  ...{ id: SHIFT_EXAMPLE.cashier, name: 'Ada', role: 'cashier', lifts: false },
};

function listCashiersRoute({ db }: ApiContext) {
  return deviceRoute({
    method: 'GET',
    path: '/cashiers',
    operationId: 'listCashiers',
    moves: 'nothing',
    summary: 'List the people who can start a shift: those with a PIN',
    responses: {
      200: {
        schema: CashierList,
        description: 'The people.',
        example: { object: 'list', data: [CASHIER_EXAMPLE] },
      },
    },
    handle: async ({ caller: { tenant } }) => {
      const data = await selectCashiers(db, tenant.accountId);
      return answerWith(200, { object: 'list', data });
    },
  });
}

const ShiftBody = Type.Object({
  cashier: Type.Optional(PersonAtTill),
  pin: Type.Optional(Pin),
});

const shiftResponse = (description: string) => ({
  schema: ShiftSchema,
  description,
  example: SHIFT_EXAMPLE,
});

function startShiftRoute(ctx: ApiContext) {
  return deviceRoute<undefined, typeof ShiftBody>({
    method: 'POST',
    path: '/shift',
    operationId: 'startShift',
    moves: 'access',
    checksCredential: true,
    summary: 'Start a shift, or hand it over to another person',
    description:
      'While a shift is open, its `id` and `started_at` stay the same, whoever comes in. ' +
      'After five wrong PINs for a person within ten minutes, that person’s PIN is refused ' +
      'with 429 for ten minutes at every till; after twenty in a day at one terminal, for the ' +
      'day there; after sixty in a day, everywhere until an admin unblocks the person. Thirty ' +
      'wrong PINs in an hour end the tries of a terminal. A PIN in `manager` counts the same. ' +
      'While the account has no PINs, `{}` starts a shift without a person; ' +
      'else 400 `parameter_missing`.',
    body: ShiftBody,
    bodyExample: { cashier: SHIFT_EXAMPLE.cashier, pin: '4927' },
    responses: { 201: shiftResponse('The shift, with the cashier who is now signed in.') },
    errors: ['pin_invalid', 'rate_limit_exceeded', 'terminal_inactive', 'service_unavailable'],
    handle: async ({ caller, body, now }) => {
      if (!caller.active) return terminalInactive();
      const { terminalId, merchant } = caller;
      const { cashier, pin } = body;
      if (cashier === undefined && pin === undefined) {
        const begun = await startShiftWithoutPerson(ctx.db, { terminalId, merchant, now });
        return isRefusal(begun) ? begun : answerWith(201, shiftView(begun));
      }
      if (cashier === undefined || pin === undefined) {
        return refuse('parameter_missing', 'Send both.', cashier === undefined ? 'cashier' : 'pin');
      }
      const start = { terminalId, merchant, personId: cashier, pin, now };
      const shift = await startShift(pinContext(ctx), start);
      return isRefusal(shift) ? shift : answerWith(201, shiftView(shift));
    },
  });
}

/** The first report of a till can hold the sales of years. */
const END_LIMIT_MS = 60_000;

function endShiftRoute(ctx: ApiContext) {
  return deviceRoute({
    method: 'DELETE',
    path: '/shift',
    operationId: 'endShift',
    moves: 'data',
    summary: 'End the shift, and get its report',
    description:
      'The report holds everything that was booked at the terminal since its previous report, ' +
      'whoever was signed in. With an `Idempotency-Key`, a repeated request gets the same report.',
    idempotency: 'accepted',
    responses: {
      200: {
        schema: ShiftReportSchema,
        description: 'The report of the shift that has ended.',
        example: SHIFT_REPORT_EXAMPLE,
      },
    },
    errors: ['resource_missing'],
    timeLimitMs: END_LIMIT_MS,
    handle: async ({ caller: { tenant, terminalId }, idempotency, requestId, now }) => {
      const request = { tenant, terminalId, idempotency, requestId, now };
      return endShift(ctx, request, writeShiftMail);
    },
  });
}

export function shiftRoutes(ctx: ApiContext): DeviceRoute[] {
  return [listCashiersRoute(ctx), startShiftRoute(ctx), endShiftRoute(ctx)];
}
