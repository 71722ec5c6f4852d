import { Readable } from 'node:stream';
import Type from 'typebox';
import { selectShopAt } from '#accounts/locations.ts';
import { deviceRoute } from '#apis/device/device-route.ts';
import { renderShiftReport } from '#apis/merchant/shift-report-routes.ts';
import {
  SHIFT_REPORT_EXAMPLE,
  ShiftReportList,
  ShiftReportSchema,
} from '#apis/merchant/shift-schema.ts';
import { TEXT_WIDTHS } from '#apis/pay/receipt-plain-text.ts';
import { shiftReportText } from '#apis/pay/shift-report-text.ts';
import { resourceMissing } from '#core/answer.ts';
import type { Page } from '#db/paging.ts';
import { answerList } from '#http/cursors.ts';
import { pageParameters } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectShiftReport, selectShiftReports } from '#shifts/shift-report-queries.ts';
import type { DeviceCaller } from '#terminals/authenticate-terminal.ts';

const ListQuery = Type.Object(pageParameters);

function listRoute(ctx: ApiContext) {
  return deviceRoute<typeof ListQuery>({
    method: 'GET',
    path: '/shifts',
    operationId: 'listDeviceShifts',
    moves: 'nothing',
    summary: 'List the reports of this terminal’s shifts, newest first',
    query: ListQuery,
    responses: { 200: { schema: ShiftReportList, description: 'One page.' } },
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant, terminalId }, query }) => {
      const pagination = {
        list: `shifts of ${terminalId}`,
        ...{ tenant, query, cursorKey: ctx.keys.cursor },
      };
      const read = (page: Page) => selectShiftReports(ctx.db, { tenant, terminalId }, page);
      return answerList(pagination, read, renderShiftReport);
    },
  });
}

async function findOwn(ctx: ApiContext, { tenant, terminalId }: DeviceCaller, id = '') {
  const report = await selectShiftReport(ctx.db, tenant, id);
  return report?.terminal_id === terminalId ? report : undefined;
}

function retrieveRoute(ctx: ApiContext) {
  return deviceRoute({
    method: 'GET',
    path: '/shifts/{id}',
    operationId: 'retrieveDeviceShift',
    moves: 'nothing',
    summary: 'Retrieve the report of a shift of this terminal',
    params: { id: 'shift' },
    responses: {
      200: { schema: ShiftReportSchema, description: 'The report.', example: SHIFT_REPORT_EXAMPLE },
    },
    errors: ['resource_missing'],
    handle: async ({ caller, params }) => {
      const report = await findOwn(ctx, caller, params.id);
      return report === undefined ? resourceMissing('shift') : { status: 200, body: report.body };
    },
  });
}

const TextQuery = Type.Object({
  width: Type.Optional(
    Type.Integer({
      enum: [...TEXT_WIDTHS],
      default: 48,
      description: 'Characters per line: 32 (paper of 58 mm) or 48 (80 mm). Default 48.',
    }),
  ),
});

function textRoute(ctx: ApiContext) {
  return deviceRoute<typeof TextQuery>({
    method: 'GET',
    path: '/shifts/{id}.txt',
    operationId: 'printDeviceShift',
    moves: 'nothing',
    summary: 'Print the report of a shift again, as text',
    description:
      'In the language of the terminal’s location, or else of the account, and marked as a copy.',
    params: { id: 'shift' },
    query: TextQuery,
    responses: {
      200: {
        schema: null,
        contentTypes: ['text/plain'],
        description: 'The text, for a printer.',
        example: 'Shift report 1\nCopy\n',
      },
    },
    errors: ['resource_missing'],
    handle: async ({ caller, params, query }) => {
      const report = await findOwn(ctx, caller, params.id);
      if (report === undefined) return resourceMissing('shift');
      const { accountId } = caller.tenant;
      const shop = await selectShopAt(ctx.db, { accountId, terminalId: caller.terminalId });
      const width = TEXT_WIDTHS.find((known) => known === query.width) ?? 48;
      const { name } = caller.merchant;
      const text = shiftReportText(JSON.parse(report.body), {
        ...{ shop, width, merchantName: name, isCopy: true },
      });
      const headers = {
        'Content-Type': 'text/plain; charset=utf-8',
        'X-Content-Type-Options': 'nosniff',
      };
      return { status: 200, stream: Readable.from([text]), headers };
    },
  });
}

export function shiftReportRoutes(ctx: ApiContext) {
  return [listRoute(ctx), retrieveRoute(ctx), textRoute(ctx)];
}
