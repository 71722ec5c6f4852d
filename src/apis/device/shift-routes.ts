import Type from 'typebox';
import { terminalInactive } from '#accounts/recheck-credentials.ts';
import { endShift, shiftView } from '#accounts/shift-rows.ts';
import { startShift } from '#accounts/start-shift.ts';
import { type DeviceRoute, deviceRoute } from '#apis/device/device-route.ts';
import { SHIFT_EXAMPLE, ShiftSchema } from '#apis/merchant/terminal-schema.ts';
import { answerWith, isRefusal, resourceMissing } from '#core/answer.ts';
import { idOf, objectType, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectCashiers } from '#people/cashier-pins.ts';

const CashierList = Type.Object(
  {
    object: objectType('list'),
    data: Type.Array(
      Type.Object({
        id: idOf('usr_', 'user'),
        name: textOut('The name of the person.'),
      }),
      { description: 'The people, by name.' },
    ),
  },
  { description: 'The people of the account who have a PIN.' },
);

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
        example: { object: 'list', data: [{ id: SHIFT_EXAMPLE.cashier, name: 'Ada' }] },
      },
    },
    handle: async ({ caller: { tenant } }) => {
      const data = await selectCashiers(db, tenant.accountId);
      return answerWith(200, { object: 'list', data });
    },
  });
}

const ShiftBody = Type.Object({
  cashier: idOf('usr_', 'user'),
  pin: Type.String({
    pattern: '^[0-9]{4,8}$',
    description: 'The PIN of that person, as text.',
    examples: ['4927'],
  }),
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
      'with 429 for ten minutes at every till; thirty wrong PINs in an hour end the tries of ' +
      'a terminal.',
    body: ShiftBody,
    bodyExample: { cashier: SHIFT_EXAMPLE.cashier, pin: '4927' },
    responses: { 201: shiftResponse('The shift, with the cashier who is now signed in.') },
    errors: ['pin_invalid', 'rate_limit_exceeded', 'terminal_inactive', 'service_unavailable'],
    handle: async ({ caller, body, now }) => {
      if (!caller.active) return terminalInactive();
      const { terminalId, merchant } = caller;
      const shift = await startShift(
        { db: ctx.db, idKey: ctx.keys.id },
        { terminalId, merchant, ...body, now },
      );
      return isRefusal(shift) ? shift : answerWith(201, shiftView(shift));
    },
  });
}

function endShiftRoute({ db }: ApiContext) {
  return deviceRoute({
    method: 'DELETE',
    path: '/shift',
    operationId: 'endShift',
    moves: 'data',
    summary: 'End the shift',
    responses: { 200: shiftResponse('The shift that has ended.') },
    errors: ['resource_missing'],
    handle: async ({ caller: { terminalId }, now }) => {
      const ended = await db.transaction((tx) => endShift(tx, { terminalId, now }));
      return ended === null ? resourceMissing('shift') : answerWith(200, shiftView(ended));
    },
  });
}

export function shiftRoutes(ctx: ApiContext): DeviceRoute[] {
  return [listCashiersRoute(ctx), startShiftRoute(ctx), endShiftRoute(ctx)];
}
