import Type, { type TSchema } from 'typebox';
import { type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { auditVerificationRoute } from '#apis/operator/audit-verification-route.ts';
import { plain } from '#apis/operator/staff-changes.ts';
import {
  selectAlarms,
  selectCursors,
  selectOpenDifferences,
} from '#apis/operator/watch-queries.ts';
import { networkOf } from '#core/mode.ts';
import {
  limitParameter,
  nullable,
  objectType,
  oneOf,
  openObject,
  Timestamp,
  textOut,
} from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';

const TAG = 'Network';
const PAGE = 50;

const Number63 = Type.String({
  pattern: '^[1-9][0-9]{0,17}$',
  description: '`next_cursor` of the previous page.',
});

const PageQuery = Type.Object({
  before: Type.Optional(Number63),
  limit: limitParameter,
});

/** Schema of a page of numbered rows, newest first. The last number is the next page's cursor. */
function paged(item: TSchema) {
  return Type.Object(
    {
      object: objectType('list'),
      data: Type.Array(item, { description: 'Newest first.' }),
      has_more: Type.Boolean({ description: 'True if there is another page.' }),
      next_cursor: nullable(Type.String({ description: 'Send it as `before`.' })),
    },
    { description: 'One page of the list.' },
  );
}

function pageOf<Row extends { readonly id: bigint }>(rows: readonly Row[], limit: number) {
  const data = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  const next = hasMore ? (data.at(-1)?.id.toString() ?? null) : null;
  return { object: 'list', data, has_more: hasMore, next_cursor: next };
}

const AlarmSchema = Type.Object({
  id: textOut('The number of the alarm.'),
  network: oneOf(['testnet', 'mainnet'] as const, 'The network that it is about.'),
  kind: textOut('The kind of event, in one word.'),
  subject: textOut('Its subject, such as a sender or a payment.'),
  details: openObject('The details of the alarm.'),
  created: Timestamp,
});

function alarmsRoute({ db }: ApiContext) {
  return personRoute<typeof PageQuery>({
    method: 'GET',
    path: '/alarms',
    operationId: 'listAlarms',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the open alarms of both networks, newest first',
    access: 'operator',
    query: PageQuery,
    response: paged(AlarmSchema),
    handle: async ({ query }) => {
      const { limit = PAGE, before } = query;
      const rows = await selectAlarms(db, { before: before ?? null, limit: limit + 1 });
      const named = rows.map(({ livemode, ...row }) => ({ ...row, network: networkOf(livemode) }));
      return { status: 200, body: JSON.stringify(pageOf(named, limit), plain) };
    },
  });
}

function reconciliationRoute({ db }: ApiContext) {
  return personRoute<typeof PageQuery>({
    method: 'GET',
    path: '/reconciliation',
    operationId: 'readReconciliation',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve the progress of reconciliation, and open differences, newest first',
    access: 'operator',
    query: PageQuery,
    response: Type.Object(
      {
        cursors: Type.Array(openObject('The last block that was read of one network.'), {
          description: 'The progress of each network.',
        }),
        differences: Type.Array(openObject('A difference between ledger and chain.'), {
          description: 'The differences between ledger and chain, newest first. Normally empty.',
        }),
        has_more: Type.Boolean({ description: 'Whether there are more differences.' }),
        next_cursor: nullable(Type.String({ description: 'Send it as `before`.' })),
      },
      { description: 'The progress of each network, and one page of differences.' },
    ),
    handle: async ({ query }) => {
      const { limit = PAGE, before = null } = query;
      const [cursors, rows] = await Promise.all([
        selectCursors(db),
        selectOpenDifferences(db, { before, limit: limit + 1 }),
      ]);
      const { data: differences, has_more, next_cursor } = pageOf(rows, limit);
      const body = { cursors, differences, has_more, next_cursor };
      return { status: 200, body: JSON.stringify(body, plain) };
    },
  });
}

/** Returns the routes that list, in pages, the alarms and differences that staff must review. */
export function watchRoutes(ctx: ApiContext): PersonRoute[] {
  return [alarmsRoute(ctx), reconciliationRoute(ctx), auditVerificationRoute(ctx)];
}
