import Type from 'typebox';
import { recordChange } from '#accounts/audit.ts';
import { withdraw, withdrawalObject } from '#accounts/withdraw.ts';
import { selectWithdrawal, selectWithdrawalPage } from '#accounts/withdrawal-queries.ts';
import { answerWith } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { MAX_AMOUNT } from '#core/money.ts';
import { isRefusal, resourceMissing } from '#core/refusal.ts';
import { WithdrawalSchema } from '#dashboard/account-schema.ts';
import { actorOf, type PersonCaller } from '#dashboard/caller.ts';
import { type DashboardDeps, MODE } from '#dashboard/dashboard-deps.ts';
import { requireFreshFactor } from '#dashboard/fresh-factor.ts';
import { personRoute } from '#dashboard/person-route.ts';
import { answerPage, readPage } from '#http/paging.ts';
import type { AnyRoute } from '#http/route.ts';
import { createdParameters, listOf, pageParameters } from '#http/schema.ts';
import { createRefund } from '#refunds/create.ts';
import { CreateRefundBody, RefundSchema } from '#refunds/schema.ts';

const TAG = 'Money';
/** A whole balance can leave at once; a million times the largest payment bounds the integer. */
const MAX_WITHDRAWAL = MAX_AMOUNT * 1000;

const WithdrawBody = Type.Object({
  amount: Type.Integer({
    minimum: 1,
    maximum: MAX_WITHDRAWAL,
    description: 'USDC atoms, at most the balance less what is under way.',
  }),
});

function withdrawRoute(deps: DashboardDeps) {
  return personRoute<undefined, typeof WithdrawBody>({
    method: 'POST',
    path: `${MODE}/withdrawals`,
    operationId: 'createWithdrawal',
    tag: TAG,
    summary: 'Pay out to the settlement wallet',
    description:
      'Needs a second factor proven in the last five minutes. Answers `pending`; the event ' +
      '`balance.withdrawal_paid` follows. Send the same Idempotency-Key when you retry.',
    access: 'owner',
    idempotency: 'required',
    body: WithdrawBody,
    status: 201,
    response: WithdrawalSchema,
    errors: ['account_not_live', 'amount_too_large', 'unexpected_state', 'service_unavailable'],
    handle: async ({ caller, body, idempotency, requestId, now }) => {
      const stale = requireFreshFactor(caller, now);
      if (stale !== null) return stale;
      return withdraw(deps, {
        tenant: caller.tenant,
        amount: BigInt(body.amount),
        actor: actorOf(caller, requestId),
        idempotency: present(idempotency, 'idempotency key'),
        requestId,
        now,
      });
    },
  });
}

const ListQuery = Type.Object({ ...pageParameters, ...createdParameters });

function listRoute({ db, cursorKey }: DashboardDeps) {
  return personRoute<typeof ListQuery>({
    method: 'GET',
    path: `${MODE}/withdrawals`,
    operationId: 'listWithdrawals',
    tag: TAG,
    summary: 'Withdrawals, newest first',
    access: 'viewer',
    query: ListQuery,
    response: listOf(WithdrawalSchema),
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant }, query }) => {
      const walk = { list: 'withdrawals', tenant, query, cursorKey };
      const page = readPage(walk, query);
      if (isRefusal(page)) return page;
      const rows = await selectWithdrawalPage(db, tenant, page);
      return answerPage(walk, page, rows, withdrawalObject);
    },
  });
}

function readRoute({ db }: DashboardDeps) {
  return personRoute({
    method: 'GET',
    path: `${MODE}/withdrawals/{id}`,
    operationId: 'readWithdrawal',
    tag: TAG,
    summary: 'A withdrawal',
    access: 'viewer',
    params: { id: 'withdrawal' },
    response: WithdrawalSchema,
    handle: async ({ caller, params }) => {
      const row = await selectWithdrawal(db, caller.tenant, params.id ?? '');
      return row === undefined
        ? resourceMissing('withdrawal')
        : answerWith(200, withdrawalObject(row));
    },
  });
}

/** The 60 s of the receipt, and what comes before and after it. */
const REFUND_LIMIT_MS = 70_000;

function refundRoute(deps: DashboardDeps): AnyRoute<PersonCaller> {
  const route = personRoute<undefined, typeof CreateRefundBody>({
    method: 'POST',
    path: `${MODE}/refunds`,
    operationId: 'createDashboardRefund',
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
      // Before the refund: whatever happens then, the log knows who asked for it.
      await deps.db.transaction((tx) =>
        recordChange(tx, {
          chain: tenant.accountId,
          actor: actorOf(caller, requestId),
          action: 'refund.requested',
          objectId: body.payment,
          livemode: tenant.livemode,
          before: null,
          after: { amount: body.amount ?? null, reason: body.reason ?? null },
          now,
        }),
      );
      return createRefund(deps, {
        tenant,
        keyHash: null,
        idempotency: present(idempotency, 'idempotency key'),
        requestId,
        now,
        input: {
          paymentId: body.payment,
          amount: body.amount ?? null,
          reason: body.reason ?? null,
          metadata: body.metadata ?? {},
          source: 'dashboard',
        },
      });
    },
  });
  return { ...route, timeLimitMs: REFUND_LIMIT_MS };
}

export function moneyRoutes(deps: DashboardDeps): AnyRoute<PersonCaller>[] {
  return [withdrawRoute(deps), listRoute(deps), readRoute(deps), refundRoute(deps)];
}
