import Type from 'typebox';
import { MAX_LINES, MAX_MINOR_UNITS, Quantity, Taxes } from '#apis/merchant/line-schema.ts';
import { CashierAt, ReceiptNumber } from '#apis/merchant/payment-schema.ts';
import { Presentment, ShopRate } from '#apis/merchant/presentment-schema.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import {
  Amount,
  Currency,
  commonFields,
  idOf,
  listOf,
  Metadata,
  nullable,
  oneOf,
  Recovered,
  Timestamp,
  text,
} from '#http/schema.ts';
import { REFUND_FAILURES, REFUND_STATUSES } from '#refunds/refund.ts';
import type { AskedAmount } from '#refunds/refund-share.ts';

const ReturnedLine = Type.Object(
  {
    line: Type.Integer({
      minimum: 0,
      maximum: MAX_LINES - 1,
      description: 'The index of the line in `line_items` of the payment, from 0 on.',
    }),
    quantity: { ...Quantity, description: 'How much of the line: an integer, or decimal text.' },
  },
  { additionalProperties: false, description: 'A part of a line.' },
);

export const RefundSchema = Type.Object(
  {
    id: idOf('re_', 'refund'),
    ...commonFields('refund'),
    amount: Amount,
    currency: Currency,
    presentment: Presentment,
    shop_rate: ShopRate,
    line_items: nullable(
      Type.Array(ReturnedLine, {
        description: 'The lines that it returns; `null` for a refund of a sum.',
      }),
    ),
    taxes: Taxes,
    payment: idOf('pay_', 'payment'),
    status: oneOf(REFUND_STATUSES, '`pending` resolves by itself.'),
    reason: nullable(text(500, 'Up to 500 characters.')),
    failure_code: nullable(oneOf(Object.keys(REFUND_FAILURES), 'The list may grow.')),
    failure_message: nullable(Type.String({ description: 'The reason it failed, in words.' })),
    tx_hash: nullable(
      Type.String({ pattern: '^0x[0-9a-f]{64}$', description: 'Hash of its transaction.' }),
    ),
    receipt_url: nullable(
      Type.String({
        format: 'uri',
        description:
          'A page for the customer, once the refund has succeeded. Its address cannot be guessed.',
      }),
    ),
    receipt_number: nullable(ReceiptNumber),
    source: oneOf(['api', 'terminal', 'dashboard'] as const, 'Who requested it.'),
    cashier: CashierAt,
    metadata: Metadata,
    created: Timestamp,
    updated: Timestamp,
    recovered: Recovered,
  },
  { title: 'Refund', description: 'Money on its way back to the payer, or returned.' },
);

export const RefundList = listOf(RefundSchema);

export const CreateRefundBody = Type.Object({
  payment: idOf('pay_', 'payment'),
  amount: Type.Optional(Amount),
  presentment_amount: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_MINOR_UNITS,
      description:
        'Minor units of the currency of the sale, instead of `amount`: returns that share of the ' +
        'atoms that were paid. Only for a payment with `presentment`.',
    }),
  ),
  line_items: Type.Optional(
    Type.Array(ReturnedLine, {
      minItems: 1,
      maxItems: MAX_LINES,
      description:
        'Parts of lines of the sale, instead of a sum: returns their prices after all discounts, ' +
        'and the tax that was added to them. Lines below 0 only together with others. Only for a ' +
        'payment with `line_items`.',
      examples: [[{ line: 0, quantity: 1 }]],
    }),
  ),
  reason: Type.Optional(text(500, 'Up to 500 characters.')),
  metadata: Type.Optional(Metadata),
});

/**
 * Time-out of a refund request: it may wait 60 s for the transaction's receipt, and needs time
 * before and after.
 */
export const REFUND_LIMIT_MS = 70_000;

function askedAmount(
  body: Pick<Type.Static<typeof CreateRefundBody>, 'amount' | 'presentment_amount' | 'line_items'>,
): AskedAmount | Refusal {
  const { amount = null, presentment_amount: minorUnits, line_items: lineItems } = body;
  if (lineItems !== undefined) {
    if (amount === null && minorUnits === undefined) return { lineItems };
    const message = 'Send line_items, or a sum, not both.';
    return refuse('parameter_invalid', message, 'line_items');
  }
  if (minorUnits === undefined) return amount;
  if (amount === null) return { minorUnits };
  const message = 'Send amount or presentment_amount, not both.';
  return refuse('parameter_invalid', message, 'presentment_amount');
}

/** Returns the refund in a request's body, with defaults filled in. */
export function refundAskedFor(body: Type.Static<typeof CreateRefundBody>) {
  const amount = askedAmount(body);
  if (isRefusal(amount)) return amount;
  return {
    paymentId: body.payment,
    amount,
    reason: body.reason ?? null,
    metadata: body.metadata ?? {},
  };
}

export const REFUND_EXAMPLE = {
  id: 're_01QzXo5KcV5sVQ2pWm8Tn3',
  object: 'refund',
  livemode: false,
  amount: 1000000,
  currency: 'usdc',
  presentment: null,
  shop_rate: null,
  line_items: null,
  taxes: null,
  payment: 'pay_01QzXo1SdW6tWR3qXn9Uo4',
  status: 'succeeded',
  reason: 'One cup was returned',
  failure_code: null,
  failure_message: null,
  tx_hash: '0x1c9d0b2e6f7a4093b5c6d7e8f901a2b3c4d5e6f708192a38f0b2c6d1e4a7f390',
  receipt_url: 'https://pay.example.com/receipts/4Ob8sN3kQ7tZ2xWa5pTn9vKc1dGh7mZ2xWa5',
  receipt_number: 'RX7QM-12',
  source: 'api',
  cashier: null,
  metadata: {},
  network: 'testnet',
  created: '2026-10-01T12:05:00.000Z',
  updated: '2026-10-01T12:05:01.102Z',
} as const;
