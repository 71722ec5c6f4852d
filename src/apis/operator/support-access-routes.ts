import Type from 'typebox';
import { selectAccount } from '#accounts/account-queries.ts';
import { actorOf, type PersonRoute, personRoute, sessionOf } from '#apis/dashboard/person-route.ts';
import { selectIntentOwner, selectLastLook } from '#apis/operator/support-payment-queries.ts';
import { readSupportView, SupportViewSchema } from '#apis/operator/support-payment-view.ts';
import { recordEntry } from '#audit/audit.ts';
import { answerWith, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import { idOf, Timestamp, text } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectIntent } from '#payments/intent-queries.ts';
import { asOf } from '#payments/payment-intent.ts';

const TAG = 'Support';
const LOOKED = 'payment_intent.read_by_support';

/**
 * Time for which a reason allows reading: enough for a support call. After that, a new reason is
 * needed.
 */
const LOOK_MS = 30 * 60_000;

const LookBody = Type.Object({
  reason: text(
    500,
    'The reason for reading the payment. The merchant reads it in the audit log.',
    1,
  ),
});

const LookSchema = Type.Object(
  { payment_intent: idOf('pi_', 'payment intent'), until: Timestamp },
  {
    description:
      'The time until which this person may read the payment without giving a reason again.',
  },
);

function lookRoute({ db }: ApiContext) {
  return personRoute<undefined, typeof LookBody>({
    method: 'POST',
    path: '/payment_intents/{id}/looks',
    operationId: 'lookAtPayment',
    moves: 'data',
    tag: TAG,
    summary: 'Give the reason for reading a merchant’s payment, which its audit log keeps',
    access: 'support',
    params: { id: 'paymentIntent' },
    body: LookBody,
    response: LookSchema,
    errors: ['resource_missing'],
    handle: async ({ caller, params, body, requestId, now }) => {
      const id = params.id ?? '';
      const owner = await selectIntentOwner(db, id);
      if (owner === undefined) return resourceMissing('payment intent');
      await db.transaction((tx) =>
        recordEntry(tx, {
          auditLog: owner.account_id,
          actor: actorOf(caller, requestId),
          action: LOOKED,
          objectId: id,
          livemode: owner.livemode,
          before: null,
          after: { reason: body.reason },
          now,
        }),
      );
      return answerWith(200, { payment_intent: id, until: addMs(now, LOOK_MS) });
    },
  });
}

function reasonMissing(): Refusal {
  return refuse(
    'unexpected_state',
    'First give your reason for reading this payment: POST /payment_intents/{id}/looks.',
  );
}

function readRoute(ctx: ApiContext) {
  const { db } = ctx;
  return personRoute({
    method: 'GET',
    path: '/payment_intents/{id}',
    operationId: 'readAnyPayment',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve a merchant’s payment with all related data and the reasons for its state',
    description:
      'Within half an hour after `POST /payment_intents/{id}/looks` by the same person; else 409 ' +
      '`unexpected_state`.',
    access: 'operator',
    params: { id: 'paymentIntent' },
    response: SupportViewSchema,
    errors: ['resource_missing', 'unexpected_state'],
    handle: async ({ caller, params, now }) => {
      const id = params.id ?? '';
      const owner = await selectIntentOwner(db, id);
      if (owner === undefined) return resourceMissing('payment intent');
      const { account_id: auditLog, livemode } = owner;
      const userId = sessionOf(caller).user_id;
      const look = await selectLastLook(db, { auditLog, objectId: id, action: LOOKED, userId });
      if (look === null || addMs(look, LOOK_MS) <= now) return reasonMissing();
      const tenant = { accountId: auditLog, livemode };
      const [intent, account] = await Promise.all([
        selectIntent(db, tenant, id),
        selectAccount(db, auditLog),
      ]);
      const current = asOf(present(intent, 'payment intent'), now);
      const view = await readSupportView(ctx, {
        intent: current,
        account: present(account, 'account'),
        now,
      });
      return answerWith(200, { ...view, look_until: addMs(look, LOOK_MS) });
    },
  });
}

/**
 * Declares the routes with which support staff read a merchant's payment, for example during a
 * call.
 */
export function supportAccessRoutes(ctx: ApiContext): PersonRoute[] {
  return [lookRoute(ctx), readRoute(ctx)];
}
