import Type from 'typebox';
import { type Refusal, refuse } from '#core/answer.ts';
import { nullable, text } from '#http/schema.ts';
import type { AskedLine, AskedLines } from '#prices/check-asked-lines.ts';

/** Upper bound of a price in minor units. The price's value in atoms has a limit of its own. */
export const MAX_MINOR_UNITS = 1_000_000_000_000_000;

/** More than any scale or counter measures. In thousandths, it is still an exact JSON number. */
const MAX_QUANTITY = 999_999_999_999;

/** A decimal number above 0 with up to three decimals, as text. */
const QUANTITY = '^(?![0.]+$)[0-9]{1,12}(\\.[0-9]{1,3})?$';

const Quantity = Type.Unsafe<number | string>({
  type: ['integer', 'string'],
  minimum: 1,
  maximum: MAX_QUANTITY,
  pattern: QUANTITY,
  description:
    'An integer above 0, or decimal text above 0 with up to 12 digits and three decimals: `2`, ' +
    '`"0.350"`.',
  examples: [2, '0.350'],
});

const MAX_LINES = 100;

const UNIT =
  'in minor units of the presentment currency, or in USDC atoms for a sale without `presentment`';

export const UnitAmount = Type.Integer({
  minimum: 0,
  maximum: MAX_MINOR_UNITS,
  description: `The unit price, ${UNIT}.`,
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

const LineDiscount = Type.Integer({
  minimum: 0,
  maximum: MAX_MINOR_UNITS,
  description: 'The discount on this line, at most its amount. Default 0.',
  default: 0,
});

const LineName = text(200, 'The name of the sold item, 1 to 200 characters.', 1);

const LineInput = Type.Object(
  {
    name: LineName,
    quantity: Quantity,
    unit_amount: UnitAmount,
    tax_rate: TaxRateInput,
    tax_inclusive: Type.Optional(TaxInclusiveInput),
    discount: Type.Optional(LineDiscount),
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
          'not include it, which is rounded half up once per rate.',
        examples: [[{ name: 'Flat white', quantity: 2, unit_amount: 125, tax_rate: 700 }]],
      }),
    ),
  ),
  discount: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_MINOR_UNITS,
      default: 0,
      description:
        `The discount on the whole sale, ${UNIT}. It is divided among the lines in proportion, ` +
        'rounded down; the last line gets the rest. Only with `line_items`. Default 0.',
    }),
  ),
};

const LineOut = Type.Object(
  {
    name: LineName,
    quantity: { ...Quantity, description: 'As it was sent: an integer, or decimal text.' },
    unit_amount: UnitAmount,
    tax_rate: TaxRateOut,
    tax_inclusive: TaxInclusive,
    discount: { ...LineDiscount, description: 'The discount on this line.' },
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

export const Discount = Type.Integer({
  minimum: 0,
  description: `The discount on the whole sale, ${UNIT}.`,
  examples: [0],
});

export function askedLines(body: {
  readonly line_items?: readonly AskedLine[] | null;
  readonly discount?: number;
}): AskedLines | null | Refusal {
  const { line_items: lineItems, discount = 0 } = body;
  if (lineItems != null) return { lineItems, discount };
  if (discount === 0) return null;
  const message = 'discount requires line_items. Send both, or omit discount.';
  return refuse('parameter_invalid', message, 'discount');
}
