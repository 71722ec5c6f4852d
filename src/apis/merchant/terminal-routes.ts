import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import {
  TERMINAL_EXAMPLE,
  TerminalList,
  TerminalListQuery,
  TerminalSchema,
} from '#apis/merchant/terminal-schema.ts';
import { answerWith, resourceMissing } from '#core/answer.ts';
import type { Page } from '#db/paging.ts';
import { answerList } from '#http/cursors.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { terminalObject } from '#terminals/render.ts';
import { selectTerminal, selectTerminalPage } from '#terminals/terminal-queries.ts';

function listTerminalsRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller, typeof TerminalListQuery>({
    method: 'GET',
    path: '/terminals',
    operationId: 'listTerminals',
    moves: 'nothing',
    tag: 'Terminals',
    summary: "List the terminals of the key's mode, newest first",
    scope: 'terminals:read',
    idempotency: 'ignored',
    query: TerminalListQuery,
    responses: { 200: { schema: TerminalList, description: 'One page.' } },
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant }, query }) => {
      const pagination = { list: 'terminals', tenant, query, cursorKey: ctx.keys.cursor };
      const filter = { tenant, status: query.status ?? null };
      const read = (page: Page) => selectTerminalPage(ctx.db, filter, page);
      return answerList(pagination, read, terminalObject);
    },
  });
}

function retrieveTerminalRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller>({
    method: 'GET',
    path: '/terminals/{id}',
    operationId: 'retrieveTerminal',
    moves: 'nothing',
    tag: 'Terminals',
    summary: 'Retrieve a terminal',
    scope: 'terminals:read',
    idempotency: 'ignored',
    params: { id: 'terminal' },
    responses: {
      200: { schema: TerminalSchema, description: 'The terminal.', example: TERMINAL_EXAMPLE },
    },
    errors: ['resource_missing'],
    handle: async ({ caller, params }) => {
      const row = await selectTerminal(ctx.db, caller.tenant, params.id ?? '');
      return row === null ? resourceMissing('terminal') : answerWith(200, terminalObject(row));
    },
  });
}

export function terminalRoutes(ctx: ApiContext): AnyRoute<MerchantCaller>[] {
  return [listTerminalsRoute(ctx), retrieveTerminalRoute(ctx)];
}
