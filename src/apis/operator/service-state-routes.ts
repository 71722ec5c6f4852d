import Type from 'typebox';
import { personRoute } from '#apis/dashboard/person-route.ts';
import { listed } from '#apis/dashboard/person-schema.ts';
import type { OperatorParts } from '#apis/operator/operator-dependencies.ts';
import { selectWork } from '#apis/operator/operator-queries.ts';
import { plain } from '#apis/operator/staff-changes.ts';
import { answerWith } from '#core/answer.ts';
import { nullable, openObject, Timestamp, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { readRelayerStatus } from '#settlement/status/relayer-status.ts';

const TAG = 'Network';

export function relayersRoute({ db, chains }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: '/relayers',
    operationId: 'readRelayers',
    moves: 'nothing',
    tag: TAG,
    summary:
      "Retrieve each network's head, senders with balances and stuck transactions, queues, alarms",
    description:
      'Wei, nonces and block numbers are decimal strings. `paymentsLeft` of a sender is the ' +
      'number of payments that its gas balance covers, each sent alone at current fees; ' +
      '`daysLeft` of a network is the minimum number of days that the gas balance of all active ' +
      "senders lasts at last week's rate (`null` if unknown, or if no sender pays).",
    access: 'operator',
    response: listed(openObject('One network as its relayers see it.'), 'The networks.'),
    handle: async () => {
      const data = await Promise.all(chains.map((chain) => readRelayerStatus(db, chain)));
      return { status: 200, body: JSON.stringify({ object: 'list', data }, plain) };
    },
  });
}

export function queuesRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: '/queues',
    operationId: 'readQueues',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the queues with their sizes and oldest entries',
    access: 'operator',
    response: listed(
      Type.Object({
        queue: textOut('The name of the queue.'),
        waiting: Type.Integer({ description: 'How many entries wait.' }),
        oldest: nullable(Timestamp),
      }),
      'The queues.',
    ),
    handle: async () => answerWith(200, { object: 'list', data: await selectWork(db) }),
  });
}

export function configurationRoute({ configuration }: OperatorParts) {
  return personRoute({
    method: 'GET',
    path: '/configuration',
    operationId: 'readConfiguration',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve the configuration of this process, secrets masked',
    access: 'operator',
    response: openObject('The settings by name, secrets masked.'),
    handle: async () => answerWith(200, configuration()),
  });
}
