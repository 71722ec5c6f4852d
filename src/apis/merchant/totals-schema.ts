import Type from 'typebox';
import { OfflineFiguresSchema } from '#apis/merchant/offline-schema.ts';
import { PersonAtTill } from '#apis/merchant/payment-schema.ts';
import { AtomsOut, commonFields, Day, nullable, oneOf, Timestamp } from '#http/schema.ts';

const Count = (description: string) => Type.Integer({ minimum: 0, description });

export const figures = {
  payments: Count('The number of payments.'),
  sales: {
    ...AtomsOut,
    description: 'The sum of their amounts without tips: USDC atoms (6 decimals).',
  },
  tips: { ...AtomsOut, description: 'The sum of their tips: USDC atoms (6 decimals).' },
  refunds: Count('Refunds that succeeded, by the terminal that took the payment.'),
  refunded: { ...AtomsOut, description: 'The sum of their amounts: USDC atoms (6 decimals).' },
  declines: Count('Intents of these days that were declined at least once.'),
};

/** Minor units of one currency. */
const Minor = (description: string) =>
  Type.Integer({ minimum: 0, description: `${description}: minor units of the currency.` });

export const figuresOut = {
  ...figures,
  presentment: Type.Array(
    Type.Object({
      currency: Type.String({
        pattern: '^[a-z]{3}$',
        description: 'An ISO 4217 currency code, in lowercase.',
        examples: ['eur'],
      }),
      sales: Minor('Sales without tips'),
      tips: Minor('Their tips'),
      refunded: Minor('Refunded amounts'),
    }),
    {
      description:
        'The same sums for sales that were priced in a currency, one entry per currency.',
    },
  ),
};

const InCurrency = nullable(
  Type.String({ description: 'The currency of the sales; `null` for USDC.' }),
);

const TaxSums = (description: string) =>
  Type.Array(
    Type.Object({
      currency: InCurrency,
      rate: Type.Integer({ minimum: 0, description: 'The rate in basis points.' }),
      net: Type.Integer({ description: 'The price without it, in the unit of the sale.' }),
      tax: Type.Integer({ description: 'The tax.' }),
      gross: Type.Integer({ description: 'Both.' }),
    }),
    { description },
  );

const discounts = Type.Array(
  Type.Object({
    currency: InCurrency,
    amount: Type.Integer({ minimum: 0, description: 'Minor units, or atoms.' }),
  }),
  { description: 'The discounts of lines and of whole sales.' },
);

const payouts = Type.Object(
  {
    count: Count('The number of payouts.'),
    amount: { ...AtomsOut, description: 'Their sum: USDC atoms.' },
  },
  { description: 'What the account has paid out to its settlement wallet in this time.' },
);

const terminalFields = {
  terminal: nullable(Type.String({ description: '`null` for payments without a terminal.' })),
  label: nullable(Type.String({ description: 'The name of the terminal.' })),
};

export const TotalsSchema = Type.Object(
  {
    ...commonFields('totals'),
    from: Day,
    to: Day,
    created_gte: nullable({
      ...Timestamp,
      description: 'When the shift began, if a shift was requested.',
    }),
    created_lt: nullable({
      ...Timestamp,
      description: 'When the shift ended, if a shift was requested.',
    }),
    time_zone: Type.String({
      description:
        "The time zone that defines the days: the account's, or that of the requesting " +
        "terminal's location.",
    }),
    total: Type.Object(figuresOut, { description: 'The sum of the terminals below.' }),
    terminals: Type.Array(Type.Object({ ...terminalFields, ...figuresOut }), {
      description: 'Terminals with any activity in these days.',
    }),
    cashiers: Type.Array(
      Type.Object({
        ...terminalFields,
        cashier: nullable(
          Type.String({
            description: 'The name of the person; `null` if no cashier was named.',
          }),
        ),
        cashier_id: nullable({
          ...PersonAtTill,
          description: 'The person signed in at the till; `null` if none.',
        }),
        ...figuresOut,
      }),
      {
        description:
          'The same by terminal and cashier: who was signed in at the till (`cashier_id`). ' +
          'Without a shift, intents and refunds name the cashier as `cashier` in `metadata`: ' +
          'terminals write it, and your server may.',
      },
    ),
    taxes: TaxSums(
      'The taxes of the sales with lines, by rate: minor units of their currency, or atoms. ' +
        'Refunds are not subtracted: see `refunded_taxes`.',
    ),
    refunded_taxes: TaxSums('The part of the taxes of sales with lines that refunds returned.'),
    discounts,
    payouts,
    offline: OfflineFiguresSchema,
  },
  { title: 'Totals', description: 'Sales, tips, refunds and declines by terminal and cashier.' },
);

export const TotalsQuery = Type.Object({
  from: Type.Optional({ ...Day, description: 'The first day, YYYY-MM-DD. Default today.' }),
  to: Type.Optional({ ...Day, description: 'The last day (inclusive). Default `from`.' }),
  created_gte: Type.Optional(
    Type.String({ format: 'date-time', description: 'When a shift began. Instead of `from`.' }),
  ),
  created_lt: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'When the shift ended. Only with `created_gte`; default: it has not ended.',
    }),
  ),
  format: Type.Optional(oneOf(['json', 'csv'] as const, 'Default json.')),
});
