import Type from 'typebox';
import { recordChange } from '#accounts/audit.ts';
import { answerWith } from '#core/answer.ts';
import { refuse, resourceMissing } from '#core/refusal.ts';
import { actorOf, type PersonCaller } from '#dashboard/caller.ts';
import { type DashboardDeps, MODE } from '#dashboard/dashboard-deps.ts';
import { personRoute } from '#dashboard/person-route.ts';
import type { AnyRoute } from '#http/route.ts';
import { nullable, Timestamp } from '#http/schema.ts';
import { selectRefund } from '#refunds/queries.ts';
import { renderRefund } from '#refunds/render.ts';
import { RefundSchema } from '#refunds/schema.ts';
import { endBlockedRefund, selectBlockedRefund } from '#settlement/blocked.ts';

const TAG = 'Money';

const Waiting = Type.Object({
  message: Type.String({ description: 'What USDC or the settlement contract says.' }),
  since: Timestamp,
});

const DashboardRefundSchema = Type.Object(
  {
    ...RefundSchema.properties,
    waiting: nullable(Waiting),
  },
  {
    title: 'DashboardRefund',
    description: 'A refund, and why it waits: USDC is paused, or blocks one of the addresses.',
  },
);

function readRoute({ db }: DashboardDeps) {
  return personRoute({
    method: 'GET',
    path: `${MODE}/refunds/{id}`,
    operationId: 'dashboardRetrieveRefund',
    tag: TAG,
    summary: 'A refund, and why it waits',
    access: 'viewer',
    params: { id: 'refund' },
    response: DashboardRefundSchema,
    handle: async ({ caller, params }) => {
      const refund = await selectRefund(db, caller.tenant, params.id ?? '');
      if (refund === null) return resourceMissing('refund');
      const blocked =
        refund.status === 'pending' ? await selectBlockedRefund(db, refund.id) : undefined;
      const waiting =
        blocked === undefined
          ? null
          : { message: blocked.blocked_by, since: blocked.blocked_since.toISOString() };
      return answerWith(200, { ...renderRefund(refund), waiting });
    },
  });
}

function endRoute({ db, wakeups }: DashboardDeps) {
  return personRoute({
    method: 'POST',
    path: `${MODE}/refunds/{id}/end`,
    operationId: 'endRefund',
    tag: TAG,
    summary: 'Give up a refund that waits',
    description:
      'Only a refund that USDC refuses for now. It ends as `failed` with `transfer_blocked`, and ' +
      'its amount can be refunded again.',
    access: 'admin',
    params: { id: 'refund' },
    response: RefundSchema,
    errors: ['unexpected_state'],
    handle: async ({ caller, params, requestId, now }) => {
      const { tenant } = caller;
      const refund = await selectRefund(db, tenant, params.id ?? '');
      if (refund === null) return resourceMissing('refund');
      const ended = await db.transaction(async (tx) => {
        if (!(await endBlockedRefund(tx, refund.id))) return false;
        await recordChange(tx, {
          chain: tenant.accountId,
          actor: actorOf(caller, requestId),
          action: 'refund.given_up',
          objectId: refund.id,
          livemode: tenant.livemode,
          before: null,
          after: null,
          now,
        });
        return true;
      });
      if (!ended) {
        return refuse(
          'unexpected_state',
          'This refund does not wait for USDC: it cannot be ended.',
        );
      }
      wakeups.send('chain-outcomes', 'refund');
      return answerWith(200, renderRefund(refund));
    },
  });
}

/** Refunds as the dashboard shows them. */
export function refundRoutes(deps: DashboardDeps): AnyRoute<PersonCaller>[] {
  return [readRoute(deps), endRoute(deps)];
}
