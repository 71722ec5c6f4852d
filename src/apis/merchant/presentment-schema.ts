import Type from 'typebox';
import { askedLines, lineFields, MAX_MINOR_UNITS } from '#apis/merchant/line-schema.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { Amount, nullable, Timestamp } from '#http/schema.ts';
import type { NewIntent } from '#payments/price-new-intent.ts';
import type { AskedPresentment } from '#prices/quote-price.ts';

export const PresentmentCurrency = Type.String({
  pattern: '^[a-z]{3}$',
  description: 'An ISO 4217 currency code, in lowercase.',
  examples: ['eur'],
});

const PresentmentInput = Type.Object(
  {
    currency: PresentmentCurrency,
    amount: Type.Integer({
      minimum: 1,
      maximum: MAX_MINOR_UNITS,
      description:
        'Minor units of the currency by ISO 4217: cents of EUR, whole JPY, thousandths of KWD. ' +
        'It must be worth 1 to 1000000000000 USDC atoms.',
    }),
  },
  {
    additionalProperties: false,
    description:
      'The price in the shop’s currency, instead of `amount`. The response’s `amount` is its ' +
      'value: rate × amount, rounded down.',
    examples: [{ currency: 'eur', amount: 250 }],
  },
);

/**
 * Fields for a sale's lines and its price. A request must have exactly one of `amount` and
 * `presentment`.
 */
export const priceFields = {
  amount: Type.Optional({
    ...Amount,
    description: 'USDC atoms (6 decimals), 1 to 1000000000000. Required without `presentment`.',
  }),
  presentment: Type.Optional(nullable(PresentmentInput)),
  ...lineFields,
};

export const RateText = Type.String({
  pattern: '^[0-9]+(\\.[0-9]+)?$',
  description: 'USDC for one unit of the currency, as decimal text. It never changes.',
  examples: ['1.08542277217'],
});

/** Schema of the rate at which books count a payment, refund or withdrawal. */
export const ShopRate = nullable({
  ...RateText,
  description:
    'USDC for one unit of the shop’s currency when it was booked, as decimal text. `null` until ' +
    'then, for a shop without a currency, and after a loss of data.',
});

const quoteFields = {
  currency: PresentmentCurrency,
  amount: Type.Integer({
    minimum: 0,
    description: 'Minor units of the currency: cents of EUR, whole JPY, thousandths of KWD.',
  }),
  rate: RateText,
  quoted_at: {
    ...Timestamp,
    description: 'The time of the rate: the older of its two sources’ times.',
  },
  source: Type.String({
    maxLength: 500,
    description: 'The source of the rate. In a sandbox it says that the rate is made up.',
    examples: ['rates.example.com, rates.example.org'],
  }),
  margin: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'Only of a sale that a till accepted offline: by how many basis points its rate is above ' +
        'the market’s.',
    }),
  ),
  expires_at: { ...Timestamp, description: 'The quote ends when the payment intent expires.' },
};

const WHAT = 'The sum in the shop’s currency, and the rate that was locked for it';

const TotalFields = {
  total: Type.Integer({
    minimum: 0,
    description:
      'What the customer pays, in minor units: the larger of price + tip and the USDC that leave ' +
      'the wallet (`total_charged` − `fees.cashback`) ÷ `rate`, half a unit rounded up.',
  }),
  fees: Type.Integer({
    minimum: 0,
    description: 'The service fee, in minor units: `total` − `amount` − the tip.',
  }),
};

/** What a pass would pay now; null while the process does not know the fees. */
const ExpectedFields = {
  total: nullable(TotalFields.total),
  fees: nullable(TotalFields.fees),
};

const TipField = Type.Integer({
  minimum: 0,
  description: 'The tip by the same rate, in minor units on top of `amount`, or 0.',
});

/**
 * Schema of the part of a price in the shop's currency that a refund returns. It has no name,
 * because in each of the many responses that contain it, a named schema would become a union with
 * null.
 */
export const Presentment = nullable(
  Type.Object(quoteFields, { description: `${WHAT}. \`null\` if the price was given in USDC.` }),
);

/** Schema of an intent's price in the shop's currency. */
export const IntentPresentment = nullable(
  Type.Object(
    { ...quoteFields, ...ExpectedFields, tip_amount: Type.Optional(TipField) },
    {
      description:
        `${WHAT}. \`total\` and \`fees\` are what a pass would pay now, and \`null\` while the ` +
        'service does not know the fees. Once the intent is paid, this is the payment’s object. ' +
        '`null` for a sale in USDC.',
    },
  ),
);

/** Schema of the price with a tip, before and after the payment: see {@link ExpectedFields}. */
export const TippedPresentment = nullable(
  Type.Object(
    { ...quoteFields, ...ExpectedFields, tip_amount: TipField },
    { description: `${WHAT}, with the tip. \`null\` for a sale in USDC.` },
  ),
);

export const PaidPresentment = nullable(
  Type.Object(
    {
      ...quoteFields,
      ...TotalFields,
      tip_amount: TipField,
    },
    { description: `${WHAT}, with the tip. \`null\` for a sale in USDC.` },
  ),
);

/** Errors of creating an intent, besides errors in its parameters. */
export const CREATE_ERRORS = [
  'kyb_required',
  'account_not_live',
  'order_id_in_use',
  'terminal_inactive',
  'rates_unavailable',
] as const;

export function askedSale(
  body: Parameters<typeof askedPrice>[0] & Parameters<typeof askedLines>[0],
): Pick<NewIntent, 'amount' | 'lines'> | Refusal {
  const amount = askedPrice(body);
  if (isRefusal(amount)) return amount;
  const lines = askedLines(body);
  return isRefusal(lines) ? lines : { amount, lines };
}

function askedPrice(body: {
  readonly amount?: number;
  readonly presentment?: AskedPresentment | null;
}): number | AskedPresentment | Refusal {
  const { amount, presentment } = body;
  if (amount === undefined) {
    if (presentment != null) return presentment;
    if (presentment === undefined) {
      const message = 'amount is missing. Send it in USDC atoms, or send presentment instead.';
      return refuse('parameter_missing', message, 'amount');
    }
    const message = 'presentment may be null only if amount is sent.';
    return refuse('parameter_invalid', message, 'presentment');
  }
  if (presentment == null) return amount;
  const message = 'Send amount or presentment, not both.';
  return refuse('parameter_invalid', message, 'presentment');
}
