import Type from 'typebox';
import { type Refusal, refuse } from '#core/answer.ts';
import { idOf, nullable, text } from '#http/schema.ts';
import type { AskedDiscount, AskedLine, AskedLines } from '#prices/check-asked-lines.ts';

/** Upper bound of a price in minor units. The price's value in atoms has a limit of its own. */
export const MAX_MINOR_UNITS = 1_000_000_000_000_000;

/** More than any scale or counter measures. In thousandths, it is still an exact JSON number. */
const MAX_QUANTITY = 999_999_999_999;

/** A decimal number above 0 with up to three decimals, as text. */
const QUANTITY = '^(?![0.]+$)[0-9]{1,12}(\\.[0-9]{1,3})?$';

/** Schema of the quantity of a line. */
export const Quantity = Type.Unsafe<number | string>({
  type: ['integer', 'string'],
  minimum: 1,
  maximum: MAX_QUANTITY,
  pattern: QUANTITY,
  description:
    'An integer above 0, or decimal text above 0 with up to 12 digits and three decimals: `2`, ' +
    '`"0.350"`.',
  examples: [2, '0.350'],
});

export const MAX_LINES = 100;

/** Maximum length of the category of a catalog item. */
export const ITEM_CATEGORY_LENGTH = 60;

const UNIT =
  'in minor units of the presentment currency, or in USDC atoms for a sale without `presentment`';

export const UnitAmount = Type.Integer({
  minimum: -MAX_MINOR_UNITS,
  maximum: MAX_MINOR_UNITS,
  description:
    `The unit price, ${UNIT}. Below 0 for a deposit that is given back, or a voucher; the sum of ` +
    'the sale stays above 0.',
  examples: [250],
});

const MAX_TAX_RATE = 10_000;

export const TaxRateOut = Type.Integer({
  minimum: 0,
  maximum: MAX_TAX_RATE,
  description: 'The tax rate in basis points: 700 is 7 %.',
  examples: [700],
});

export const MAX_TAX_NAME = 100;

export const TaxRateInput = Type.Unsafe<number | string>({
  type: ['integer', 'string'],
  minimum: 0,
  maximum: MAX_TAX_RATE,
  minLength: 1,
  maxLength: MAX_TAX_NAME,
  description:
    'The tax rate in basis points, 0 to 10000, or the name of one of the `tax_rates` of the ' +
    'terminal’s location, or of the account if the location has none. Responses have basis points.',
  examples: [700, 'Food'],
});

const INCLUSIVE = 'Whether `unit_amount` includes the tax. If not, the tax is added to the price.';

export const TaxInclusive = Type.Boolean({ description: INCLUSIVE });

export const TaxInclusiveInput = Type.Boolean({
  description: `${INCLUSIVE} Default: the account’s \`prices_include_tax\`.`,
});

/** Schema of a discount rate. */
export const DiscountRate = Type.Integer({
  minimum: 1,
  maximum: MAX_TAX_RATE,
  description: 'Basis points, 1 to 10000: 1000 is 10 %.',
  examples: [1000],
});

/** Schema of the name under which receipts show a discount. */
export const DiscountName = text(60, 'The name of the discount, 1 to 60 characters.', 1);

/** Schema of the discounts that an account's tills offer. */
export const Discounts = Type.Array(
  Type.Object(
    {
      name: DiscountName,
      rate: Type.Optional(DiscountRate),
      amount: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MAX_MINOR_UNITS,
          description: 'A sum instead of `rate`: minor units of the shop’s currency, or atoms.',
        }),
      ),
    },
    { additionalProperties: false, description: 'A discount: a rate, or a sum.' },
  ),
  { maxItems: 20, description: 'Up to 20 discounts that tills offer.' },
);

/** Schema of a discount in a request: a sum, or a rate. */
const discountInput = (description: string) =>
  Type.Unsafe<AskedDiscount>({
    type: ['integer', 'object'],
    minimum: 0,
    maximum: MAX_MINOR_UNITS,
    properties: { rate: DiscountRate },
    required: ['rate'],
    additionalProperties: false,
    description,
    default: 0,
    examples: [50, { rate: 1000 }],
  });

const LineDiscountInput = discountInput(
  'The discount on this line: a sum, at most the amount of the line, or `{"rate"}` of that ' +
    'amount, rounded half up. 0 for a line below 0. Default 0.',
);

const LineName = text(200, 'The name of the sold item, 1 to 200 characters.', 1);

