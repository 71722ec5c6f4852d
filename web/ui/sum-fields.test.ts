import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';

/** Every amount field, by the file that renders it. Add new ones here. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  'dashboard/account/discount-settings.tsx': ['Sum'],
  'dashboard/pages/risk-rules.tsx': ['Ask new customers from', 'Ask every customer from'],
  'dashboard/pages/settings.tsx': ['Daily refund limit', 'Refund limit at tills'],
  'dashboard/terminals/catalog-dialog.tsx': ['Price'],
  'dashboard/account/offline-limits.tsx': ['Per payment', 'Per card and day', 'Total'],
  'dashboard/payments/refund-dialog.tsx': ['Amount'],
  'dashboard/team/staff-dialogs.tsx': ['Refund limit'],
  'dashboard/terminals/item-options.tsx': ['Extra price of option {number, number}'],
  'dashboard/terminals/refund-limit.tsx': ['Refund limit'],
  'dashboard/terminals/till-access-dialog.tsx': ['Refund limit'],
  'dashboard/payouts/withdraw-dialog.tsx': ['Amount'],
  'operator/parts/offline-rule.tsx': ['Highest sum of a sale'],
  'operator/parts/policy-form.tsx': ['Limit per payment', 'Limit per period'],
  'terminal/screens/cart-dialogs.tsx': ['Discount', 'Amount'],
  'terminal/screens/find-sale.tsx': ['Amount'],
  'terminal/screens/keypad.tsx': ['Amount'],
  'terminal/screens/refund.tsx': ['Amount'],
  // Used on the till, the customer display, the pay page and the tag page.
  'ui/tip-choice.tsx': ['Custom tip'],
  'wallet/screens/agents.tsx': ['Amount'],
  'wallet/screens/allow-sheet.tsx': ['Maximum per payment', 'Maximum per day', 'Total maximum'],
  'wallet/screens/cards.tsx': ['Maximum per payment'],
  'wallet/screens/chips.tsx': ['Maximum per payment'],
  'wallet/screens/limits.tsx': ['Each payment', 'Each day'],
  'wallet/screens/send.tsx': ['Amount'],
};
/** Every percentage that is typed in a shop, by the file that renders its field. */
const PERCENTAGES: Readonly<Record<string, readonly string[]>> = {
  'dashboard/terminals/item-tax-fields.tsx': ['Percentage'],
  'dashboard/account/discount-settings.tsx': ['Percentage'],
  'dashboard/account/offline-limits.tsx': ['Margin'],
  'dashboard/account/tax-rate-settings.tsx': ['Rate'],
};
/** Files that render several fields with one element. */
const DRAWN_IN_A_LOOP: ReadonlySet<string> = new Set([
  'operator/parts/policy-form.tsx',
  'wallet/screens/allow-sheet.tsx',
]);
/** Fields that accept amounts among other things and parse them with `classify-search-text.ts`. */
const SEARCHES: Readonly<Record<string, string>> = {
  'dashboard/pages/payments.tsx': 'Search',
  // Loads `search-by-id.ts` with the first search, which parses the text.
  'dashboard/payments/search-box.tsx': 'Go to',
};
/**
 * Forms whose button shows no amount and that have no review step, so the field shows how the
 * amount was understood.
 */
const SILENT: ReadonlySet<string> = new Set([
  // The fields of risk rules, settings, people and terminals.
  'dashboard/account/limit-field.tsx',
  'dashboard/account/discount-settings.tsx',
  'dashboard/terminals/catalog-dialog.tsx',
  'dashboard/terminals/item-options.tsx',
  'dashboard/account/offline-limits.tsx',
  'operator/parts/offline-rule.tsx',
  'operator/parts/policy-form.tsx',
  'terminal/screens/cart-dialogs.tsx',
  'terminal/screens/find-sale.tsx',
  'wallet/screens/agents.tsx',
  'wallet/screens/cards.tsx',
  'wallet/screens/chips.tsx',
  'wallet/screens/limits.tsx',
]);
/** Decimals that are not money: percentages, and gas prices in gwei. */
const NO_MONEY: ReadonlySet<string> = new Set([
  'operator/parts/propose-contract-change.tsx',
  'operator/parts/policy-form.tsx',
  // The quantity of an item.
  'terminal/screens/cart-dialogs.tsx',
  'wallet/screens/revoke-by-own-transaction.tsx',
]);
/** Fields whose label mentions money but that accept something else. */
const NO_SUMS: ReadonlySet<string> = new Set([
  'Maximum payments per customer per hour',
  'Highest gas price, in gwei',
]);
const NAMES_MONEY = /amount|\bsum\b|\btip\b|limit|at most|price|each (payment|day)|balance/i;

