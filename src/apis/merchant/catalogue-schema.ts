import Type from 'typebox';
import { BARCODE } from '#accounts/catalogue-file.ts';
import {
  ITEM_CATEGORY_LENGTH,
  MAX_MINOR_UNITS,
  TaxInclusive,
  TaxRateInput,
  TaxRateOut,
} from '#apis/merchant/line-schema.ts';
import { idOf, nullable, objectType, oneOf, text } from '#http/schema.ts';

/**
 * Highest position that a request can send. It is far above the number of items, so that clients
 * can leave gaps between positions. Making room for an item may move others beyond it.
 */
const MAX_POSITION = 1_000_000;

/** Maximum number of options of an item: they are buttons in one dialog. */
const MAX_OPTIONS = 10;

const itemFields = {
  name: text(200, 'The item’s name, as the till and receipts show it, 1 to 200 characters.', 1),
  unit_amount: Type.Integer({
    minimum: -MAX_MINOR_UNITS,
    maximum: MAX_MINOR_UNITS,
    description:
      'The unit price, in minor units of `currency`, or in USDC atoms if `currency` is `null`. ' +
      'Below 0 for a deposit that is given back.',
    examples: [350],
  }),
  category: nullable(
    text(
      ITEM_CATEGORY_LENGTH,
      'The category by which the till and reports group items, 1 to 60 characters; `null` if none.',
      1,
    ),
  ),
  barcode: nullable(
    Type.String({
      pattern: BARCODE.source,
      description:
        'The barcode: 1 to 60 printable ASCII characters without blanks, such as an EAN; `null` ' +
        'if none. No two items of a catalog have the same one.',
      examples: ['4006381333931'],
    }),
  ),
  options: Type.Array(
    Type.Object(
      {
        name: text(60, 'The name, which the till adds to the item’s, 1 to 60 characters.', 1),
        unit_amount: Type.Integer({
          minimum: -MAX_MINOR_UNITS,
          maximum: MAX_MINOR_UNITS,
          description: 'Added to the unit price of the item; it may be 0, or below.',
          examples: [50],
        }),
      },
      { additionalProperties: false, description: 'A choice.' },
    ),
    {
      maxItems: MAX_OPTIONS,
      description: 'Choices that change the item’s price and name, up to 10: “oat”, “large”.',
      examples: [[{ name: 'oat', unit_amount: 50 }]],
    },
  ),
  currency: nullable(
    Type.String({
      pattern: '^[a-z]{3}$',
      description: 'The currency of the price: an ISO 4217 code, in lowercase; `null` for USDC.',
      examples: ['eur'],
    }),
  ),
  color: nullable(
    Type.String({
      pattern: '^#[0-9a-fA-F]{6}$',
      description: 'The color of the till’s button, `#rrggbb`; `null` if not set.',
      examples: ['#a05a2c'],
    }),
  ),
};

const Position = Type.Integer({
  minimum: 0,
  description: 'The list is sorted by position, lowest first.',
  examples: [1],
});

export const CatalogueItemSchema = Type.Object(
  {
    id: idOf('item_', 'catalog item'),
    object: objectType('catalogue_item'),
    name: itemFields.name,
    unit_amount: itemFields.unit_amount,
    currency: itemFields.currency,
    tax_rate: TaxRateOut,
    tax_inclusive: TaxInclusive,
    color: itemFields.color,
    category: itemFields.category,
    barcode: itemFields.barcode,
    options: itemFields.options,
    position: Position,
    version: Type.Integer({
      minimum: 1,
      description: 'The version of the item. Send it with your next change.',
    }),
  },
  { title: 'CatalogueItem', description: 'An item of the till’s catalog.' },
);

export const CATALOGUE_ITEM_EXAMPLE = {
  id: 'item_01QzXo2UeX7uXS4rYo0Vp5',
  object: 'catalogue_item',
  name: 'Flat white',
  unit_amount: 350,
  currency: 'eur',
  tax_rate: 1900,
  tax_inclusive: true,
  color: '#a05a2c',
  category: 'Coffee',
  barcode: null,
  options: [{ name: 'oat', unit_amount: 50 }],
  position: 1,
  version: 1,
} as const;

/** All items of the account and mode, at most 2,000, without pages. */
export const CatalogueList = Type.Object(
  {
    object: objectType('list'),
    data: Type.Array(CatalogueItemSchema, { description: 'All items, by their position.' }),
  },
  { title: 'CatalogueItemList', description: 'The catalog of the account and mode.' },
);

const optional = {
  currency: Type.Optional(itemFields.currency),
  tax_rate: Type.Optional(TaxRateInput),
  tax_inclusive: Type.Optional(TaxInclusive),
  color: Type.Optional(itemFields.color),
  category: Type.Optional(itemFields.category),
  barcode: Type.Optional(itemFields.barcode),
  options: Type.Optional(itemFields.options),
  position: Type.Optional({ ...Position, maximum: MAX_POSITION }),
};

export const NewCatalogueItemBody = Type.Object({
  name: itemFields.name,
  unit_amount: itemFields.unit_amount,
  ...optional,
});

export const CatalogueItemEdit = {
  name: Type.Optional(itemFields.name),
  unit_amount: Type.Optional(itemFields.unit_amount),
  ...optional,
};

export const ImportSchema = Type.Object(
  {
    rows: Type.Array(
      Type.Object(
        {
          row: Type.Integer({
            minimum: 2,
            description: 'The number of the row as a spreadsheet shows it: the header is row 1.',
          }),
          action: oneOf(
            ['create', 'update', 'none'] as const,
            'What the import does with the row. `none` if the item is already so, or with `error`.',
          ),
          name: Type.String({ description: 'The name in the row.' }),
          error: nullable(
            Type.String({ description: 'The reason why the row is refused; `null` if it is not.' }),
          ),
        },
        { description: 'A row of the file.' },
      ),
      { description: 'The rows that are not empty, in the order of the file.' },
    ),
    applied: Type.Boolean({
      description: 'True if the file was imported: without `preview`, and without an error.',
    }),
  },
  { title: 'CatalogueImport', description: 'What the import does with each row.' },
);
