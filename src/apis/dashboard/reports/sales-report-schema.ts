import Type from 'typebox';
import { GROUPINGS } from '#apis/dashboard/reports/sales-tally.ts';
import { commonFields, Day, idOf, nullable, oneOf, text } from '#http/schema.ts';

const Minor = (description: string) => Type.Integer({ description });

const figures = {
  currency: Type.String({
    pattern: '^[a-z]{3,4}$',
    description: 'An ISO 4217 currency code, in lowercase; `usdc` for sales in USDC.',
    examples: ['eur'],
  }),
  count: Type.Integer({ minimum: 0, description: 'The number of sales.' }),
  quantity: Type.String({
    description: 'The sum of the quantities of lines, as decimal text.',
    examples: ['12.5'],
  }),
  gross: Minor('Sales without tips.'),
  net: Minor('`gross` without tax; `gross` for sales without lines.'),
  tax: Minor('The tax of sales with lines.'),
  discount: Minor('The discounts of lines and of whole sales, which `gross` no longer contains.'),
  tip: Minor('Tips.'),
  refunded: Minor('Refunds, with returned tips.'),
  refunded_net: Minor('`refunded` without tax and without returned tips.'),
  refunded_tax: Minor('The returned tax.'),
};

const KEY = [Type.String(), Type.Integer(), Type.Null()];
const OneKey = Type.Union([...KEY, Type.Array(Type.Union(KEY), { minItems: 2, maxItems: 2 })], {
  description:
    'A day, an hour, a weekday (1 is Monday), a rate in basis points, `wallet_pass/nfc_id`, a ' +
    'category or an ID; `null` if none. With two groupings a list of two.',
  examples: ['2026-11-27'],
});
const Label = Type.Union(
  [
    Type.String(),
    Type.Null(),
    Type.Array(Type.Union([Type.String(), Type.Null()]), { minItems: 2, maxItems: 2 }),
  ],
  { description: 'The name of `key`, in English.', examples: ['2026-11-27'] },
);

const Rows = Type.Array(Type.Object({ key: OneKey, label: Label, ...figures }), {
  description: 'A row per key and currency, in minor units of the currency (atoms for `usdc`).',
});
const Totals = Type.Array(Type.Object(figures), {
  description: 'The sums of the rows by currency. `count` counts each sale once.',
});

const previous = nullable(
  Type.Object(
    { from: Day, to: Day, rows: Rows, totals: Totals },
    { description: 'As many days before, with `compare=previous`.' },
  ),
);

const reportFields = {
  ...commonFields('sales_report'),
  from: Day,
  to: Day,
  group_by: Type.Array(oneOf(GROUPINGS, 'A grouping.'), {
    description: 'One or two, in the order requested.',
  }),
  rows: Rows,
  totals: Totals,
  previous,
};

export const SalesReport = Type.Object(reportFields, {
  title: 'SalesReport',
  description: 'What was sold and refunded on these days, grouped.',
});

export const OrganizationSalesReport = Type.Object(
  { ...reportFields, organization: idOf('org_', 'organization') },
  {
    title: 'OrganizationSalesReport',
    description: 'What an organization sold and refunded on these days, grouped.',
  },
);

export const ReportQuery = Type.Object({
  from: { ...Day, description: 'The first day, YYYY-MM-DD. Each location counts its own days.' },
  to: { ...Day, description: 'The last day (inclusive): at most 400 days in all.' },
  group_by: text(40, `One or two, with a comma, of ${GROUPINGS.join(', ')}.`, 1),
  location: Type.Optional({ ...idOf('loc_', 'location'), description: 'Only this location.' }),
  terminal: Type.Optional({ ...idOf('tml_', 'terminal'), description: 'Only this terminal.' }),
  compare: Type.Optional(oneOf(['previous'] as const, 'Adds as many days before.')),
  format: Type.Optional(oneOf(['json', 'csv'] as const, 'Default json.')),
});
