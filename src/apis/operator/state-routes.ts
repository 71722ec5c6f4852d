import Type from 'typebox';
import { personRoute } from '#apis/dashboard/person-route.ts';
import { listed } from '#apis/dashboard/person-schema.ts';
import type { OperatorDeps } from '#apis/operator/operator-deps.ts';
import { selectWork } from '#apis/operator/operator-queries.ts';
import { plain } from '#apis/operator/staff-changes.ts';
import { answerWith } from '#core/answer.ts';
import { nullable, openObject, Timestamp, textOut } from '#http/schema.ts';
import { readRelayerStatus } from '#settlement/relayer/relayer-status.ts';

const TAG = 'Network';

export function relayersRoute({ db, chains }: OperatorDeps) {
  return personRoute({
    method: 'GET',
    path: '/relayers',
    operationId: 'readRelayers',
    moves: 'nothing',
    tag: TAG,
    summary: 'Per network: head, senders with balances and stuck transactions, queues, alarms',
    description:
      'Wei, nonces and block numbers are decimal strings. `paymentsLeft` of a sender is what its ' +
      'coin pays for, were each sent alone at present fees; `daysLeft` of a network, how many ' +
      "days the coin of all senders at work lasts at last week's rate, at least (null: not " +
      'known, or nobody pays).',
    access: 'operator',
    response: listed(openObject('One network as its relayers see it.'), 'The networks.'),
    handle: async () => {
      const data = await Promise.all(chains.map((chain) => readRelayerStatus(db, chain)));
      return { status: 200, body: JSON.stringify({ object: 'list', data }, plain) };
    },
  });
}

export function queuesRoute({ db }: OperatorDeps) {
  return personRoute({
    method: 'GET',
    path: '/queues',
    operationId: 'readQueues',
    moves: 'nothing',
    tag: TAG,
    summary: 'What waits to be done, and since when',
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

export function configurationRoute({ configuration }: OperatorDeps) {
  return personRoute({
    method: 'GET',
    path: '/configuration',
    operationId: 'readConfiguration',
    moves: 'nothing',
    tag: TAG,
    summary: 'The configuration as this process has read it, secrets masked',
    access: 'operator',
    response: openObject('The settings by name, secrets masked.'),
    handle: async () => answerWith(200, configuration()),
  });
}
