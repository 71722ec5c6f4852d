import Type from 'typebox';
import { WithdrawalSchema } from '#apis/dashboard/account/account-schema.ts';
import { Waiting, waitingOf } from '#apis/dashboard/payouts/blocked-transfer.ts';
import { actorOf, MODE, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { answerWith, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { MAX_AMOUNT } from '#core/money.ts';
import type { Page } from '#db/paging.ts';
import { answerList } from '#http/cursors.ts';
import { createdParameters, listOf, nullable, pageParameters } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { withdrawalObject } from '#payouts/render.ts';
import { withdraw } from '#payouts/withdraw-once-per-key.ts';
import { selectWithdrawal, selectWithdrawalPage } from '#payouts/withdrawal-queries.ts';
import { selectBlocked } from '#settlement/blocked-request-queries.ts';

const TAG = 'Money';
/**
 * Upper bound of the request's integer: a thousand times the largest payment, because one
 * withdrawal can take the whole balance.
 */
const MAX_WITHDRAWAL = MAX_AMOUNT * 1000;

const WithdrawBody = Type.Object({
  amount: Type.Integer({
    minimum: 1,
    maximum: MAX_WITHDRAWAL,
    description: 'USDC atoms, at most the balance minus the withdrawals in progress.',
  }),
});

function withdrawRoute(ctx: ApiContext) {
  return personRoute<undefined, typeof WithdrawBody>({
    method: 'POST',
    path: `${MODE}/withdrawals`,
    operationId: 'createWithdrawal',
    moves: 'money',
    tag: TAG,
    summary: 'Withdraw to the settlement wallet',
    description:
      'Needs a second factor verified in the last five minutes. The response is `pending`; the ' +
      'event `balance.withdrawal_paid` follows. Send the same Idempotency-Key when you retry.',
    access: 'owner',
    idempotency: 'required',
    body: WithdrawBody,
    status: 201,
    response: WithdrawalSchema,
    errors: [
      'account_not_live',
      'amount_too_large',
      'payouts_held',
      'unexpected_state',
      'service_unavailable',
    ],
    handle: async ({ caller, body, idempotency, requestId, now }) => {
      return withdraw(ctx, {
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

function listRoute({ db, keys: { cursor: cursorKey } }: ApiContext) {
  return personRoute<typeof ListQuery>({
    method: 'GET',
    path: `${MODE}/withdrawals`,
    operationId: 'listWithdrawals',
    moves: 'nothing',
    tag: TAG,
    summary: 'List withdrawals, newest first',
    access: 'viewer',
    query: ListQuery,
    response: listOf(WithdrawalSchema),
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant }, query }) => {
      const pagination = { list: 'withdrawals', tenant, query, cursorKey };
      const read = (page: Page) => selectWithdrawalPage(db, tenant, page);
      return answerList(pagination, read, withdrawalObject);
    },
  });
}

const DashboardWithdrawalSchema = Type.Object(
  { ...WithdrawalSchema.properties, waiting: nullable(Waiting) },
  {
    title: 'DashboardWithdrawal',
    description:
      'A withdrawal, and the reason why it waits: another settlement wallet was announced.',
  },
);

function readRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${MODE}/withdrawals/{id}`,
    operationId: 'readWithdrawal',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve a withdrawal, and the reason why it waits',
    access: 'viewer',
    params: { id: 'withdrawal' },
    response: DashboardWithdrawalSchema,
    handle: async ({ caller, params }) => {
      const row = await selectWithdrawal(db, caller.tenant, params.id ?? '');
      if (row === undefined) return resourceMissing('withdrawal');
      const blocked =
        row.status === 'pending' ? await selectBlocked(db, 'withdrawal', row.id) : undefined;
      return answerWith(200, { ...withdrawalObject(row), waiting: waitingOf(blocked) });
    },
  });
}

export function moneyRoutes(ctx: ApiContext): PersonRoute[] {
  return [withdrawRoute(ctx), listRoute(ctx), readRoute(ctx)];
}