/** The components that render the fields. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['ui/sum-field.tsx', 'ui/percent-field.tsx']);

const WEB = path.join(import.meta.dirname, '..');

const ENGLISH = JSON.parse(readFileSync(path.join(WEB, '../texts/en.json'), 'utf8')) as Readonly<
  Record<string, string>
>;

/** Replaces text keys in a source by their English texts. */
function inEnglish(text: string): string {
  return (
    text
      .replaceAll(/=\{t\('([\w.]+)'(?:, \{[^{}]*\})?\)\}/g, (_all, key) => `="${ENGLISH[key]}"`)
      .replaceAll(/\bt\('([\w.]+)'\)/g, (_all, key) => `'${ENGLISH[key]}'`)
      // Also replaces keys in tables, for example one label per field.
      .replaceAll(/, '([a-z]+(?:\.\w+)+)'\]/g, (all, key) =>
        ENGLISH[key] === undefined ? all : `, '${ENGLISH[key]}']`,
      )
  );
}

async function drawings(): Promise<ReadonlyMap<string, string>> {
  const results = new Map<string, string>();
  for await (const name of glob('**/*.tsx', { cwd: WEB })) {
    if (name.startsWith('ui/stories') || OWN_FIELDS.has(name)) continue;
    results.set(name, inEnglish(readFileSync(path.join(WEB, name), 'utf8')));
  }
  return results;
}

const files = await drawings();

function filesWith(part: RegExp | string): string[] {
  const has = (text: string) => (typeof part === 'string' ? text.includes(part) : part.test(text));
  return [...files].flatMap(([name, text]) => (has(text) ? [name] : [])).sort();
}

test('every amount field is listed, and every listed field is rendered', () => {
  assert.ok(files.size > 150, `only ${files.size} files were seen`);
  assert.deepEqual(filesWith('<SumField'), Object.keys(FIELDS).sort());
  for (const [name, labels] of Object.entries(FIELDS)) {
    const text = files.get(name) ?? '';
    const drawn = text.split('<SumField').length - 1;
    assert.equal(drawn, DRAWN_IN_A_LOOP.has(name) ? 1 : labels.length, name);
    for (const label of labels) assert.match(text, new RegExp(`['"]${label}['"]`), name);
  }
});

test('every percentage field is listed, and every listed field is rendered', () => {
  assert.deepEqual(filesWith('<PercentField'), Object.keys(PERCENTAGES).sort());
  for (const [name, labels] of Object.entries(PERCENTAGES)) {
    const text = files.get(name) ?? '';
    assert.equal(text.split('<PercentField').length - 1, labels.length, name);
    for (const label of labels) assert.match(text, new RegExp(`['"]${label}['"]`), name);
  }
});

test('a field that also accepts amounts parses them by the same rules', () => {
  const lookUp = readFileSync(path.join(WEB, 'dashboard/payments/search-by-id.ts'), 'utf8');
  assert.match(lookUp, /searchProblem\(q\)/);
  const searching = filesWith(/(search-text|search-by-id)\.ts/);
  assert.deepEqual(searching, Object.keys(SEARCHES).sort());
  for (const [name, label] of Object.entries(SEARCHES)) {
    const text = files.get(name) ?? '';
    assert.match(text, new RegExp(`label="${label}"`), name);
    assert.match(text, /searchProblem|search-by-id\.ts/, name);
  }
});

test('a form whose button does not show the amount shows how it was understood', () => {
  for (const name of SILENT) assert.match(files.get(name) ?? '', /\bshows(: true)?\b/, name);
});

test('no other field accepts an amount', () => {
  assert.deepEqual(filesWith('inputMode="decimal"'), [...NO_MONEY].sort());
  const others = [...files].flatMap(([name, text]) =>
    [...text.matchAll(/<(?:TextField|input)\b[^>]*?label="([^"]+)"/g)].flatMap(([, label = '']) =>
      NAMES_MONEY.test(label) && !NO_SUMS.has(label) ? [`${name}: ${label}`] : [],
    ),
  );
  assert.deepEqual(others, []);
});
