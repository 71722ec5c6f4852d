import Type from 'typebox';
import { terminalInactive } from '#accounts/recheck-credentials.ts';
import { deviceRoute } from '#apis/device/device-route.ts';
import { liftWithManager } from '#apis/device/lift-limits.ts';

import {
  CreateRefundBody,
  REFUND_EXAMPLE,
  REFUND_LIMIT_MS,
  RefundSchema,
  refundAskedFor,
} from '#apis/merchant/refund-schema.ts';
import {
  Cashier,
  ManagerAtTill,
  ManagerCode,
  namedCashier,
} from '#apis/merchant/terminal-schema.ts';
import { isRefusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { createRefund } from '#refunds/create-refund.ts';

const PosRefundBody = Type.Object({
  ...Type.Omit(CreateRefundBody, ['metadata']).properties,
  cashier: Type.Optional(Cashier),
  manager_code: Type.Optional(ManagerCode),
  manager: Type.Optional(ManagerAtTill),
});

export function createDeviceRefundRoute(ctx: ApiContext) {
  return deviceRoute<undefined, typeof PosRefundBody>({
    method: 'POST',
    path: '/refunds',
    operationId: 'createDeviceRefund',
    moves: 'money',
    checksCredential: true,
    summary: 'Refund a payment',
    description:
      'A sale of another till needs a `manager` or a `manager_code`, and so does more of one ' +
      'sale than the signed-in person may refund (their `refund_limit`). Without a person, the ' +
      'limit is the terminal’s `refund_limit`; if that is `null`, nothing where people have ' +
      'PINs, else the account’s `till_refund_limit`. A manager lifts it up to their own ' +
      '`refund_limit`. Without one, the response is 403 `manager_required`, and no money moves. ' +
      'So it is if a limit in another currency than the sale’s has no usable exchange rate.',
    credentials: ['manager'],
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
      const request = refundAskedFor(body);
      if (isRefusal(request)) return request;
      if (!caller.active) return terminalInactive();
      const { terminalId, merchant } = caller;
      return liftWithManager(ctx, { terminalId, merchant, body, now }, (lifting) =>
        createRefund(ctx, {
          tenant: caller.tenant,
          keyHash: merchant.keyHash,
          terminalId,
          ...lifting,
          idempotency: present(idempotency, 'idempotency key'),
          requestId,
          now,
          input: { ...request, metadata: namedCashier(body), source: 'terminal' },
        }),
      );
    },
  });
}
