import Type from 'typebox';
import { discountFields, LineItems, Taxes } from '#apis/merchant/line-schema.ts';
import {
  IntentPresentment,
  PaidPresentment,
  priceFields,
  ShopRate,
} from '#apis/merchant/presentment-schema.ts';
import { MAX_AMOUNT } from '#core/money.ts';
import {
  Amount,
  AtomsOut,
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
import { DECLINES } from '#payments/decline-codes.ts';
import { CANCELLATION_REASONS, INTENT_STATUSES } from '#payments/intent-rows.ts';
import { PAYMENT_STATUSES } from '#payments/payment.ts';

export const OrderId = Type.String({
  examples: ['A-1001'],
  pattern: '^[A-Za-z0-9_-]{1,8}$',
  description:
    '1 to 8 characters of A-Z a-z 0-9 - _; written on-chain; unique per account and mode; ' +
    'generated from the Idempotency-Key if omitted.',
});

const TxHash = Type.String({
  pattern: '^0x[0-9a-f]{64}$',
  description: 'Hash of the settlement transaction.',
});

const PayerConfirmation = Type.Object(
  {
    type: Type.Literal('payer_confirmation', { description: 'The next step.' }),
    reason_code: Type.String({
      minLength: 1,
      description: 'The rule that asked for confirmation. The list may grow.',
    }),
    expires_at: Timestamp,
  },
  { description: 'The step that the customer must take before the payment can continue.' },
);

const CustomerMessage = Type.String({
  minLength: 1,
  description: 'A message for the customer, in plain words. Its text may change.',
});

const PaymentErrorSchema = Type.Object(
  {
    type: Type.Literal('payment_error', { description: 'The type of the error.' }),
    code: Type.Literal('payment_declined', { description: 'See decline_code for the reason.' }),
    decline_code: oneOf(Object.keys(DECLINES), 'The reason. The list may grow.'),
    reason_code: Type.String({
      minLength: 1,
      description: "The decline code in upper case, or the risk rule's name. The list may grow.",
    }),
    message: Type.String({
      minLength: 1,
      description: 'The reason in words. Its text may change.',
    }),
    created: Timestamp,
    customer_message: CustomerMessage,
  },
  { description: 'The reason why the last payment was declined.' },
);

const SplitGroup = nullable(text(64, 'Intents of one split bill carry the same value.'));

const SoldAt = nullable({
  ...idOf('loc_', 'location'),
  description: 'The location of the terminal when the sale was created; `null` if it had none.',
});

/** A person at a till is a member of the account, or only works there. */
/** Schema of the id of a person at the till: a user, or a staff member. */
export const PersonAtTill = Type.String({
  pattern: '^(usr|stf)_[0-9A-Za-z]+$',
  maxLength: 64,
  description: 'The id of a user (usr_…) or of a staff member (stf_…).',
  examples: ['usr_01QzXo1SdW6tWR3qXn9Uo4'],
});

export const CashierAt = nullable({
  ...PersonAtTill,
  description: 'The person signed in at the till (`POST /shift`); `null` if none.',
});

export const Tipping = Type.Object(
  {
    percentages: Type.Array(
      Type.Integer({ minimum: 1, maximum: 50, description: 'Percent of the amount, 1 to 50.' }),
      { minItems: 1, maxItems: 3, description: '1 to 3 percentages, in the order they are shown.' },
    ),
  },
  {
    additionalProperties: false,
    description:
      'The tips that the terminal offers its customer. `null` if the customer cannot tip.',
    examples: [{ percentages: [10, 15, 20] }],
  },
);

export const TipAmount = Type.Integer({
  minimum: 0,
  maximum: MAX_AMOUNT,
  description:
    'USDC atoms on top of the amount of the sale, and at most that amount; sale and tip together ' +
    'are at most 1000000000000. Only for an intent with `tipping`.',
  examples: [250000],
});

export const PaymentIntentSchema = Type.Object(
  {
    id: idOf('pi_', 'payment intent'),
    ...commonFields('payment_intent'),
    amount: Amount,
    currency: Currency,
    presentment: IntentPresentment,
    line_items: LineItems,
    ...discountFields,
    tipping: nullable(Tipping),
    tip: nullable(
      Type.Integer({
        minimum: 0,
        description: 'The tip paid on top of the amount; `null` until paid.',
      }),
    ),
    status: oneOf(INTENT_STATUSES, 'The list may grow.'),
    terminal: idOf('tml_', 'terminal'),
    location: SoldAt,
    order_id: OrderId,
    description: nullable(text(500, 'Shown on the terminal while waiting.')),
    metadata: Metadata,
    source: oneOf(['api', 'terminal'] as const, 'Who created it.'),
    offline: nullable(
      Type.Object(
        {
          id: idOf('ofp_', 'offline payment'),
          accepted_at: { ...Timestamp, description: 'By the till’s clock.' },
        },
        { description: 'Set only for a sale that a till had accepted offline.' },
      ),
    ),
    payment: nullable(idOf('pay_', 'payment')),
    tx_hash: nullable(TxHash),
    next_action: nullable(PayerConfirmation),
    last_payment_error: nullable(PaymentErrorSchema),
    cancellation_reason: nullable(oneOf(CANCELLATION_REASONS, 'The list may grow.')),
    canceled_at: nullable(Timestamp),
    split_group: SplitGroup,
    cashier: CashierAt,
    picked_up_at: nullable(Timestamp),
    tapped_at: nullable(Timestamp),
    expires_at: Timestamp,
    created: Timestamp,
    recovered: Recovered,
  },
  { title: 'PaymentIntent', description: 'A request to be paid once, and its progress.' },
);

const expected = (description: string) =>
  nullable(
    Type.Integer({
      minimum: 0,
      description:
        `${description} Until it is paid, this is what a pass would pay now, and \`null\` while ` +
        'the service does not know the fees.',
    }),
  );

/** Schema of an intent as the dashboard and support show it. */
export const IntentForPeople = Type.Object(
  {
    ...PaymentIntentSchema.properties,
    total: expected('What the customer pays, in USDC atoms: amount, tip and service fee.'),
    service_fee: expected('The service fee in `total`, in USDC atoms.'),
  },
  { title: 'PaymentIntentWithTotal', description: 'A payment intent, and what its customer pays.' },
);

const fee = (description: string) =>
  Type.Integer({ minimum: 0, description: `${description} USDC atoms.` });

export const ReceiptNumber = Type.String({
  pattern: '^[2-9A-Z]{5}-[1-9][0-9]*$',
  description:
    'The number printed on the receipt: the prefix of the terminal’s series, and 1, 2, 3 … ' +
    'without gaps. Refunds have their own series, which begin with R. After a loss of data every ' +
    'series restarts with another prefix. `null` if there is none yet.',
  examples: ['K7XQM-1042'],
});

export const PaymentSchema = Type.Object(
  {
    id: idOf('pay_', 'payment'),
    ...commonFields('payment'),
    amount: { ...Amount, description: 'Sale and tip together: USDC atoms (6 decimals).' },
    currency: Currency,
    presentment: PaidPresentment,
    shop_rate: ShopRate,
    line_items: LineItems,
    ...discountFields,
    taxes: Taxes,
    tip: Type.Integer({
      minimum: 0,
      description: 'The part of the amount that is a tip; 0 without a tip.',
    }),
    amount_refunded: AtomsOut,
    status: oneOf(PAYMENT_STATUSES, 'The list may grow.'),
    customer_message: CustomerMessage,
    fees: Type.Object(
      {
        acquirer: fee('The fee of the acquirer.'),
        protocol: fee('The fee of the network, including the cashback.'),
        cashback: fee('The part of the protocol fee that the payer gets back.'),
      },
      { description: 'Paid by the payer on top of the amount.' },
    ),
    total_charged: Type.Integer({
      minimum: 1,
      description: 'The total that the payer paid: amount, acquirer fee and protocol fee.',
    }),
    net: Type.Integer({ minimum: 1, description: 'Credited to the merchant: the whole amount.' }),
    cashback_status: oneOf(
      ['none', 'pending', 'paid'] as const,
      'The status of the cashback in `fees`.',
    ),
    payer: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description: "The payer's address." }),
    order_id: OrderId,
    terminal: idOf('tml_', 'terminal'),
    location: SoldAt,
    payment_intent: idOf('pi_', 'payment intent'),
    payment_method: Type.Object(
      {
        type: oneOf(
          ['wallet_pass', 'wallet', 'agent_token', 'unknown'] as const,
          'The way it was paid. The list may grow.',
        ),
        credential: oneOf(
          [
            'nfc_id',
            'nfc_sun',
            'qr',
            'rotating_code',
            'smart_tap',
            'apple_vas',
            'authorization',
            'chip',
            'agent_token',
            'unknown',
          ] as const,
          'The kind of credential that was presented. The list may grow.',
        ),
      },
      { description: 'The means of payment that the customer used.' },
    ),
    split_group: SplitGroup,
    cashier: CashierAt,
    receipt_url: nullable(
      Type.String({
        format: 'uri',
        description:
          'A page for the customer, with the on-chain proof. Its address cannot be guessed.',
      }),
    ),
    receipt_number: nullable(ReceiptNumber),
    chain_id: Type.Integer({ minimum: 1, description: 'The id of the blockchain.' }),
    tx_hash: TxHash,
    block_number: Type.Integer({ minimum: 0, description: 'The block that settled the payment.' }),
    log_index: Type.Integer({
      minimum: 0,
      description: 'The log index of its event in the block.',
    }),
    settled_at: Timestamp,
    refundable_until: Timestamp,
    created: Timestamp,
    recovered: Recovered,
  },
  { title: 'Payment', description: 'A settled payment.' },
);

export const PaymentIntentList = listOf(PaymentIntentSchema);
export const IntentListForPeople = listOf(IntentForPeople);
export const PaymentList = listOf(PaymentSchema);

export const CreateIntentBody = Type.Object({
  ...priceFields,
  terminal: idOf('tml_', 'terminal'),
  order_id: Type.Optional(OrderId),
  description: Type.Optional(text(500, 'Up to 500 characters; shown on the terminal.')),
  metadata: Type.Optional(Metadata),
  tipping: Type.Optional(nullable(Tipping)),
  expires_in: Type.Optional(
    Type.Integer({
      minimum: 30,
      maximum: 600,
      default: 120,
      description: 'Seconds until an unpaid intent is canceled: 30 to 600, default 120.',
    }),
  ),
});
