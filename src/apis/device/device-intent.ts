import Type from 'typebox';
import { PaymentIntentSchema } from '#apis/merchant/payment-schema.ts';
import { type Answer, isRefusal, type Refusal } from '#core/answer.ts';
import { nullable, oneOf } from '#http/schema.ts';
import { PAYMENT_INTENT_EXAMPLE } from '#payments/api-examples.ts';
import type { IntentStatus } from '#payments/intent-rows.ts';
import { payToken } from '#payments/pay-link.ts';
import type { ReceiptPages } from '#payments/receipt-url.ts';
import type { WaitsFor } from '#settlement/chain-request-queries.ts';

const PaymentUrl = nullable(
  Type.String({
    format: 'uri',
    description:
      'Show it as a QR code: anyone who opens it can pay with any wallet. `null` while the ' +
      'payment cannot be paid.',
  }),
);

const WaitsForSchema = nullable(
  oneOf(
    ['time', 'safe', 'finalized'] as const,
    'What a payment in a block still waits for because of its large amount: more time, or a ' +
      'safe or finalized block. Set only where a single intent is read; `null` if it waits for ' +
      'nothing more.',
  ),
);

export const DeviceIntentSchema = Type.Object(
  { ...PaymentIntentSchema.properties, payment_url: PaymentUrl, waits_for: WaitsForSchema },
  { title: 'PaymentIntent', description: 'A request to be paid once, and its progress.' },
);

export const DEVICE_INTENT_EXAMPLE = {
  ...PAYMENT_INTENT_EXAMPLE,
  payment_url: 'https://pay.example.com/pay/0000003Fc2kHq8vXo1TzYd',
  waits_for: null,
} as const;

interface Shown {
  readonly object?: string;
  readonly id: string;
  readonly livemode: boolean;
  readonly status: IntentStatus;
}

/**
 * Adds the pay link to a response about an intent. The response that is stored for an
 * Idempotency-Key is the same in every API; the link is derived, so it can be added again to each
 * replay.
 */
export function showOnTerminal(
  pages: ReceiptPages,
  answer: Answer | Refusal,
  waitsFor: WaitsFor | null = null,
): Answer | Refusal {
  if (isRefusal(answer)) return answer;
  const intent: Shown = JSON.parse(answer.body);
  if (intent.object !== 'payment_intent') return answer;
  const token = intent.status === 'requires_payment_method' ? payToken(pages.idKey, intent) : null;
  const paymentUrl = token === null ? null : `${pages.webUrl()}/pay/${token}`;
  const shown = { ...intent, payment_url: paymentUrl, waits_for: waitsFor };
  return { ...answer, body: JSON.stringify(shown) };
}
