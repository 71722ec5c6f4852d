import Type from 'typebox';
import { AuditEntrySchema } from '#apis/dashboard/account-schema.ts';
import { AuditQuery, answerAudit } from '#apis/dashboard/audit-routes.ts';
import { type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { listed } from '#apis/dashboard/person-schema.ts';
import { lookedIntoRoutes } from '#apis/operator/looked-into-routes.ts';
import { networkRoutes } from '#apis/operator/network-routes.ts';
import type { OperatorDeps } from '#apis/operator/operator-deps.ts';
import { operatorPayerRoutes } from '#apis/operator/operator-payer-routes.ts';
import { selectWork } from '#apis/operator/operator-queries.ts';
import { plain } from '#apis/operator/staff-changes.ts';
import { staffRoutes } from '#apis/operator/staff-routes.ts';
import { watchRoutes } from '#apis/operator/watch-routes.ts';
import { NETWORK_TRAIL } from '#audit/audit.ts';
import { answerWith } from '#core/answer.ts';
import { idOf, listOf, nullable, openObject, Timestamp } from '#http/schema.ts';
import { readRelayerStatus } from '#settlement/relayer/relayer-status.ts';

const TAG = 'Network';

function relayersRoute({ db, chains }: OperatorDeps) {
  return personRoute({
    method: 'GET',
    path: '/relayers',
    operationId: 'readRelayers',
    tag: TAG,
    summary: 'Per network: head, lanes with balances and stuck transactions, queues, alarms',
    description: 'Wei, nonces and block numbers are decimal strings.',
    access: 'operator',
    response: listed(openObject('One network as its relayers see it.')),
    handle: async () => {
      const data = await Promise.all(chains.map((chain) => readRelayerStatus(db, chain)));
      return { status: 200, body: JSON.stringify({ object: 'list', data }, plain) };
    },
  });
}

function queuesRoute({ db }: OperatorDeps) {
  return personRoute({
    method: 'GET',
    path: '/queues',
    operationId: 'readQueues',
    tag: TAG,
    summary: 'What waits to be done, and since when',
    access: 'operator',
    response: listed(
      Type.Object({
        queue: Type.String(),
        waiting: Type.Integer(),
        oldest: nullable(Timestamp),
      }),
    ),
    handle: async () => answerWith(200, { object: 'list', data: await selectWork(db) }),
  });
}

function configurationRoute({ configuration }: OperatorDeps) {
  return personRoute({
    method: 'GET',
    path: '/configuration',
    operationId: 'readConfiguration',
    tag: TAG,
    summary: 'The configuration as this process has read it, secrets masked',
    access: 'operator',
    response: openObject('The settings by name, secrets masked.'),
    handle: async () => answerWith(200, configuration()),
  });
}

const NetworkAuditQuery = Type.Object({
  ...AuditQuery.properties,
  account: Type.Optional(idOf('acct_', 'account')),
});

function auditRoute({ db, cursorKey }: OperatorDeps) {
  return personRoute<typeof NetworkAuditQuery>({
    method: 'GET',
    path: '/audit_log',
    operationId: 'listNetworkAuditLog',
    tag: TAG,
    summary: "The network's own audit log, or an account's",
    access: 'operator',
    query: NetworkAuditQuery,
    response: listOf(AuditEntrySchema),
    errors: ['cursor_invalid'],
    handle: async ({ query }) => {
      const { account, ...rest } = query;
      return answerAudit(db, { trail: account ?? NETWORK_TRAIL, query: rest, cursorKey });
    },
  });
}

/** The network as its staff sees it. */
export function operatorNetworkRoutes(deps: OperatorDeps): PersonRoute[] {
  return [
    ...operatorPayerRoutes(deps),
    relayersRoute(deps),
    ...lookedIntoRoutes(deps),
    queuesRoute(deps),
    configurationRoute(deps),
    auditRoute(deps),
    ...networkRoutes(deps),
    ...watchRoutes(deps),
    ...staffRoutes(deps),
  ];
}
