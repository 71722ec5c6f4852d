import Type from 'typebox';
import { type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { listed } from '#apis/dashboard/person-schema.ts';
import {
  QUEUE_NAMES,
  type QueueEntryRow,
  selectQueueEntries,
  selectWaitingRequests,
} from '#apis/operator/queue-queries.ts';
import { answerWith } from '#core/answer.ts';
import { idOf, nullable, oneOf, Timestamp, text, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';

const TAG = 'Network';

const EntrySchema = Type.Object({
  id: textOut('The id of the entry.'),
  payment_intent: nullable(idOf('pi_', 'payment intent that it belongs to, or null')),
  account: nullable(idOf('acct_', 'account that it belongs to, or null')),
  mode: nullable(oneOf(['test', 'live'] as const, 'The mode; `null` if it belongs to neither.')),
  since: Timestamp,
  note: nullable(textOut('The number of attempts, and the last response.')),
});

function entryView({ livemode, ...row }: QueueEntryRow) {
  return { ...row, mode: livemode === null ? null : livemode ? 'live' : 'test' };
}

function answerEntries(rows: readonly QueueEntryRow[]) {
  return answerWith(200, { object: 'list', data: rows.map(entryView) });
}

const QueueQuery = Type.Object({ queue: oneOf(QUEUE_NAMES, 'The queue.') });

function entriesRoute({ db }: ApiContext) {
  return personRoute<typeof QueueQuery>({
    method: 'GET',
    path: '/queues/entries',
    operationId: 'listQueueEntries',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the oldest 50 entries of a queue',
    access: 'operator',
    query: QueueQuery,
    response: listed(EntrySchema, 'The waiting entries, the oldest first.'),
    handle: async ({ query }) => answerEntries(await selectQueueEntries(db, query.queue)),
  });
}

const RequestsQuery = Type.Object({
  network: oneOf(['testnet', 'mainnet'] as const, 'The network.'),
  kind: text(40, 'The kind of request, such as payment.', 1),
  status: oneOf(['queued', 'submitted', 'answered'] as const, 'The status of the jobs.'),
});

function requestsRoute({ db }: ApiContext) {
  return personRoute<typeof RequestsQuery>({
    method: 'GET',
    path: '/queues/chain_requests',
    operationId: 'listWaitingRequests',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the oldest 50 jobs of one kind on their way to a chain',
    access: 'operator',
    query: RequestsQuery,
    response: listed(EntrySchema, 'The waiting jobs, the oldest first.'),
    handle: async ({ query: { network, kind, status } }) => {
      const livemode = network === 'mainnet';
      return answerEntries(await selectWaitingRequests(db, { livemode, kind, status }));
    },
  });
}

export function queueRoutes(ctx: ApiContext): PersonRoute[] {
  return [entriesRoute(ctx), requestsRoute(ctx)];
}
