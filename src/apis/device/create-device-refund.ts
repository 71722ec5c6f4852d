import Type from 'typebox';
import { terminalInactive } from '#accounts/credential-ends.ts';
import {
  CreateRefundBody,
  REFUND_EXAMPLE,
  REFUND_LIMIT_MS,
  RefundSchema,
  refundAskedFor,
} from '#apis/merchant/refund-schema.ts';
import { Cashier, namedCashier } from '#apis/merchant/terminal-schema.ts';
import { isRefusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { HOUR_MS } from '#core/durations.ts';
import { defineRoute } from '#http/route.ts';
import { text } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { type Allowance, giveBackAttempt, takeAttempt } from '#people/attempts.ts';
import { createRefund } from '#refunds/create.ts';
import type { DeviceCaller } from '#terminals/authenticate.ts';

const PosRefundBody = Type.Object({
  ...Type.Pick(CreateRefundBody, ['payment', 'amount', 'presentment_amount', 'reason']).properties,
  cashier: Type.Optional(Cashier),
  manager_code: Type.Optional(
    text(20, 'A code from the dashboard, for refunds that need a manager.', 8),
  ),
});

/** Codes have 39 bits and are valid for minutes, so a clerk may mistype a few. */
const WRONG_CODES: Allowance = { attempts: 10, windowMs: HOUR_MS };

export function createDeviceRefundRoute(ctx: ApiContext) {
  return defineRoute<DeviceCaller, undefined, typeof PosRefundBody>({
    method: 'POST',
    path: '/refunds',
    operationId: 'createDeviceRefund',
    moves: 'money',
    checksCredential: true,
    tag: 'Terminal protocol',
    summary: 'Refund a payment',
    description:
      'A sale of another till, or more than 500 USDC of one sale, needs a `manager_code`: ' +
      'without one the refund is refused with 403 `manager_required`, and no money moves.',
    scope: null,
    idempotency: 'required',
    body: PosRefundBody,
    bodyExample: { payment: REFUND_EXAMPLE.payment, amount: 1000000 },
    responses: {
      201: { schema: RefundSchema, description: 'The refund.', example: REFUND_EXAMPLE },
    },
    errors: [
      'terminal_inactive',
      'amount_too_large',
      'payment_already_refunded',
      'manager_required',
      'rate_limit_exceeded',
    ],
    timeLimitMs: REFUND_LIMIT_MS,
    handle: async ({ caller, body, idempotency, requestId, now }) => {
      const asked = refundAskedFor(body);
      if (isRefusal(asked)) return asked;
      if (!caller.active) return terminalInactive();
      const managerCode = body.manager_code ?? null;
      const bucket = `manager-code ${caller.terminalId}`;
      if (managerCode !== null) {
        const tooMany = await takeAttempt(ctx.db, bucket, { allowance: WRONG_CODES, now });
        if (tooMany !== null) return tooMany;
      }
      const answer = await createRefund(ctx, {
        tenant: caller.tenant,
        keyHash: caller.merchant.keyHash,
        terminalId: caller.terminalId,
        managerCode,
        idempotency: present(idempotency, 'idempotency key'),
        requestId,
        now,
        input: { ...asked, metadata: namedCashier(body), source: 'terminal' },
      });
      const isWrong = isRefusal(answer) && answer.code === 'manager_required';
      if (managerCode !== null && !isWrong) await giveBackAttempt(ctx.db, bucket);
      return answer;
    },
  });
}
