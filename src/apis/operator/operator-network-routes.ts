import Type from 'typebox';
import { AuditEntrySchema } from '#apis/dashboard/account/account-schema.ts';
import { AuditQuery, answerAudit } from '#apis/dashboard/account/audit-routes.ts';
import { type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { activityRoute } from '#apis/operator/activity-routes.ts';
import { cellsRoute } from '#apis/operator/cells-route.ts';
import { reviewedRoutes } from '#apis/operator/mark-reviewed-routes.ts';
import { networkRoutes } from '#apis/operator/network-contract-routes.ts';
import { offlineRuleRoutes } from '#apis/operator/offline-routes.ts';
import type { OperatorParts } from '#apis/operator/operator-dependencies.ts';
import { operatorPayerRoutes } from '#apis/operator/operator-payer-routes.ts';
import { queueRoutes } from '#apis/operator/queue-routes.ts';
import {
  configurationRoute,
  queuesRoute,
  relayersRoute,
} from '#apis/operator/service-state-routes.ts';
import { smartTapRoutes } from '#apis/operator/smart-tap-routes.ts';
import { staffRoutes } from '#apis/operator/staff-routes.ts';
import { watchRoutes } from '#apis/operator/watch-routes.ts';
import { NETWORK_AUDIT_LOG } from '#audit/audit.ts';
import { idOf, listOf } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';

const TAG = 'Network';

const NetworkAuditQuery = Type.Object({
  ...AuditQuery.properties,
  account: Type.Optional(idOf('acct_', 'account')),
});

function auditRoute({ db, keys: { cursor: cursorKey } }: ApiContext) {
  return personRoute<typeof NetworkAuditQuery>({
    method: 'GET',
    path: '/audit_log',
    operationId: 'listNetworkAuditLog',
    moves: 'nothing',
    tag: TAG,
    summary: "List the network's own audit log, or an account's",
    access: 'operator',
    query: NetworkAuditQuery,
    response: listOf(AuditEntrySchema),
    errors: ['cursor_invalid'],
    handle: async ({ query }) => {
      const { account, ...rest } = query;
      return answerAudit(db, { auditLog: account ?? NETWORK_AUDIT_LOG, query: rest, cursorKey });
    },
  });
}

export function operatorNetworkRoutes(ctx: ApiContext, parts: OperatorParts): PersonRoute[] {
  return [
    ...operatorPayerRoutes(ctx),
    activityRoute(ctx),
    relayersRoute(ctx),
    ...reviewedRoutes(ctx),
    cellsRoute(ctx, parts),
    queuesRoute(ctx),
    ...queueRoutes(ctx),
    configurationRoute(parts),
    auditRoute(ctx),
    ...networkRoutes(ctx),
    ...watchRoutes(ctx),
    ...offlineRuleRoutes(ctx),
    ...smartTapRoutes(ctx),
    ...staffRoutes(ctx),
  ];
}