const LineInput = Type.Object(
  {
    name: LineName,
    quantity: Quantity,
    unit_amount: UnitAmount,
    tax_rate: TaxRateInput,
    tax_inclusive: Type.Optional(TaxInclusiveInput),
    discount: Type.Optional(LineDiscountInput),
    discount_name: Type.Optional(nullable(DiscountName)),
    item: Type.Optional(
      nullable({
        ...text(255, ''),
        description:
          'The catalog item that was sold. It may have been deleted since. The line keeps the ' +
          'item’s `category` of this moment.',
        examples: ['item_01QzXo2UeX7uXS4rYo0Vp5'],
      }),
    ),
  },
  { additionalProperties: false, description: 'A line of the sale.' },
);

export const lineFields = {
  line_items: Type.Optional(
    nullable(
      Type.Array(LineInput, {
        minItems: 1,
        maxItems: MAX_LINES,
        description:
          'The lines of the sale, 1 to 100. Their sum must be the price: quantity × unit price ' +
          'per line, rounded half up, less the discounts, plus the tax of lines whose price does ' +
          'not include it, which is rounded half up once per rate. Before discounts and without ' +
          'their signs, they add up to at most 1000000000000000.',
        examples: [[{ name: 'Flat white', quantity: 2, unit_amount: 125, tax_rate: 700 }]],
      }),
    ),
  ),
  discount: Type.Optional(
    discountInput(
      `The discount on the whole sale, ${UNIT}, or \`{"rate"}\` of the lines above 0 after their ` +
        'own discounts, before tax on top, rounded half up. It is divided among these lines in ' +
        'proportion, rounded down; the last of them gets the rest. Only with `line_items`. ' +
        'Default 0.',
    ),
  ),
  discount_name: Type.Optional(nullable(DiscountName)),
};

const DiscountRateOut = nullable({
  ...DiscountRate,
  description: 'The basis points of the discount; `null` if it is a sum.',
});
const DiscountNameOut = nullable(DiscountName);

const LineOut = Type.Object(
  {
    name: LineName,
    quantity: { ...Quantity, description: 'As it was sent: an integer, or decimal text.' },
    unit_amount: UnitAmount,
    tax_rate: TaxRateOut,
    tax_inclusive: TaxInclusive,
    discount: Type.Integer({
      minimum: 0,
      maximum: MAX_MINOR_UNITS,
      description: 'The discount on this line, as a sum.',
    }),
    discount_rate: DiscountRateOut,
    discount_name: DiscountNameOut,
    item: nullable(idOf('item_', 'catalog item')),
    category: nullable(text(ITEM_CATEGORY_LENGTH, 'The category of the item when it was sold.', 1)),
  },
  { description: 'A line of the sale.' },
);

export const LineItems = nullable(
  Type.Array(LineOut, {
    description:
      'The lines of the sale, as the request sent them. `null` if it sent none, and for a ' +
      'payment that was rebuilt after a loss of data.',
  }),
);

/** The fields of responses that contain the discount on the whole sale. */
export const discountFields = {
  discount: Type.Integer({
    minimum: 0,
    description: `The discount on the whole sale, ${UNIT}.`,
    examples: [0],
  }),
  discount_rate: DiscountRateOut,
  discount_name: DiscountNameOut,
};

const TaxAmount = (description: string) => Type.Integer({ description });

/** Schema of the taxes of a sale or refund. */
export const Taxes = nullable(
  Type.Array(
    Type.Object(
      {
        rate: TaxRateOut,
        net: TaxAmount('The amount without tax.'),
        tax: TaxAmount('The tax.'),
        gross: TaxAmount('Net and tax.'),
      },
      { description: 'All lines with one rate.' },
    ),
    {
      description:
        `A row for each tax rate, lowest first, ${UNIT}. Tips have no tax and are in no row. ` +
        '`null` for a sale without lines.',
    },
  ),
);

export function askedLines(body: {
  readonly line_items?: readonly AskedLine[] | null;
  readonly discount?: AskedDiscount;
  readonly discount_name?: string | null;
}): AskedLines | null | Refusal {
  const { line_items: lineItems, discount = 0, discount_name: discountName = null } = body;
  if (lineItems != null) return { lineItems, discount, discountName };
  const param = discount === 0 ? 'discount_name' : 'discount';
  if (discount === 0 && discountName === null) return null;
  const message = `${param} requires line_items. Send both, or omit ${param}.`;
  return refuse('parameter_invalid', message, param);
}
