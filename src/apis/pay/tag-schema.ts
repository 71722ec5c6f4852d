import Type from 'typebox';
import { PaymentIntentSchema } from '#apis/merchant/payment-schema.ts';
import { WaitParameter } from '#apis/merchant/terminal-schema.ts';
import {
  AuthorizationBody,
  PayLinkQuery,
  PayLinkSchema,
  ReceiptOfPayer,
} from '#apis/pay/pay-schema.ts';
import { nullable, objectType, Timestamp, text, textOut } from '#http/schema.ts';

const Reference = Type.String({
  pattern: '^[0-9A-Za-z]{22}$',
  examples: ['3nF8qTz0LwKc5YbRm1XaVe'],
  description: 'What this tag calls the payment. It opens nothing but this tag.',
});

const { object: _, order_id: _order, number: _number, ...shown } = PayLinkSchema.properties;

/** What the page of a tag sees: neither the order nor its number, and not the pay link. */
export const TagPaymentSchema = Type.Object(
  {
    object: objectType('tag_payment'),
    reference: Reference,
    ...shown,
    order_id: nullable(
      textOut('For a `visit` to a tag that is a chip; `null` without such a proof.'),
    ),
    description: nullable(
      textOut('The description of the sale, if the order id is shown; `null` without one.'),
    ),
  },
  {
    title: 'TagPayment',
    description:
      'A payment as a tag shows it. In the nonce of its `typed_data`, number and order id are ' +
      'zero: so it binds merchant, amount and salt, and gives no order id away.',
  },
);

export const TagSchema = Type.Object(
  {
    object: objectType('tag'),
    merchant: Type.Object(
      { name: Type.String({ minLength: 1, description: 'Whose counter it is.' }) },
      { description: 'Whose counter it is.' },
    ),
    network: PayLinkSchema.properties.network,
    payment: {
      ...nullable(TagPaymentSchema),
      description:
        'The oldest payment that the terminal asks for, or the one that was asked about. null: ' +
        'the terminal asks for none now.',
    },
  },
  { title: 'Tag', description: 'What the terminal of a tag asks for.' },
);

export const TagQuery = Type.Object({
  wait: WaitParameter,
  payment: Type.Optional(Reference),
  visit: Type.Optional(text(64, 'What a visit to a tag that is a chip was answered with.', 1)),
  ...PayLinkQuery.properties,
});

export const TagAuthorizationBody = Type.Object({
  payment: Reference,
  ...AuthorizationBody.properties,
});

const { status, cancellation_reason, last_payment_error } = PaymentIntentSchema.properties;

export const TagOutcomeSchema = Type.Object(
  {
    object: objectType('tag_outcome'),
    reference: Reference,
    status,
    cancellation_reason,
    last_payment_error,
    receipt_url: ReceiptOfPayer,
  },
  { title: 'TagOutcome', description: 'The result of a payment, for the payer who signed it.' },
);

export const TagVisitBody = Type.Object({
  picc_data: Type.String({
    minLength: 32,
    maxLength: 32,
    pattern: '^[0-9A-Fa-f]{32}$',
    description: '`p` in the address that the chip gave.',
  }),
  cmac: Type.String({
    minLength: 16,
    maxLength: 16,
    pattern: '^[0-9A-Fa-f]{16}$',
    description: '`c` in the address that the chip gave.',
  }),
});

export const TagVisitSchema = Type.Object(
  {
    object: objectType('tag_visit'),
    visit: nullable(
      Type.String({
        minLength: 30,
        maxLength: 30,
        examples: ['AaIU170IrxWx2BNjcve7rj2Sk8-JLg'],
        description:
          'To send as `visit` from now on; null: this tag’s chip did not make the message, or it ' +
          'was used before.',
      }),
    ),
    expires_at: nullable(Timestamp),
  },
  { title: 'TagVisit', description: 'The proof that the customer is at the tag.' },
);
