import Type from 'typebox';
import { CashierAt, PaymentSchema, ReceiptNumber } from '#apis/merchant/payment-schema.ts';
import { commonFields, idOf, listOf, nullable, Timestamp, textOut } from '#http/schema.ts';

const Currency = Type.String({
  pattern: '^[a-z]{3,4}$',
  description:
    'The currency of the sums, in lowercase. Sums are in its minor units, or in atoms for `usdc`.',
  examples: ['eur'],
});

const Count = (description: string) => Type.Integer({ description });

const TaxSums = (description: string) =>
  Type.Array(
    Type.Object({
      rate: Type.Integer({ minimum: 0, description: 'The rate in basis points.' }),
      net: Type.Integer({ description: 'The price without the tax.' }),
      tax: Type.Integer({ description: 'The tax.' }),
      gross: Type.Integer({ description: 'Both.' }),
    }),
    { description },
  );

const Figures = Type.Array(
  Type.Object({
    currency: Currency,
    count: Count('The number of sales.'),
    sales: Type.Integer({ description: 'The sum of the sales without tips.' }),
    tips: Type.Integer({ description: 'The sum of their tips.' }),
    discounts: Type.Integer({ description: 'The sum of their discounts.' }),
    refunds: Count('The number of refunds.'),
    refunded: Type.Integer({ description: 'The sum of the refunds.' }),
    taxes: TaxSums('The taxes of the sales with lines, by rate. Refunds are not subtracted.'),
    refunded_taxes: TaxSums('The part of the taxes that the refunds returned.'),
    atoms: Type.Integer({
      description: 'What the sales brought in USDC atoms, with tips and before refunds.',
    }),
  }),
  { description: 'The sums, one element per currency.' },
);

const receipt = (which: string) =>
  nullable({ ...ReceiptNumber, description: `The number of the ${which} receipt.` });

const Method = PaymentSchema.properties.payment_method.properties;

export const ShiftReportSchema = Type.Object(
  {
    id: idOf('shf_', 'shift'),
    ...commonFields('shift'),
    series: Type.String({
      pattern: '^L[2-9A-Z]{4}$',
      description: 'The series that `number` counts in. After a loss of data a new one begins.',
      examples: ['LN8X6'],
    }),
    number: Type.Integer({
      minimum: 1,
      description: 'Counts the reports of the terminal from 1, without gaps, in each series.',
    }),
    after_loss: Type.Boolean({ description: 'True if the series began after a loss of data.' }),
    terminal: idOf('tml_', 'terminal'),
    location: nullable(idOf('loc_', 'location')),
    started_at: { ...Timestamp, description: 'When the shift began.' },
    ended_at: { ...Timestamp, description: 'When it ended.' },
    covers_from: {
      ...Timestamp,
      description:
        'The end of the terminal’s previous report, or else when the terminal was created. The ' +
        'report holds everything that was booked from there on.',
    },
    cashiers: Type.Array(
      Type.Object({
        cashier: CashierAt,
        name: nullable(textOut('The name of the person when the shift ended.')),
        figures: Figures,
      }),
      {
        description:
          'The sums by the person who was signed in at the till: sales by who made them, refunds ' +
          'by who refunded.',
      },
    ),
    figures: Figures,
    methods: Type.Array(
      Type.Object({
        type: { ...Method.type, description: 'The `payment_method.type` of the sales.' },
        credential: { ...Method.credential, description: 'Their `payment_method.credential`.' },
        currency: Currency,
        count: Count('The number of sales.'),
        gross: Type.Integer({ description: 'Their sum with tips.' }),
      }),
      { description: 'The sales by what the customers paid with.' },
    ),
    items: Type.Array(
      Type.Object({
        item: nullable({
          ...idOf('item_', 'catalog item'),
          description: 'The catalog item; `null` for a line without one.',
        }),
        name: textOut('The name of the line.'),
        category: nullable(textOut('The category of the item.')),
        currency: Currency,
        quantity: Type.String({
          pattern: '^[0-9]+(\\.[0-9]{1,3})?$',
          description: 'The quantity sold, as a decimal.',
          examples: ['2'],
        }),
        gross: Type.Integer({ description: 'What the lines brought, after discounts.' }),
      }),
      { description: 'The lines of the sales.' },
    ),
    offline: Count('The number of sales that the till accepted offline.'),
    declines: Count('The number of intents that were declined at least once.'),
    first_receipt: receipt('first sale’s'),
    last_receipt: receipt('last sale’s'),
    first_refund_receipt: receipt('first refund’s'),
    last_refund_receipt: receipt('last refund’s'),
    corrections: Type.Array(
      Type.Object({
        payment: Type.Optional(idOf('pay_', 'payment')),
        refund: Type.Optional(idOf('re_', 'refund')),
        of: { ...idOf('shf_', 'shift'), description: 'The shift whose report holds it.' },
        figures: Figures,
      }),
      {
        description:
          'Payments and refunds that a reorganization of the chain removed after they were ' +
          'booked, with figures below 0; or brought back, with figures above 0.',
      },
    ),
  },
  {
    title: 'ShiftReport',
    description:
      'The report of a shift that has ended: everything booked at its terminal since the ' +
      'previous report. It never changes, and cash is not counted.',
  },
);

export const ShiftReportList = listOf(ShiftReportSchema);

const EXAMPLE_FIGURES = {
  currency: 'eur',
  count: 2,
  sales: 1976,
  tips: 198,
  discounts: 0,
  refunds: 0,
  refunded: 0,
  taxes: [
    { rate: 700, net: 1136, tax: 80, gross: 1216 },
    { rate: 1900, net: 639, tax: 121, gross: 760 },
  ],
  refunded_taxes: [],
  atoms: 23592748,
};

export const SHIFT_REPORT_EXAMPLE = {
  id: 'shf_01QzYb4mVd7RkT2nWq5Lc8',
  object: 'shift',
  livemode: false,
  network: 'testnet',
  series: 'LK7XQ',
  number: 12,
  after_loss: false,
  terminal: 'tml_01QzXnyWbB0mJr6vGq2Lk9',
  location: null,
  started_at: '2026-10-01T08:00:00.000Z',
  ended_at: '2026-10-01T16:00:00.000Z',
  covers_from: '2026-09-30T16:00:00.000Z',
  cashiers: [{ cashier: 'usr_01QzX0aKpV9sJm3xRt6Bw2', name: 'Ada', figures: [EXAMPLE_FIGURES] }],
  figures: [EXAMPLE_FIGURES],
  methods: [{ type: 'wallet_pass', credential: 'nfc_id', currency: 'eur', count: 2, gross: 2174 }],
  items: [
    {
      ...{ item: null, name: 'Flat white', category: null, currency: 'eur' },
      ...{ quantity: '2', gross: 760 },
    },
  ],
  offline: 0,
  declines: 0,
  first_receipt: 'K7XQM-7',
  last_receipt: 'K7XQM-8',
  first_refund_receipt: null,
  last_refund_receipt: null,
  corrections: [],
};
