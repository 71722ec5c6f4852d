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
  description: 'The id of the payment on this tag. It is valid on this tag only.',
});

const { object: _, order_id: _order, number: _number, ...shown } = PayLinkSchema.properties;

/** Schema of the payment on the page of a tag: without the order, its ID and the pay link. */
export const TagPaymentSchema = Type.Object(
  {
    object: objectType('tag_payment'),
    reference: Reference,
    ...shown,
    order_id: nullable(textOut('For a `visit` to a tag with a chip; `null` without such a proof.')),
    description: nullable(
      textOut('The description of the sale, if the order id is shown; `null` without one.'),
    ),
  },
  {
    title: 'TagPayment',
    description:
      'A payment as a tag shows it. In the nonce of its `typed_data`, number and order id are ' +
      'zero: it binds merchant, amount and salt, and reveals no order id.',
  },
);

export const TagSchema = Type.Object(
  {
    object: objectType('tag'),
    merchant: Type.Object(
      { name: Type.String({ minLength: 1, description: 'The merchant of the counter.' }) },
      { description: 'The merchant of the counter.' },
    ),
    network: PayLinkSchema.properties.network,
    payment: {
      ...nullable(TagPaymentSchema),
      description:
        'The oldest payment that the terminal requests, or the one named in the request. `null` ' +
        'if the terminal requests none now.',
    },
  },
  { title: 'Tag', description: 'The payment that the terminal of a tag requests.' },
);

export const TagQuery = Type.Object({
  wait: WaitParameter,
  payment: Type.Optional(Reference),
  visit: Type.Optional(text(64, 'The proof of a visit to a tag with a chip.', 1)),
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
    description: '`p` from the address that the chip produced.',
  }),
  cmac: Type.String({
    minLength: 16,
    maxLength: 16,
    pattern: '^[0-9A-Fa-f]{16}$',
    description: '`c` from the address that the chip produced.',
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
          'Send it as `visit` from now on. `null` if this tag’s chip did not produce the ' +
          'message, or it was used before.',
      }),
    ),
    expires_at: nullable(Timestamp),
  },
  { title: 'TagVisit', description: 'The proof that the customer is at the tag.' },
);
