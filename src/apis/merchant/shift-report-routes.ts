import Type from 'typebox';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import {
  SHIFT_REPORT_EXAMPLE,
  ShiftReportList,
  ShiftReportSchema,
} from '#apis/merchant/shift-schema.ts';
import { resourceMissing } from '#core/answer.ts';
import type { Page } from '#db/paging.ts';
import { answerList } from '#http/cursors.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import { createdParameters, idOf, pageParameters } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import {
  type ShiftReportRow,
  selectShiftReport,
  selectShiftReports,
} from '#shifts/shift-report-queries.ts';

const ListQuery = Type.Object({
  ...pageParameters,
  ...createdParameters,
  terminal: Type.Optional(idOf('tml_', 'terminal')),
});

export function renderShiftReport({ body }: ShiftReportRow) {
  return JSON.parse(body);
}

function listRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller, typeof ListQuery>({
    method: 'GET',
    path: '/shifts',
    operationId: 'listShifts',
    moves: 'nothing',
    tag: 'Shifts',
    summary: 'List the reports of shifts that have ended, newest first',
    description: '`created_gte` and `created_lt` compare when the shift ended.',
    scope: 'payments:read',
    idempotency: 'ignored',
    query: ListQuery,
    responses: { 200: { schema: ShiftReportList, description: 'One page.' } },
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant }, query }) => {
      const pagination = { list: 'shifts', tenant, query, cursorKey: ctx.keys.cursor };
      const filter = { tenant, terminalId: query.terminal ?? null };
      const read = (page: Page) => selectShiftReports(ctx.db, filter, page);
      return answerList(pagination, read, renderShiftReport);
    },
  });
}

function retrieveRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller>({
    method: 'GET',
    path: '/shifts/{id}',
    operationId: 'retrieveShift',
    moves: 'nothing',
    tag: 'Shifts',
    summary: 'Retrieve the report of a shift that has ended',
    description: 'A shift that is open, or that ended before reports existed, has none: 404.',
    scope: 'payments:read',
    idempotency: 'ignored',
    params: { id: 'shift' },
    responses: {
      200: { schema: ShiftReportSchema, description: 'The report.', example: SHIFT_REPORT_EXAMPLE },
    },
    errors: ['resource_missing'],
    handle: async ({ caller: { tenant }, params }) => {
      const report = await selectShiftReport(ctx.db, tenant, params.id ?? '');
      return report === undefined ? resourceMissing('shift') : { status: 200, body: report.body };
    },
  });
}

export function shiftReportRoutes(ctx: ApiContext): AnyRoute<MerchantCaller>[] {
  return [listRoute(ctx), retrieveRoute(ctx)];
}
