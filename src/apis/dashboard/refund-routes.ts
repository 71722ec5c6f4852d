import Type from 'typebox';
import {
  actorOf,
  type DashboardDeps,
  MODE,
  type PersonRoute,
  personRoute,
} from '#apis/dashboard/person-route.ts';
import {
  CreateRefundBody,
  REFUND_LIMIT_MS,
  RefundSchema,
  refundAskedFor,
} from '#apis/merchant/refund-schema.ts';
import { recordEntry } from '#audit/audit.ts';
import { answerWith, refuse, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { nullable, Timestamp } from '#http/schema.ts';
import { createRefund } from '#refunds/create.ts';
import { selectRefund } from '#refunds/refund-queries.ts';
import { renderRefund } from '#refunds/render.ts';
import { endBlockedRefund, selectBlockedRefund } from '#settlement/blocked-refunds.ts';

const TAG = 'Money';

const Waiting = Type.Object(
  {
    message: Type.String({ description: 'What USDC or the settlement contract says.' }),
    since: Timestamp,
  },
  { description: 'Why the refund waits; null: it does not wait.' },
);

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
    moves: 'nothing',
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
    moves: 'money',
    asks: 'never',
    tag: TAG,
    summary: 'Give up a waiting refund',
    description:
      'Only for a refund that USDC currently refuses. It ends as `failed` with ' +
      '`transfer_blocked`, and its amount can be refunded again.',
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
        await recordEntry(tx, {
          trail: tenant.accountId,
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
          'This refund is not waiting for USDC, so it cannot be given up.',
        );
      }
      wakeups.send('chain-outcomes', 'refund');
      return answerWith(200, renderRefund(refund));
    },
  });
}

function refundRoute(deps: DashboardDeps): PersonRoute {
  const route = personRoute<undefined, typeof CreateRefundBody>({
    method: 'POST',
    path: `${MODE}/refunds`,
    operationId: 'createDashboardRefund',
    moves: 'money',
    asks: 'never',
    tag: TAG,
    summary: 'Refund a payment, wholly or in part',
    access: 'member',
    idempotency: 'required',
    body: CreateRefundBody,
    status: 201,
    response: RefundSchema,
    errors: ['amount_too_large', 'payment_already_refunded'],
    handle: async ({ caller, body, idempotency, requestId, now }) => {
      const { tenant } = caller;
      const asked = refundAskedFor(body);
      // Before the refund: whatever happens then, the log knows who asked for it.
      await deps.db.transaction((tx) =>
        recordEntry(tx, {
          trail: tenant.accountId,
          actor: actorOf(caller, requestId),
          action: 'refund.requested',
          objectId: asked.paymentId,
          livemode: tenant.livemode,
          before: null,
          after: { amount: asked.amount, reason: asked.reason },
          now,
        }),
      );
      return createRefund(deps, {
        tenant,
        keyHash: null,
        idempotency: present(idempotency, 'idempotency key'),
        requestId,
        now,
        input: { ...asked, source: 'dashboard' },
      });
    },
  });
  return { ...route, timeLimitMs: REFUND_LIMIT_MS };
}

/** Refunds as the dashboard shows them. */
export function refundRoutes(deps: DashboardDeps): PersonRoute[] {
  return [refundRoute(deps), readRoute(deps), endRoute(deps)];
}
