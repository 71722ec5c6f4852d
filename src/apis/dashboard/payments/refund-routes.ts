import Type from 'typebox';
import { Waiting, waitingOf } from '#apis/dashboard/payouts/blocked-transfer.ts';
import {
  MODE,
  type PersonRequest,
  type PersonRoute,
  personRoute,
  recordChange,
  sessionOf,
} from '#apis/dashboard/person-route.ts';
import { factorRefusal } from '#apis/dashboard/sessions/require-second-factor.ts';
import {
  CreateRefundBody,
  REFUND_LIMIT_MS,
  RefundSchema,
  refundAskedFor,
} from '#apis/merchant/refund-schema.ts';
import { answerWith, isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { Abandon, type Tx } from '#db/database.ts';
import { nullable } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectPayment } from '#payments/payment-queries.ts';
import { createRefund } from '#refunds/create-refund.ts';
import { addToRefundDay, selectRefund } from '#refunds/refund-queries.ts';
import { type AskedAmount, estimate } from '#refunds/refund-share.ts';
import { renderRefund } from '#refunds/render.ts';
import { endBlockedRefund, selectBlocked } from '#settlement/blocked-request-queries.ts';

const TAG = 'Money';

const DashboardRefundSchema = Type.Object(
  {
    ...RefundSchema.properties,
    waiting: nullable(Waiting),
  },
  {
    title: 'DashboardRefund',
    description:
      'A refund, and the reason why it waits: USDC is paused, or blocks one of the addresses.',
  },
);

function readRoute({ db, pages: receipts }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${MODE}/refunds/{id}`,
    operationId: 'dashboardRetrieveRefund',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve a refund, and the reason why it waits',
    access: 'viewer',
    params: { id: 'refund' },
    response: DashboardRefundSchema,
    handle: async ({ caller, params }) => {
      const refund = await selectRefund(db, caller.tenant, params.id ?? '');
      if (refund === null) return resourceMissing('refund');
      const blocked =
        refund.status === 'pending' ? await selectBlocked(db, 'refund', refund.id) : undefined;
      return answerWith(200, { ...renderRefund(refund, receipts), waiting: waitingOf(blocked) });
    },
  });
}

function endRoute({ db, wakeups, pages: receipts }: ApiContext) {
  return personRoute({
    method: 'POST',
    path: `${MODE}/refunds/{id}/end`,
    operationId: 'endRefund',
    moves: 'money',
    asks: 'never',
    tag: TAG,
    summary: 'Cancel a waiting refund',
    description:
      'Only for a refund that USDC or the contract currently refuses. It ends as `failed` with ' +
      '`transfer_blocked`, and its amount can be refunded again.',
    access: 'admin',
    params: { id: 'refund' },
    response: RefundSchema,
    errors: ['unexpected_state'],
    handle: async (request) => {
      const { caller, params } = request;
      const refund = await selectRefund(db, caller.tenant, params.id ?? '');
      if (refund === null) return resourceMissing('refund');
      const ended = await db.transaction(async (tx) => {
        if (!(await endBlockedRefund(tx, refund.id))) return false;
        await recordChange(tx, request, {
          action: 'refund.given_up',
          objectId: refund.id,
        });
        return true;
      });
      if (!ended) {
        return refuse(
          'unexpected_state',
          'This refund is not waiting for USDC, so it cannot be canceled.',
        );
      }
      wakeups.send('chain-outcomes', 'refund');
      return answerWith(200, renderRefund(refund, receipts));
    },
  });
}

/**
 * Atoms (500 USDC) that an account's people may refund per UTC day without a fresh factor: enough
 * for a shop's usual day. Beyond it, each refund needs a fresh factor, so that a stolen session
 * cannot empty the balance.
 */
const FREE_REFUNDS = 500_000_000n;

/**
 * Counts the refund toward the daily amount. Runs in the transaction of its audit log entry, so
 * that concurrent refunds count as well.
 */
async function refundRefusal(
  tx: Tx,
  request: Pick<PersonRequest, 'caller' | 'now'>,
  input: {
    readonly paymentId: string;
    readonly amount: AskedAmount;
  },
): Promise<Refusal | null> {
  const { caller, now } = request;
  const { tenant } = caller;
  if (!tenant.livemode) return null;
  const payment = await selectPayment(tx, tenant, input.paymentId);
  if (payment === null) return null;
  const amount = estimate(payment, input.amount);
  const sum = await addToRefundDay(tx, { accountId: tenant.accountId, amount, now });
  if (sum <= FREE_REFUNDS) return null;
  // In a sandbox, changes of access need no second factor, but refunds do.
  return factorRefusal(sessionOf(caller), now);
}

/** Returns the amount for the audit log, in atoms or in minor units, as it was requested. */
function inEntry(amount: AskedAmount) {
  if (typeof amount !== 'object' || amount === null) return { amount };
  if ('minorUnits' in amount) return { presentment_amount: amount.minorUnits };
  return { line_items: amount.lineItems.map(({ line, quantity }) => ({ line, quantity })) };
}

function refundRoute(ctx: ApiContext): PersonRoute {
  const route = personRoute<undefined, typeof CreateRefundBody>({
    method: 'POST',
    path: `${MODE}/refunds`,
    operationId: 'createDashboardRefund',
    moves: 'money',
    asks: 'own',
    tag: TAG,
    summary: 'Refund a payment, in full or in part',
    description:
      'In live mode a fresh second factor is needed once an account’s people have refunded ' +
      'more than 500 USDC on a UTC day.',
    access: 'member',
    idempotency: 'required',
    body: CreateRefundBody,
    status: 201,
    response: RefundSchema,
    errors: ['amount_too_large', 'payment_already_refunded'],
    handle: async (request) => {
      const { caller, body, idempotency, requestId, now } = request;
      const { tenant } = caller;
      const refundInput = refundAskedFor(body);
      if (isRefusal(refundInput)) return refundInput;
      // Writes the audit log entry before the refund, so that the log names the person even if the
      // refund fails.
      const refused = await ctx.db.transaction<Refusal | null>(async (tx) => {
        const stale = await refundRefusal(tx, request, refundInput);
        if (stale !== null) return new Abandon(stale);
        await recordChange(tx, request, {
          action: 'refund.requested',
          objectId: refundInput.paymentId,
          after: { ...inEntry(refundInput.amount), reason: refundInput.reason },
        });
        return null;
      });
      if (refused !== null) return refused;
      return createRefund(ctx, {
        tenant,
        keyHash: null,
        idempotency: present(idempotency, 'idempotency key'),
        requestId,
        now,
        input: { ...refundInput, source: 'dashboard' },
      });
    },
  });
  return { ...route, timeLimitMs: REFUND_LIMIT_MS };
}

export function refundRoutes(ctx: ApiContext): PersonRoute[] {
  return [refundRoute(ctx), readRoute(ctx), endRoute(ctx)];
}
